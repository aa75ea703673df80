"""The synchronisation of KCL 1.0–1.13 and 2.0–2.2: the library's own vectors, through the reference
consumer and through the core.

Sources: KCL 1.13.3 ShardSyncerTest (testDetermineNewLeasesToCreate…, testIsCandidateForCleanup…,
testCleanupLeaseForClosedShard, testAssertShardCoveredOrAbsent…), repeated in 2.2.11
HierarchicalShardSyncerTest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reshardctl.consumers.kcl.releases import Start
from reshardctl.consumers.kcl.rows import parse
from reshardctl.consumers.kcl.sync import made_at_once, swept
from reshardctl.model import ShardId
from tests.proof.reference.kcl_full_sync import (
    finished,
    is_garbage,
    new_leases,
    refuse_open_parents,
)
from tests.proof.reference.kcl_lease import Lease, lease_of
from tests.proof.reference.kcl_stream import HASH_END, Shard, shard_of
from tests.proof.reference.kcl_sync import SyncRefusedError
from tests.support.case_sync import SyncCase, SyncExpect, all_syncs
from tests.support.judging import images_of, lineage_of


def _vectors() -> Iterator[Any]:
    for case in all_syncs("kcl-full"):
        for i, expect in enumerate(case.expects):
            yield pytest.param(case, expect, id=f"{case.name}-{expect.initial}-{i}")


@pytest.mark.parametrize(("case", "expect"), list(_vectors()))
def test_reference_and_core_create_what_the_library_s_own_tests_say(
    case: SyncCase, expect: SyncExpect
) -> None:
    initial = expect.initial.partition(":")[0]
    shards = [shard_of(entry) for entry in case.shards]
    assert new_leases(shards, expect.leases, initial) == expect.creates
    lineage = lineage_of(case.shards, case.stream["created"])
    made = made_at_once(lineage, {ShardId(key) for key in expect.leases}, Start(initial))
    positions = {s: initial if m.initially else "TRIM_HORIZON" for s, m in made.items()}
    assert positions == expect.creates


PARENT, ADJACENT, CHILD = (f"shardId-{i:012d}" for i in range(3))


@pytest.mark.parametrize(
    ("listed", "garbage"),
    [({CHILD}, False), (set(), True), ({PARENT, ADJACENT, CHILD}, False)],
)
def test_a_lease_is_garbage_once_neither_it_nor_its_parents_are_listed(
    listed: set[str], garbage: bool
) -> None:
    """testIsCandidateForCleanup."""
    assert is_garbage(_lease(CHILD, "1", {PARENT, ADJACENT}), listed) is garbage


@pytest.mark.parametrize("parent", [PARENT, ADJACENT])
def test_a_lease_without_shard_below_a_listed_parent_is_refused(parent: str) -> None:
    """testIsCandidateForCleanupParentExists, …AdjacentParentExists."""
    with pytest.raises(SyncRefusedError):
        is_garbage(_lease(CHILD, "1", {PARENT, ADJACENT}), {parent})


@pytest.mark.parametrize(("parents", "gone"), [([], True), ([5], True), ([0], False)])
def test_the_core_sweeps_the_same_leases(parents: list[int], gone: bool) -> None:
    """testBootstrapShardLeasesCleanupGarbage and the two above; 0 is listed, 5 and 7 are not."""
    lineage = lineage_of([_listed(0, 0, HASH_END)], 1_795_219_200)
    item: dict[str, dict[str, Any]] = {
        "leaseKey": {"S": "shardId-000000000007"}, "checkpoint": {"S": "999"},
        "leaseCounter": {"N": "1"}, "ownerSwitchesSinceCheckpoint": {"N": "0"},
    }
    if parents:
        item["parentShardId"] = {"SS": [f"shardId-{p:012d}" for p in parents]}
    (row,) = parse(images_of([item])).rows.values()
    assert swept(lineage, row) is gone


@pytest.mark.parametrize(
    ("closed", "children", "deleted"),
    [
        ("1234", [], False),
        ("SHARD_END", ["TRIM_HORIZON"], False),
        ("SHARD_END", ["TRIM_HORIZON", "TRIM_HORIZON"], False),
        ("SHARD_END", ["34890", "TRIM_HORIZON"], False),
        ("SHARD_END", ["34890", "43789"], True),
        # From the code alone: whatever is not TRIM_HORIZON counts as begun.
        ("SHARD_END", ["LATEST", "AT_TIMESTAMP"], True),
    ],
)
def test_a_finished_lease_goes_when_all_its_children_have_begun(
    closed: str, children: list[str], deleted: bool
) -> None:
    """testCleanupLeaseForClosedShard: shard 2 with children 5 and 7."""
    parent, low, high = (f"shardId-{i:012d}" for i in (2, 5, 7))
    shards = _split(parent, low, high)
    leases = [_lease(parent, closed, set())]
    leases += [_lease(k, at, {parent}) for k, at in zip((low, high), children, strict=False)]
    gone = finished(leases, [], shards, {parent: [low, high]})
    assert gone == ([parent] if deleted else [])


@pytest.mark.parametrize("fault", ["open", "childless", "lower part", "upper part"])
def test_a_finished_lease_of_a_shard_that_is_not_covered_is_refused(fault: str) -> None:
    """testAssertShardCoveredOrAbsentTestOpen, …NoChildren, …IncompleteSplitMin, …Max."""
    parent, low, high = (f"shardId-{i:012d}" for i in range(3))
    shards = _split(parent, low, high, open_=fault == "open")
    children = {"childless": [], "lower part": [high], "upper part": [low]}.get(fault, [low, high])
    with pytest.raises(SyncRefusedError):
        finished([_lease(parent, "SHARD_END", set())], [], shards, {parent: children})


def test_a_finished_lease_of_an_absent_shard_is_not() -> None:
    """testAssertShardCoveredOrAbsentTestAbsentAndValid."""
    assert finished([_lease(PARENT, "SHARD_END", set())], [], {}, {}) == []


def test_children_of_an_open_shard_are_refused() -> None:
    """testCheckAndCreateLeasesForNewShardsWhenParentIsOpen."""
    shards = _split(PARENT, ADJACENT, CHILD, open_=True)
    with pytest.raises(SyncRefusedError):
        refuse_open_parents(shards, {PARENT: [ADJACENT, CHILD]})


def test_1_3_reads_no_sub_sequence_number() -> None:
    """KinesisClientLeaseSerializer of 1.3.0 against 1.4.0's."""
    item = {
        "leaseKey": {"S": PARENT}, "checkpoint": {"S": "SHARD_END"}, "leaseCounter": {"N": "1"},
        "checkpointSubSequenceNumber": {"N": "3"}, "ownerSwitchesSinceCheckpoint": {"N": "0"},
    }
    read = {release: lease_of(item, release) for release in ("1.3.0", "1.13.3")}
    assert [lease.ended for lease in read.values() if lease] == [True, False]


def _lease(key: str, checkpoint: str, parents: set[str]) -> Lease:
    return Lease(key, checkpoint, 0, frozenset(parents), frozenset(), None)


def _split(parent: str, low: str, high: str, *, open_: bool = False) -> dict[str, Shard]:
    middle = HASH_END // 2
    return {
        parent: Shard(parent, (), (0, HASH_END), 1, open_),
        low: Shard(low, (parent,), (0, middle), 2, True),
        high: Shard(high, (parent,), (middle + 1, HASH_END), 2, True),
    }


def _listed(index: int, low: int, high: int) -> dict[str, Any]:
    number = f"{2 << 184 | index << 4 | 2}"
    return {
        "ShardId": f"shardId-{index:012d}",
        "HashKeyRange": {"StartingHashKey": str(low), "EndingHashKey": str(high)},
        "SequenceNumberRange": {"StartingSequenceNumber": number},
    }
