"""Rules over views made by hand: what the tables of lease rows do not show.

Expectations: what the pages of the rules and the docstrings promise. A shard of Quickwit with
nothing left to read drains at once, so no race is left (RSH233).
"""

from __future__ import annotations

import dataclasses

import pytest
from msgspec.structs import replace

from reshardctl.diagnosis.rules import Finding, Severity, View, worst_first
from reshardctl.diagnosis.rules.base import merged
from reshardctl.diagnosis.rules.missing import Lack, Why, _shards_of
from reshardctl.diagnosis.rules.positions import position_out_of_range, time_in_the_future
from reshardctl.diagnosis.rules.rows import (
    end_with_subsequence,
    parents_unreadable,
    unreadable_entry,
)
from reshardctl.diagnosis.rules.starts import (
    HEAD_HELPS,
    blocked_for_ever,
    child_before_parent,
    head_unknown,
    may_never_commit,
    parent_abandoned,
    unread_skipped,
    waits_for_a_parent,
)
from reshardctl.model import (
    DONE,
    START,
    Anomaly,
    AnomalyKind,
    Cause,
    Cut,
    Fate,
    Probe,
    ShardId,
    WillRead,
    WontRead,
    exactly,
    shard_id,
)
from reshardctl.planning.effects import Effect, Harm
from tests.support.case import CASES, load
from tests.support.judging import Bench
from tests.unit.auditing.hand_made_facts import compared as compared_of_one
from tests.unit.diagnosis.rules.rule_tables import view_of, views_of
from tests.unit.diagnosis.rules.test_tables import BY_CASES

SPLIT = view_of(next(told for told in BY_CASES if told.name == "a-both"))
PARENT, OTHER, CHILD = map(shard_id, (0, 1, 2))


def of(fates: dict[ShardId, Fate], *effects: Effect, anomalies: tuple[Anomaly, ...] = ()) -> View:
    run = replace(SPLIT.simulation, fates=fates)
    processed = {shard: exactly(START) for shard in SPLIT.lineage}
    return replace(
        SPLIT, simulation=run, effects=effects, anomalies=anomalies, processed=processed
    )


@pytest.mark.parametrize(("cause", "waits"), [
    (Cause.NO_POSITION, True), (Cause.UNREADABLE, False), (Cause.FALSE_END, False),
])  # fmt: skip
def test_a_shard_waits_for_a_parent_that_has_no_position(cause: Cause, waits: bool) -> None:
    """A row that cannot be read, or that says too much, has a finding of its own."""
    assert waits_for_a_parent(of({PARENT: WontRead(cause, "")}), CHILD) is waits


@pytest.mark.parametrize("end", [DONE, replace(DONE, text="7")], ids=["", "with its last number"])
def test_no_shard_waits_for_a_parent_that_is_processed_to_its_end(end: Cut) -> None:
    view = of({PARENT: WontRead(Cause.NO_POSITION, "")})
    processed = {**view.processed, PARENT: exactly(end)}
    assert not waits_for_a_parent(replace(view, processed=processed), CHILD)


@pytest.mark.parametrize(("by", "named", "helps"), [
    ((), "", ""),
    ((PARENT,), ": 0", "mend what it waits for first: see the other findings"),
    ((OTHER,), ": 1", "1 is no parent of what waits for it: the row names a wrong one"),
])  # fmt: skip
def test_what_a_shard_waits_for_is_mended_first_unless_it_is_no_parent(by, named, helps) -> None:
    (found,) = blocked_for_ever(of({}, Effect(Harm.STALLED, CHILD, True, by=by)))
    assert (found.what, found.helps) == (f"waiting for a parent that never ends{named}", helps)


@pytest.mark.parametrize(("gone", "codes"), [(False, 1), (True, 0)])
def test_records_that_are_gone_are_no_head_that_may_be_read_again(gone: bool, codes: int) -> None:
    effect = Effect(Harm.SKIPPED, CHILD, False, cause=Cause.HEAD_PASSED, past=not gone, gone=gone)
    assert len(list(head_unknown(of({}, effect)))) == codes


