"""Numbers in rows of KCL: another shard's, another stream's, an earlier one's, and counters."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.consumers.base import Incarnation
from reshardctl.errors import WrongStream
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cut,
    Image,
    Span,
    WontRead,
    at_number,
    at_time,
    shard_id,
    writes_of,
)
from reshardctl.model.times import instant
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Ask, Nothing, Plan, decide, processed_frontier
from reshardctl.testing import load_topology
from tests.proof.drawn.states import rows_of
from tests.proof.reference.kcl import Run, run
from tests.support.case import CASES, load
from tests.support.case_rows import item_of
from tests.support.case_stream import number
from tests.support.dialects.kcl import images_of
from tests.support.judging import Bench, delivered

# ----
# Rows of KCL beside a row that holds the number of a record of their shard, as after a swap.
#
# Whoever wrote that number had read the shard so far: KCL checkpoints what was read
# (ShardRecordProcessorCheckpointer). What the shard's own row leaves of it is read again.

SWAPPED = load(CASES / "kcl" / "latest-number-elsewhere.toml")
"""Two roots of four records; the row of 1 holds the number of s0-1."""
SINCE = SWAPPED.stream["created"] + 60


def bench(checkpoint: str, initial: str = "TRIM_HORIZON") -> Bench:
    """Shard 0's row at this record, or this word."""
    own, other = SWAPPED.items()
    text = SWAPPED.number_of(checkpoint) if checkpoint.startswith("s0") else checkpoint
    items: list[dict[str, Any]] = [{**own, "checkpoint": {"S": text}}, other]
    options = {"initial": initial, "release": "3.5.1"}
    return Bench.on(SWAPPED, images_of(items), options, accept="reread=48h")


@pytest.mark.parametrize(
    ("checkpoint", "again"), [("TRIM_HORIZON", ["s0-0", "s0-1"]), ("s0-0", ["s0-1"]), ("s0-2", [])]
)
def test_what_the_number_shows_to_be_read_is_priced(checkpoint: str, again: list[str]) -> None:
    found = bench(checkpoint)
    plan = found.decide()
    assert isinstance(plan, Plan)
    rows = list(rows_of(found.after(plan.steps)).values())
    ran = run(load_topology(SWAPPED.stream), SWAPPED.stream["name"], rows, "TRIM_HORIZON", "3.5.1")
    read = {"s0-0", "s0-1"}
    assert [p for p in ran.delivered[shard_id(0)] if p in read] == again
    priced = [e for e in plan.after[0] if e.harm is Harm.REREAD and e.shard == shard_id(0)]
    assert [e.until for e in priced] == ([at_number(SWAPPED.number_of("s0-1"))] if again else [])
    assert not any(e.certain for e in priced)


@pytest.mark.parametrize(("checkpoint", "initial", "lo", "hi"), [
    ("TRIM_HORIZON", "TRIM_HORIZON", START, at_number(SWAPPED.number_of("s0-1"))),
    # No number compares with a time, so it may have been read as far as the shard goes.
    ("AT_TIMESTAMP", f"AT_TIMESTAMP:{instant(SINCE)}", at_time(SINCE), TIP),
])  # fmt: skip
def test_the_row_is_taken_at_its_word_for_what_is_certain(
    checkpoint: str, initial: str, lo: Cut, hi: Cut
) -> None:
    span = processed_frontier(bench(checkpoint, initial).plan_case)[shard_id(0)]
    assert replace(span, why="") == replace(Span(lo, hi, span.basis), why="")


# ----
# leaseCounter at the end of its range: what KCL makes of it, and what a fix leaves.
#
# DynamoDBLeaseSerializer: 1.x and 2.x write the next counter as Java's long has it, and so do the
# renewals of 3.x; but where 3.x assigns a lease, DynamoDB adds one (getDynamoAssignLeaseUpdate),
# and what is behind the last long cannot be read (DynamoUtils.safeGetLong).

LAST = 2**63 - 1
STORED = [f"s0-{n}" for n in range(4)]


def _items(counter: int, checkpoint: str) -> list[dict[str, Any]]:
    """Shard 0's row with this counter; shard 1's is as it should be."""
    own, other = SWAPPED.items()
    own = {**own, "checkpoint": {"S": checkpoint}, "leaseCounter": {"N": str(counter)}}
    return [own, {**other, "checkpoint": {"S": "TRIM_HORIZON"}}]


