"""The case files against the reference consumers: unrepaired and repaired, on every release.

Case and model were written from the same sources but apart from each other, so where they differ
one of them is wrong. A start on the rows as they are is on FakeKinesis, all others on the short way
to the case's shards (`tests/proof/exhaustive/direct.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from reshardctl.testing import FakeKinesis, load_topology
from tests.proof.exhaustive.direct import Direct
from tests.proof.reference.kcl import Run
from tests.proof.reference.kcl_lease import list_leases, syncs_fully
from tests.proof.reference.kcl_stream import HASH_END, Initial, Source
from tests.proof.reference.kcl_sync import bootstrap, first_hole, missing_leases
from tests.proof.reference.kcl_tables import run_beside
from tests.support.case import Case, Expect, all_cases, rule_cases
from tests.support.case_stream import shard_name
from tests.support.case_sync import SyncCase, SyncExpect, all_syncs
from tests.support.grouped import Situation, by_case

pytestmark = pytest.mark.slow

CASES = {
    case.name: case for case in [*all_cases("kcl"), *all_cases("kcl-tables"), *rule_cases("kcl")]
}


def _situations() -> Iterator[Situation]:
    for case in CASES.values():
        for expect in case.expects:
            for initial in expect.initial:
                for release in expect.releases:
                    name = f"{case.name}-{initial}-{release}"
                    yield case.name, name, (case, expect, initial, release)


every_situation = by_case(_situations())


@every_situation
def test_a_start_delivers_what_the_case_says(
    case: Case, expect: Expect, initial: str, release: str
) -> None:
    ran = _started(case.name, initial, release)
    assert ran.died == expect.dies
    assert _delivered(case, ran) == expect.delivers, ran.stuck
    _in_order(ran, expect.order)


@every_situation
@pytest.mark.only(lambda expect: expect.fixed is not None, "the case names no fix")
def test_a_start_after_the_fix_delivers_what_the_case_says(
    case: Case, expect: Expect, initial: str, release: str
) -> None:
    fixed = expect.fixed
    ran = _fixed(case.name, initial, release, tuple(fixed.writes.items()))
    assert ran.died == (expect.dies and fixed.refused is not None)
    assert _delivered(case, ran) == fixed.delivers, ran.stuck
    _in_order(ran, fixed.order)
    if not fixed.remains:
        assert not ran.stuck


@every_situation
def test_deleting_finished_leases_changes_nothing(
    case: Case, expect: Expect, initial: str, release: str
) -> None:
    ran = _run(case, Direct(case), case.items(), initial, release, cleanup=True)
    assert _delivered(case, ran) == expect.delivers, ran.stuck


@every_situation
def test_what_is_clean_neither_hangs_nor_disorders(
    case: Case, expect: Expect, initial: str, release: str
) -> None:
    """Clean at the start, or nothing left after the fix: no shard hangs, parents come first."""
    clean = [_started(case.name, initial, release)] if not expect.findings else []
    if expect.fixed is not None and not expect.fixed.remains:
        clean.append(_fixed(case.name, initial, release, tuple(expect.fixed.writes.items())))
    for ran in clean:
        assert not ran.stuck
        _in_order(ran, tuple(_lineage(case)))


CERTAIN_STALLS = {"RSH207", "RSH215"}
POSSIBLE_STALLS = {"RSH102", "RSH211", "RSH213", "RSH301"}


@every_situation
def test_what_hangs_has_a_finding_that_says_so(
    case: Case, expect: Expect, initial: str, release: str
) -> None:
    ran = _started(case.name, initial, release)
    if expect.findings & CERTAIN_STALLS:
        assert ran.stuck
    listed = {shard["ShardId"] for shard in case.shards}
    if ran.stuck.keys() & listed:
        assert expect.findings & (CERTAIN_STALLS | POSSIBLE_STALLS)
    elif ran.stuck:  # the row of a shard that is gone; its children hang, or have no row
        assert expect.findings & (CERTAIN_STALLS | POSSIBLE_STALLS | {"RSH203"})


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_fake_shows_the_case_s_own_numbers(case: Case) -> None:
    """Shards and records computed here and in FakeKinesis must agree, or no case means anything."""
    client = load_topology(case.stream).client()
    assert client.list_shards(StreamName=case.stream["name"])["Shards"] == case.shards
    for shard_id, shard in case.topology.items():
        if not shard.listed:
            continue
        ask = {"StreamName": case.stream["name"], "ShardId": shard_name(shard_id)}
        first = client.get_shard_iterator(**ask, ShardIteratorType="TRIM_HORIZON")
        answer = client.get_records(ShardIterator=first["ShardIterator"])
        shown = [(r["SequenceNumber"], r["Data"].decode()) for r in answer["Records"]]
        trim = case.stream["created"] + case.stream["trim"]
        assert shown == [(n, p) for n, p, arrival in shard.records if arrival >= trim]


@pytest.mark.parametrize(
    ("case", "expect"),
    [
        pytest.param(case, expect, id=f"{case.name}-{expect.initial}-{len(expect.leases)}-{i}")
        for case in all_syncs("kcl")
        for i, expect in enumerate(case.expects)
    ],
)
def test_a_sync_creates_what_the_library_s_own_tests_say(
    case: SyncCase, expect: SyncExpect
) -> None:
    source = Source(load_topology(case.stream).client(), case.stream["name"])
    initial = Initial.of(_absolute(expect.initial, case.stream))
    if expect.bootstrap:
        created = dict.fromkeys(bootstrap(source, initial), initial.name)
    else:
        created = missing_leases(source.shards(), expect.leases, initial.name)
    assert created == expect.creates


@pytest.mark.parametrize(
    ("ranges", "holds"),
    [
        ([(0, 1), (2, 3), (4, 23), (6, 23), (24, HASH_END)], True),
        ([(4, 23), (2, 3), (0, 1), (24, HASH_END), (6, 23)], True),
        ([(0, 1), (2, 3), (4, 23), (6, 9), (24, HASH_END)], True),
        ([(0, 1), (2, 3), (4, 23), (6, 23), (24, 45), (24, HASH_END)], True),
        ([(0, 1), (2, 3), (4, 23), (6, 23), (25, HASH_END)], False),
        ([(1, 23), (24, HASH_END)], False),
        ([(0, 23), (24, HASH_END - 1)], False),
        ([(0, HASH_END), (24, 45)], False),
        ([], False),
    ],
)
def test_the_audit_merges_overlaps_and_looks_at_the_last_start(
    ranges: list[tuple[int, int]], holds: bool
) -> None:
    """Source: KCL 3.5.1 PeriodicShardSyncManagerTest, and checkForHoleInHashKeyRanges for the
    last but two: the range that starts last must reach the end, even if another one does."""
    assert (first_hole(ranges) is None) == holds


GOLDEN = Path(__file__).parents[2] / "golden" / "kcl"
ONE_STREAM = sorted(path.parent for path in GOLDEN.glob("*/*/leases.json") if "g7" not in str(path))


@pytest.mark.parametrize("folder", ONE_STREAM, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_model_reads_what_the_real_library_wrote(folder: Path) -> None:
    """Every row but the foreign ones is a lease of a listed shard; the release reads its own."""
    items = json.loads((folder / "leases.json").read_text(encoding="utf-8"))["Items"]
    listed = json.loads((folder / "shards.json").read_text(encoding="utf-8"))["Shards"]
    release = folder.parent.name
    leases = list_leases({item["leaseKey"]["S"]: item for item in items}, release)
    assert {lease.key for lease in leases} <= {shard["ShardId"] for shard in listed}
    assert all(lease.checkpoint is not None for lease in leases)
    assert all((lease.hashes is None) is syncs_fully(release) for lease in leases)


def _run(
    case: Case, fake: FakeKinesis | Direct, items: list[dict[str, Any]], initial: str, release: str,
    *, cleanup: bool = False,
) -> Run:
    start = _absolute(initial, case.stream)
    return run_beside(
        fake, case.stream["name"], items, start, release, _live(case, fake),  # type: ignore[arg-type]
        identifier=case.identifier, side=case.side, cleanup=cleanup,
    )


@cache
def _started(name: str, initial: str, release: str) -> Run:
    """A start on the rows as they are stored, which several tests look at."""
    case = CASES[name]
    return _run(case, load_topology(case.stream), case.items(), initial, release)


@cache
def _fixed(name: str, initial: str, release: str, writes: tuple[tuple[int, str], ...]) -> Run:
    """A start on the rows after these writes."""
    case = CASES[name]
    return _run(case, Direct(case), case.with_writes(dict(writes)), initial, release)


def _absolute(initial: str, stream: dict[str, Any]) -> str:
    """``AT_TIMESTAMP:+60`` as epoch seconds; every other initial position as it is."""
    name, _, seconds = initial.partition(":+")
    return f"{name}:{stream['created'] + int(seconds)}" if seconds else name


def _live(case: Case, fake: FakeKinesis | Direct) -> Callable[[], None]:
    def put() -> None:
        for shard in case.live.shards:
            for index in range(case.live.n):
                if isinstance(fake, Direct):
                    fake.put(shard, f"n{shard}-{index}")
                else:
                    fake.put(case.stream["name"], shard, f"n{shard}-{index}", f"k{shard}")

    return put


def _delivered(case: Case, ran: Run) -> dict[str, tuple[str, ...]]:
    return {shard: tuple(ran.delivered.get(shard, ())) for shard in case.records}


def _lineage(case: Case) -> Iterator[tuple[str, str]]:
    """Every shard with every descendant, as pairs of ids."""
    for first in case.topology.values():
        below = list(first.children)
        for child in below:
            yield shard_name(first.id), shard_name(child)
            below += case.topology[child].children


def _in_order(ran: Run, order: tuple[tuple[str, str], ...]) -> None:
    for first, second in order:
        last = max(map(ran.order.index, ran.delivered.get(first, ())), default=-1)
        assert all(ran.order.index(payload) > last for payload in ran.delivered.get(second, ()))