def test_a_head_that_the_next_start_passes_is_not_told_to_be_of_an_earlier_fix() -> None:
    past = Effect(Harm.SKIPPED, CHILD, False, cause=Cause.HEAD_PASSED, past=True)
    ahead = replace(past, shard=OTHER, past=False)
    assert [f.helps == HEAD_HELPS for f in head_unknown(of({}, past))] == [True]
    assert [f.helps for f in head_unknown(of({}, past, ahead))] == [""]


SKIPS = Effect(Harm.SKIPPED, CHILD, True)


@pytest.mark.parametrize(("explained", "told"), [
    (None, [CHILD]),
    (Finding("RSH209", "", Severity.WARNING, (CHILD,), "", effects=(SKIPS,)), []),
    (Finding("RSH301", "", Severity.ERROR, (), ""), []),
    (Finding("RSH301", "", Severity.WARNING, (), ""), [CHILD]),
    (Finding("RSH301", "", Severity.WARNING, (CHILD,), ""), []),
    (Finding("RSH301", "", Severity.ERROR, (OTHER,), ""), [CHILD]),
    (Finding("RSH210", "", Severity.INFO, (CHILD,), ""), [CHILD]),
], ids=["nothing", "lists it", "of all", "a warning without shards", "of its shard",
        "of another shard", "a leftover"])  # fmt: skip
def test_a_loss_that_no_finding_explains_is_told(explained, told) -> None:
    view = replace(of({}, SKIPS), findings=(explained,) if explained else ())
    assert [s for found in unread_skipped(view) for s in found.shards] == told


@pytest.mark.parametrize(("causes", "why"), [
    ((Cause.TIME_NOT_PASSED,), True), ((Cause.TIME_NOT_PASSED, None), False), ((None,), False),
])  # fmt: skip
def test_a_start_by_time_that_has_not_come_says_what_it_costs_itself(causes, why) -> None:
    effects = [replace(SKIPS, cause=cause, why="its time is to come") for cause in causes]
    (found,) = unread_skipped(replace(of({}, *effects), findings=()))
    assert (found.costs == "its time is to come") is why


@pytest.mark.parametrize("count", [1, 2])
def test_a_refused_number_that_the_consumer_reads_over_is_a_warning(count: int) -> None:
    again = Effect(Harm.REREAD, CHILD, True, cause=Cause.FOREIGN_NUMBER)
    effects = [again, replace(again, shard=OTHER)][:count]
    (found,) = position_out_of_range(of({}, *effects))
    assert found.severity is Severity.WARNING and len(found.shards) == count
    assert "silently reads the shard from its beginning" in found.costs


@pytest.mark.parametrize(("above", "unread"), [
    (PARENT, "the shard and its children are not read"), (OTHER, "the shard is not read"),
])  # fmt: skip
def test_children_of_a_refused_shard_are_unread_where_they_wait_for_it(above, unread) -> None:
    stalls = Effect(Harm.STALLED, PARENT, True, cause=Cause.FOREIGN_NUMBER)
    waits = WontRead(Cause.POSITION, "", waits_for=frozenset({above}))
    (found,) = position_out_of_range(of({CHILD: waits}, stalls))
    assert found.costs.endswith(f"; {unread}")


def test_a_consumer_that_crashes_at_a_time_in_the_future_is_an_error_of_that_shard() -> None:
    """Kinesis refuses such a start: pages/RSH404.md."""
    crash = Effect(Harm.CRASHES, None, True, cause=Cause.CLOCK_AHEAD, by=(CHILD,))
    (found,) = time_in_the_future(of({}, crash))
    assert (found.severity, found.shards) == (Severity.ERROR, (CHILD,))