def _bench(items: list[dict[str, Any]], release: str) -> Bench:
    return Bench.on(SWAPPED, images_of(items), {"initial": "TRIM_HORIZON", "release": release})


def _run(images: list[Image], release: str) -> Run:
    rows = list(rows_of(images).values())
    return run(load_topology(SWAPPED.stream), SWAPPED.stream["name"], rows, "TRIM_HORIZON", release)


@pytest.mark.parametrize("release", ["1.15.3", "2.7.2", "3.1.3", "3.5.1"])
@pytest.mark.parametrize("counter", [LAST, LAST - 1, LAST - 2**61])
def test_after_a_fix_kcl_reads_the_row_and_counts_on(counter: int, release: str) -> None:
    wrong = SWAPPED.number_of("s1-0")  # another shard's, so that the row is written
    found = _bench(_items(counter, wrong), release)
    decision = found.decide()
    assert isinstance(decision, Plan)
    after = found.after(decision.steps)
    (counted,) = [i.attributes["leaseCounter"] for i in after if i.key.endswith("0")]
    assert counted == {"N": "0"}
    ran = _run(after, release)
    assert not ran.died and not ran.stuck
    assert ran.delivered["shardId-000000000000"] == STORED
    assert isinstance(_bench(list(rows_of(after).values()), release).decide(), Nothing)


def test_any_other_counter_grows_by_one() -> None:
    found = _bench(_items(7, SWAPPED.number_of("s1-0")), "3.5.1")
    decision = found.decide()
    assert isinstance(decision, Plan)
    (write,) = writes_of(decision.steps)
    assert write.change.add == {"leaseCounter": 1}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("release", "reads"), [("1.15.3", True), ("2.7.2", True), ("3.1.3", False), ("3.5.1", False)]
)
def test_the_last_counter_is_one_too_many_for_3_x(release: str, reads: bool) -> None:
    items = _items(LAST, "TRIM_HORIZON")
    found = _bench(items, release)
    (simulation,) = found.replays()
    said = delivered(SWAPPED, simulation, found.plan_case.state.lineage)["shardId-000000000000"]
    ran = _run(images_of(items), release)
    assert [p for p in said if p in STORED] == ran.delivered.get("shardId-000000000000", [])
    assert bool(said) is reads
    assert bool([f for f in found.findings() if f.shards]) is not reads
    decision = found.decide()
    assert isinstance(decision, Nothing if reads else Plan)
    if isinstance(decision, Plan):
        ran = _run(found.after(decision.steps), release)
        assert ran.delivered["shardId-000000000000"] == STORED


def test_workers_that_assign_leases_as_2_x_does_count_as_java_does() -> None:
    """LeaseTaker, in CLIENT_VERSION_UPGRADE_FROM_2X (MigrationStateMachineImpl of 3.5.1)."""
    migration = {
        "leaseKey": {"S": "Migration3.0"}, "entityType": {"S": "CLIENT_VERSION_MIGRATION"},
        "cv": {"S": "CLIENT_VERSION_UPGRADE_FROM_2X"}, "mb": {"S": "w"}, "mts": {"N": "1"},
    }
    found = _bench([*_items(LAST, "TRIM_HORIZON"), migration], "3.5.1")
    assert not [f for f in found.findings() if f.shards]


# ----
# A lease that holds the number of a younger stream, of which Kinesis gives no iterator
# (InvalidArgumentException: FakeKinesis, after kinesalite's tests against AWS).

FOREIGN = load(CASES / "kcl" / "foreign-number-proves-nothing.toml")
LATER = FOREIGN.stream["created"] + 2 * 86_400
YOUNGER = number(LATER - 3, 7, LATER + 500, 0)


def foreign(release: str, *checkpoints: str) -> Bench:
    rows: list[dict[str, Any]] = [
        item_of({"shard": shard, "checkpoint": text}, dict(FOREIGN.topology))
        for shard, text in enumerate(checkpoints)
    ]
    options = {"initial": "TRIM_HORIZON", "release": release}
    return Bench.on(FOREIGN, images_of(rows), options, accept="reread=1h,disorder")


