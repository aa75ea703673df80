"""Which release does what with a row that it cannot read, and which are not known."""

from __future__ import annotations

import pytest

from reshardctl.consumers.kcl.releases import RELEASES, traits_of
from reshardctl.model import ShardId, WontRead
from tests.support.case import CASES, load
from tests.support.judging import Bench

SOURCE = {
    # Runs on 1.15.3, 2.7.2 and 3.5.1: what a hand-written row must carry.
    ("row-no-counter", "1.15.3"): True,
    ("row-no-switches", "1.15.3"): True,
    ("row-no-checkpoint", "1.15.3"): True,
    ("row-parents-list", "1.15.3"): True,
    ("row-children-list", "1.15.3"): True,
    ("foreign-rows", "1.15.3"): True,
    ("row-no-counter", "2.7.2"): True,
    ("row-no-switches", "2.7.2"): True,
    ("row-no-checkpoint", "2.7.2"): False,
    ("row-parents-list", "2.7.2"): False,
    ("foreign-rows", "2.7.2"): True,
    ("row-no-counter", "3.5.1"): False,
    ("row-no-switches", "3.5.1"): False,
    ("foreign-rows", "3.5.1"): False,
    # DynamoDBLeaseRefresher.list of 3.0.0 to 3.4.3 throws, and isLeaseTableEmpty lists one row: it
    # dies where a scan returns the bad one first; else the assignment leaves that row out, and
    # every audit throws (runs on 3.1.3: dead in one table, alive in others).
    ("row-no-counter", "3.1.3"): True,
    ("row-no-switches", "3.1.3"): True,
    # KinesisClientLease of 1.13.3 refuses null parents, and reads no children.
    ("row-parents-list", "1.13.3"): True,
    ("row-children-list", "1.13.3"): False,
    # DynamoDBLeaseSerializer of 2.2.11 reads another type as empty; ExtendedSequenceNumber.equals
    # throws where the synchronisation compares a missing checkpoint with SHARD_END.
    ("row-parents-list", "2.2.11"): False,
    ("row-no-checkpoint", "2.2.11"): True,
    # assertClosedShardsAreCoveredOrAbsent in KinesisShardSyncer 1.13.3 and in
    # HierarchicalShardSyncer 2.2.11: a finished lease of an open shard.
    ("false-end", "1.13.3"): True,
    ("false-end", "2.2.11"): True,
    ("false-end", "1.15.3"): False,
}


@pytest.mark.parametrize(("name", "release"), SOURCE)
def test_who_dies_of_which_row(name: str, release: str) -> None:
    bench = Bench.of(load(CASES / "kcl" / f"{name}.toml"), "LATEST", release)
    (run,) = bench.replays()
    assert (run.crash is not None) is SOURCE[name, release]
    assert run.crash is None or run.crash.certain is (release != "3.1.3")


def test_on_3_1_the_row_without_switches_is_never_read() -> None:
    bench = Bench.of(load(CASES / "kcl" / "row-no-switches.toml"), "LATEST", "3.1.3")
    (run,) = bench.replays()
    lacking = [
        i.key for i in bench.plan_case.images
        if "ownerSwitchesSinceCheckpoint" not in i.attributes
    ]
    assert lacking
    assert all(isinstance(run.fates[ShardId(key)], WontRead) for key in lacking)


def test_every_release_says_where_its_traits_come_from() -> None:
    assert all(traits.source for traits in RELEASES)
    assert [t.first for t in RELEASES] == sorted(t.first for t in RELEASES)
    assert all(traits_of(t.release) is t for t in RELEASES)