@pytest.mark.parametrize(("counts", "seen"), [
    ({}, False), ({PARENT: 3, OTHER: 1}, True), ({PARENT: 3, OTHER: 0}, False),
    ({PARENT: 3}, False),
])  # fmt: skip
def test_records_are_said_to_be_left_where_every_shard_was_seen_to_have_some(counts, seen) -> None:
    lost = Effect(Harm.SKIPPED, PARENT, True, cause=Cause.TAKEN_FOR_READ)
    view = of({}, lost, replace(lost, shard=OTHER))
    probes = {shard: Probe(START, not count, count=count) for shard, count in counts.items()}
    state = dataclasses.replace(view.state, probes=probes)
    (found,) = parent_abandoned(replace(view, state=state))
    assert found.what.startswith("closed with records left in it" if seen else "closed, and")


@pytest.mark.parametrize(("cause", "severity"), [
    (Cause.BAD_END_MARK, Severity.ERROR), (Cause.FINISHED, Severity.INFO),
])  # fmt: skip
def test_an_end_with_a_number_is_left_over_where_the_release_takes_it_for_an_end(cause, severity):
    odd = Anomaly(AnomalyKind.END_WITH_SUB, "", "", "", PARENT)
    (found,) = end_with_subsequence(of({PARENT: WontRead(cause, "")}, anomalies=(odd,)))
    assert (found.severity, found.shards) == (severity, (PARENT,))


@pytest.mark.parametrize("attribute", ["parentShardId", "childShardIds"])
def test_which_set_of_shards_cannot_be_read_is_named(attribute: str) -> None:
    odd = Anomaly(AnomalyKind.PARENTS_UNREADABLE, "", "", f"{attribute} is a list", CHILD)
    (found,) = parents_unreadable(of({}, anomalies=(odd,)))
    assert found.severity is Severity.INFO and found.what.startswith(f"{attribute} is no string")


@pytest.mark.parametrize(("cause", "costs"), [
    (Cause.REFILLED, "the consumer goes on as if there were no such row"),
    (Cause.UNREADABLE, "nothing of such a shard is read"),
])  # fmt: skip
def test_what_a_row_that_cannot_be_read_costs(cause: Cause, costs: str) -> None:
    fate = WillRead(exactly(START), START, frozenset(), False, cause, "")
    odd = Anomaly(AnomalyKind.UNREADABLE, "", "", "torn", CHILD)
    (found,) = unreadable_entry(of({CHILD: fate}, anomalies=(odd,)))
    assert (found.what, found.costs) == ("rows that cannot be read: torn", costs)


@pytest.mark.parametrize(("count", "end"), [(12, "10, 11"), (13, "10, 11 and 1 more")])
def test_a_reason_names_twelve_shards(count: int, end: str) -> None:
    compared = compared_of_one(0, 1, 1, 2)
    lacking = [Lack(replace(compared, shard=shard_id(n)), Why.TAIL) for n in range(count)]
    assert _shards_of(lacking, Why.TAIL).endswith(f"9, {end}")


def finding(what: str, severity: Severity = Severity.ERROR) -> Finding:
    return Finding("RSH206", "false-end", severity, (OTHER,), what, "")


LATE = finding("late", Severity.WARNING)


@pytest.mark.parametrize(("parts", "shown"), [
    ({"1.13.3": finding("crashes"), "2.7.2": finding("is lost"), "3.5.1": finding("is lost")},
     ("is lost", Severity.ERROR, "")),
    ({"1.13.3": finding("crashes"), "2.7.2": finding("is lost")}, ("crashes", Severity.ERROR, "")),
    ({"1.13.3": finding("crashes"), "2.7.2": finding("is lost"), "3.5.1": finding("is lost"),
      "3.1.3": None}, ("is lost", Severity.ERROR, "1.13.3 or 2.7.2 or 3.5.1")),
    ({"a": finding("crashes"), "b": LATE, "c": LATE}, ("crashes", Severity.ERROR, "")),
    ({"a": LATE, "b": finding("crashes"), "c": None}, ("crashes", Severity.ERROR, "a or b")),
], ids=["what most say", "the first of as many", "of most candidates", "the gravest",
        "the gravest of some"])  # fmt: skip