@pytest.mark.parametrize("release", ["1.15.3", "2.7.2", "3.5.1"])
def test_beside_numbers_of_this_stream_it_is_another_stream_s_row(release: str) -> None:
    """DESIGN.md §7 rule 3: such a row is never written and never deleted."""
    found = foreign(release, YOUNGER, "s1-0", "s2-0")
    (run,) = found.replays()
    assert isinstance(run.fates[shard_id(0)], WontRead)
    assert "RSH207" in {finding.code for finding in found.findings()}
    decision = found.decide()
    assert isinstance(decision, Nothing)
    (left,) = decision.residuals
    assert (left.shard, left.flag) == (shard_id(0), "")
    assert "another stream's" in left.why


@pytest.mark.parametrize("other", ["TRIM_HORIZON", "LATEST", "SHARD_END"])
def test_where_no_row_holds_a_number_of_this_stream_the_table_is_another_s(other: str) -> None:
    found = foreign("3.5.1", YOUNGER, other, other)
    with pytest.raises(WrongStream):
        found.findings()


# ----
# After a recreated stream's table was begun anew, what is left of the old one is no finding.

WAITING = load(CASES / "kcl" / "d1-waiting.toml")
"""Shard 0 is not listed any more, and its row stays: KCL takes ResourceNotFound for its end."""
EARLIER = "49680104636411742993829714191114409834953595494223314946"
EARLIER_OF_1 = "49680104636434043739028244814260781256504668012689752082"


@pytest.mark.parametrize("initial", ["LATEST", "TRIM_HORIZON"])
def test_the_row_of_a_trimmed_shard_does_not_ask_for_it_again(initial: str) -> None:
    items = [dict(item) for item in WAITING.items() if item["leaseKey"]["S"][-1] in "01"]
    for item in items:
        own = EARLIER if item["leaseKey"]["S"].endswith("0") else EARLIER_OF_1
        item["checkpoint"] = {"S": own}
    options = {"initial": initial, "release": "3.5.1"}
    bench = Bench.on(WAITING, images_of(items), options)
    assert isinstance(bench.decide(), Ask)
    plan = decide(replace(bench.plan_case, recreated=True))
    assert isinstance(plan, Plan)
    after = Bench.on(WAITING, bench.after(plan.steps), options)
    case = after.plan_case
    found = case.consumer.incarnation(case.state.lineage, case.checkpoint())
    assert found is Incarnation.AMBIGUOUS
    assert "RSH102" not in {finding.code for finding in after.findings()}
    assert isinstance(after.decide(), Nothing)


# ----
# Places that a saved plan was read with: equal to those that were found, and other objects.

@pytest.mark.parametrize("name", ["healthy-merge-pending", "i1"])
def test_steps_follow_from_what_places_say(name: str) -> None:
    case = Bench.of(load(CASES / "kcl" / f"{name}.toml"), "TRIM_HORIZON", "3.5.1").plan_case
    lineage, app = case.state.lineage, case.candidates[0].app
    said = {shard: DONE if lineage.parents(shard) else START for shard in lineage}
    for want in (case.wanted(processed_frontier(case)), said):
        read = {shard: replace(cut) for shard, cut in want.items()}
        steps, again = (
            case.consumer.encode(lineage, case.checkpoint(), places, app, frozenset())
            for places in (want, read)
        )
        assert again == steps


def test_a_wrong_parent_whose_lease_is_finished_is_not_waited_for() -> None:
    """BlockOnParentShardTask passes a lease at SHARD_END: the row that names it stays."""
    case = Bench.of(
        load(CASES / "kcl" / "healthy-end-interrupted.toml"), "TRIM_HORIZON", "3.5.1"
    ).plan_case
    lineage, (row, wrong) = case.state.lineage, map(shard_id, (2, 3))
    parents = {"parentShardId": {"SS": [*sorted(lineage.parents(row)), wrong]}}
    rows = case.consumer.parse([
        replace(one, attributes={**one.attributes, **parents}) if one.key == row else one
        for one in case.images
    ], lineage.stream)
    want = {shard: DONE if lineage.parents(shard) else START for shard in lineage}
    steps = case.consumer.encode(lineage, rows, want, case.candidates[0].app, frozenset())
    assert isinstance(steps, list)
    written = {write.key for write in writes_of(steps)}
    assert wrong in written and row not in written
