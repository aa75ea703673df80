"""Which release does what with a row, and which may start on a table, told from its rows alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reshardctl.consumers.kcl.beside import starters
from reshardctl.consumers.kcl.releases import RELEASES, App, Start, traits_of
from reshardctl.consumers.kcl.rows import parse
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.errors import UsageError
from reshardctl.model import START, Create, Image, ShardId, WontRead
from reshardctl.planning.plan import Nothing, Plan
from tests.support.case import CASES, load
from tests.support.judging import Bench, images_of, lineage_of

# ----
# Which release does what with a row that it cannot read, and which are not known.

SOURCE = {
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


# ----
# Which releases may start on a table, told from its rows alone.
#
# Sources: tables that the real 1.13.3, 1.15.3, 2.7.2, 3.1.3 and 3.5.1 left, and the serializers of
# 1.3.0 (no sub-sequence numbers), 2.2.11 and 2.7.2.

GOLDEN = Path(__file__).parents[2] / "golden" / "kcl"
BARE = {"1.13.3", "1.15.3", "2.2.11", "2.7.2", "3.5.1"}
AUDITED = {"1.15.3", "2.7.2", "3.5.1"}


def golden(folder: str) -> list[Image]:
    return images_of(json.loads((GOLDEN / folder / "leases.json").read_text())["Items"])


def releases(images: list[Image]) -> set[str]:
    return {traits.release for traits in starters(parse(images))}


@pytest.mark.parametrize(("folder", "may_start"), [
    ("1.13.3/g1-mid-read", BARE),
    ("1.13.3/g2-split-parent-behind", BARE),
    ("1.15.3/g3-split-parent-finished", AUDITED),
    ("2.7.2/g3-split-parent-finished", AUDITED),
    ("2.7.2/g8-prepared-checkpoint", {"2.7.2", "3.5.1"}),
    ("3.5.1/g3-split-parent-finished", {"3.5.1"}),
])  # fmt: skip
def test_the_release_that_wrote_it_may_start_on_it(folder: str, may_start: set[str]) -> None:
    assert releases(golden(folder)) == may_start
    assert folder.partition("/")[0] in may_start


def bench(name: str, initial: str, release: str | None) -> Bench:
    return Bench.of(load(CASES / "kcl" / f"{name}.toml"), initial, release)


def test_what_only_some_releases_mend_by_themselves_is_planned_for_all() -> None:
    """State a of the runs is lost for ever on 1.15.3, 2.7.2 and 3.5.1, and heals before: to create
    the rows is right for each of them."""
    unnamed = bench("full-ended-children-lost", "LATEST", None)
    assert {one.options["release"] for one in unnamed.plan_case.candidates} == BARE
    assert isinstance(unnamed.decide(), Plan)
    plans = {r: bench("full-ended-children-lost", "LATEST", r).decide() for r in sorted(BARE)}
    assert [r for r, plan in plans.items() if isinstance(plan, Nothing)] == ["1.13.3", "2.2.11"]


def test_what_all_releases_do_alike_is_not() -> None:
    assert isinstance(bench("full-split-unseen", "LATEST", None).decide(), Nothing)
    assert isinstance(bench("full-hole", "LATEST", None).decide(), Plan)


@pytest.mark.parametrize(("name", "lacks", "has"), [
    ("full-hole", {"startingHashKey", "endingHashKey"}, {"checkpointSubSequenceNumber"}),
    ("oldest-hole", {"startingHashKey", "checkpointSubSequenceNumber"}, set()),
    ("i1", set(), {"startingHashKey", "endingHashKey", "checkpointSubSequenceNumber"}),
])  # fmt: skip
@pytest.mark.parametrize("release", ["1.13.3", "1.15.3", "2.7.2", "3.5.1"])
def test_new_rows_look_like_their_neighbours(
    name: str, lacks: set[str], has: set[str], release: str
) -> None:
    """Else the next look would take the table for another generation's. The audit adds hash keys
    where they are missing (runs on 1.15.3, 2.7.2 and 3.5.1: no hash keys)."""
    plan = bench(name, "LATEST", release).decide()
    assert isinstance(plan, Plan)
    ((write,),) = [step.writes for step in plan.steps]
    assert isinstance(write.change, Create)
    assert not lacks.intersection(write.change.attributes)
    assert has <= write.change.attributes.keys()


@pytest.mark.parametrize(("release", "hashes"), [("1.13", False), ("2.2", False), ("1.15", True)])
def test_first_rows_are_those_of_the_release_that_starts(release: str, hashes: bool) -> None:
    case = load(CASES / "kcl" / "full-empty-latest.toml")
    lineage = lineage_of(case.shards, case.stream["created"])
    app = App(Start.LATEST, traits_of(release))
    steps = CONSUMERS["kcl"].bootstrap(lineage, dict.fromkeys(lineage, START), app)
    rows = [w.change.attributes for s in steps for w in s.writes if isinstance(w.change, Create)]
    assert rows
    assert all(("startingHashKey" in row) is hashes for row in rows)


@pytest.mark.parametrize(("release", "known"), [("1.6.5", False), ("1.7.0", True)])
def test_a_start_by_time_came_with_1_7(release: str, known: bool) -> None:
    """InitialPositionInStream of 1.6.5 and 1.7.0."""
    if known:
        assert bench("full-hole", "AT_TIMESTAMP:+300", release).plan_case.candidates
        return
    with pytest.raises(UsageError, match=r"came with 1\.7"):
        bench("full-hole", "AT_TIMESTAMP:+300", release)