def test_the_findings_of_several_candidates_are_one(parts, shown) -> None:
    """It says for which candidates it holds, unless for all; another code stays beside it."""
    alone = Finding("RSH207", "", Severity.WARNING, (CHILD,), "")
    said = {label: [one, alone] if one else [alone] for label, one in parts.items()}
    found, beside = merged(said)
    assert (found.what, found.severity, found.when) == shown
    assert (beside.code, beside.when) == ("RSH207", "")


@pytest.mark.parametrize(("name", "cause", "ruled_out"), [
    ("two-generations-both-unread", Cause.LIVELOCK, True), ("backfill", Cause.BACKFILL, False),
])  # fmt: skip
def test_a_read_that_finds_all_shards_drained_rules_out_the_livelock_alone(name, cause, ruled_out):
    case = load(CASES / "quickwit" / f"{name}.toml")
    (view,) = views_of(Bench.of(case, "", "0.9.0").plan_case)
    (risk,) = view.simulation.risks
    assert risk.cause is cause
    assert [found.shards for found in may_never_commit(view)] == [risk.shards]
    drained = {shard: Probe(START, drained=True) for shard in risk.shards}
    state = dataclasses.replace(view.state, probes=drained)
    found = list(may_never_commit(replace(view, state=state)))
    assert bool(found) is not ruled_out


WAS = "begun while a parent still had unread records"
WAITS = f"{WAS}; the next start waits for it"
AGAIN = "read while an ancestor still has unread records, and does not wait for it"


@pytest.mark.parametrize(("after", "past", "said"), [
    ({PARENT}, [True], [WAITS]), ((), [True], [WAS]), ((), [True, False], [AGAIN]),
    ((), [False], [AGAIN]),
])  # fmt: skip
def test_disorder_of_an_earlier_start_is_not_told_of_the_next(after, past, said) -> None:
    """KCL 3.5.1 BlockOnParentShardTask: a shard that waits reads nothing."""
    reads = WillRead(exactly(START), DONE, frozenset(after), True, Cause.POSITION, "")
    effects = [Effect(Harm.DISORDERED, CHILD, True, by=(PARENT,), past=each) for each in past]
    assert [each.what for each in child_before_parent(of({CHILD: reads}, *effects))] == said


def test_a_shard_that_waits_and_one_that_does_not_are_told_apart() -> None:
    reads = WillRead(exactly(START), DONE, frozenset(), True, Cause.POSITION, "")
    waits = replace(reads, after=frozenset({PARENT}))
    past = Effect(Harm.DISORDERED, CHILD, True, by=(PARENT,), past=True)
    view = of({CHILD: waits, OTHER: reads}, past, replace(past, shard=OTHER, past=False))
    assert [each.shards for each in child_before_parent(view)] == [(OTHER,), (CHILD,)]


def test_findings_are_told_the_worst_first_then_by_code_and_shards():
    """docs/rules.md: errors before warnings, and those before what is left over."""
    said = [
        (Severity.INFO, "RSH205", "0"), (Severity.ERROR, "RSH203", "2"),
        (Severity.WARNING, "RSH201", "1"), (Severity.ERROR, "RSH203", "1"),
        (Severity.ERROR, "RSH202", "3"),
    ]
    found = worst_first(Finding(code, "", severity, (ShardId(shard),), "")
                        for severity, code, shard in said)
    assert [(one.code, one.shards[0]) for one in found] == [
        ("RSH202", "3"), ("RSH203", "1"), ("RSH203", "2"), ("RSH201", "1"), ("RSH205", "0"),
    ]
