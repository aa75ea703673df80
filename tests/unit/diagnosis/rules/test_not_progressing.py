"""RSH403 over views: what was seen, what is known of records, and how grave that makes it.

Expectations: what the page of the rule promises. Nothing is said without evidence.
"""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from reshardctl.consumers.base import ShardOwner
from reshardctl.diagnosis.evidence import Movement, Watched, watched
from reshardctl.diagnosis.rules import View
from reshardctl.diagnosis.rules.base import Found
from reshardctl.diagnosis.rules.stream import not_progressing
from reshardctl.lineage import Lineage
from reshardctl.model import (
    START,
    TIP,
    Cause,
    Probe,
    ShardId,
    Span,
    WillRead,
    exactly,
    shard_id,
)
from reshardctl.planning.effects import StreamState
from tests.unit.diagnosis.rules.rule_tables import view_of
from tests.unit.diagnosis.rules.test_tables import BY_CASES

SINCE, UNTIL = 1_795_232_000.0, 1_795_232_060.0
ROOTS = next(told for told in BY_CASES if told.name == "healthy-roots")
A, B = shard_id(0), shard_id(1)
HELD = Movement("w1", renewed=True, moved=False)
MOVED = Movement("w1", renewed=True, moved=True)
LEFT = Movement("w1", renewed=False, moved=False)


def findings(
    shards: dict[ShardId, Movement], probes: dict[ShardId, Probe] | None = None, *,
    elsewhere: bool = False,
) -> list[Found]:
    view = view_of(ROOTS)
    seen = Watched(SINCE, UNTIL, "60 s rules out 180 s", shards, elsewhere)
    state = StreamState(view.lineage, view.state.now, probes or {})
    return list(not_progressing(replace(view, state=state, watched=seen)))


def severities(found: list[Found]) -> list[tuple[str, tuple[ShardId, ...]]]:
    return [(str(f.severity), f.shards) for f in found]


BEFORE = Probe(START, False, SINCE - 1, "1", 1)
MEANWHILE = Probe(START, False, SINCE, "1", 1)
DRAINED = Probe(START, True)
CUT_SHORT = Probe(START, False)


@pytest.mark.parametrize(("one", "probe", "severity"), [
    (MOVED, None, None), (MOVED, BEFORE, None),
    (HELD, None, "info"), (HELD, BEFORE, "warning"), (HELD, MEANWHILE, "info"),
    (HELD, DRAINED, None), (HELD, CUT_SHORT, "info"),
    (LEFT, None, "warning"), (LEFT, BEFORE, "error"), (LEFT, MEANWHILE, "warning"),
    (LEFT, DRAINED, "warning"),
    (replace(LEFT, finished=True), BEFORE, None),
])  # fmt: skip
def test_evidence_makes_the_severity(
    one: Movement, probe: Probe | None, severity: str | None
) -> None:
    found = findings({A: MOVED, B: one}, {} if probe is None else {B: probe})
    assert severities(found) == ([] if severity is None else [(severity, (B,))])


@pytest.mark.parametrize(("probes", "words"), [
    ({}, "--probe tells whether records are there"), ({B: BEFORE}, "watch again for longer"),
    ({B: MEANWHILE}, "watch again for longer"),
])  # fmt: skip
def test_a_shard_that_nobody_takes_is_probed_or_watched_for_longer(probes, words) -> None:
    (found,) = findings({A: MOVED, B: LEFT}, probes)
    assert found.helps.endswith(f"; 60 s rules out 180 s; {words}")


@pytest.mark.parametrize(("others", "words"), [
    ([HELD], "1 other was renewed"), ([HELD, MOVED], "2 others were renewed"),
    ([], "the consumer runs"),
])  # fmt: skip
def test_the_others_that_were_renewed_are_counted(others: list[Movement], words: str) -> None:
    seen = {A: LEFT} | {shard_id(n): one for n, one in enumerate(others, 1)}
    (found, *_) = [f for f in findings(seen, elsewhere=True) if f.shards == (A,)]
    assert f"in 1m while {words}" in found.what


def test_silence_everywhere_is_no_finding() -> None:
    assert findings({A: LEFT, B: LEFT}, {A: BEFORE}) == []
    assert severities(findings({A: LEFT, B: LEFT}, elsewhere=True)) == [("warning", (A, B))]


def test_without_a_watch_nothing_is_said() -> None:
    view = view_of(ROOTS)
    assert view.watched is None and list(not_progressing(view)) == []


def test_rows_of_shards_that_are_gone_are_left_out() -> None:
    assert findings({A: MOVED, shard_id(77): HELD}) == []


def test_the_oldest_record_dates_the_loss() -> None:
    older = dataclasses.replace(BEFORE, first_arrival=SINCE - 3600)
    (found,) = findings({A: HELD, B: HELD}, {A: BEFORE, B: older})
    assert found.shards == (A, B)
    assert found.costs == "the oldest record seen expires at 2026-11-22T02:33:20Z"


def test_other_owners_are_named_and_not_all_of_them() -> None:
    many = {shard_id(i): replace(HELD, owner=f"w{i}") for i in range(9)}
    view = view_of(ROOTS)
    listed = [replace(view.lineage[A], id=shard) for shard in many]
    lineage = Lineage(view.lineage.stream, listed)
    seen = Watched(SINCE, UNTIL, "", many)
    processed = dict.fromkeys(many, view.processed[A])
    state = StreamState(lineage, view.state.now)
    run = SimpleNamespace(fates=dict.fromkeys(many, view.simulation.fates[A]))
    (found,) = not_progressing(View(state, processed, run, [], [], False, seen))  # type: ignore[arg-type]
    assert "held by w0, w1, w2 and others" in found.what


def test_two_looks() -> None:
    first = {A: ShardOwner("w1", "7", "1/0"), B: ShardOwner("w1", "7", "1/0")}
    second = {
        A: ShardOwner("w1", "8", "1/0"),
        B: ShardOwner("w1", "7", "0/9"),
        shard_id(2): ShardOwner("", "0", "T/0"),
        shard_id(3): ShardOwner("w1", "1", "S/0", finished=True),
    }
    seen = watched(first, second, SINCE, UNTIL, "x").shards
    assert (seen[A].renewed, seen[A].moved) == (True, False)
    assert (seen[B].renewed, seen[B].moved) == (True, True)
    assert (seen[shard_id(2)].renewed, seen[shard_id(2)].moved) == (True, True)
    assert seen[shard_id(3)].finished


@pytest.mark.parametrize(("before", "after", "renewed"), [
    (ShardOwner("w1", "7", "1/0"), ShardOwner("w1", "7", "1/0"), False),
    (ShardOwner("w1", "7", "1/0"), ShardOwner("w2", "7", "1/0"), True),
    (ShardOwner("w1", "7", "1/0"), ShardOwner("", "7", "1/0"), False),
    (ShardOwner("", "7", "1/0"), ShardOwner("", "8", "1/0"), False),
])  # fmt: skip
def test_what_is_a_sign_of_life(before: ShardOwner, after: ShardOwner, renewed: bool) -> None:
    """A row that lost its owner shows that one went, not that one works; another program's
    change to a row without an owner shows nothing."""
    assert watched({A: before}, {A: after}, SINCE, UNTIL, "").shards[A].renewed is renewed


SPLIT = next(told for told in BY_CASES if told.name == "a-both")
CHILD = shard_id(2)


def of_a_split(
    shards: dict[ShardId, Movement], probes: dict[ShardId, Probe], since: float = SINCE
) -> list[Found]:
    """A, whose child is CHILD, closed long before the watch and was not read to its end."""
    view = view_of(SPLIT)
    processed = {**view.processed, A: Span(START, START)}
    waits = WillRead(
        exactly(START), TIP, frozenset({A}), False, Cause.CREATED_AT_PARENT_END, "waits"
    )
    run = replace(view.simulation, fates={**view.simulation.fates, CHILD: waits})
    seen = Watched(since, since + 60, "60 s rules out 180 s", shards)
    state = StreamState(view.lineage, view.state.now, probes)
    return list(not_progressing(
        replace(view, state=state, processed=processed, simulation=run, watched=seen)
    ))


@pytest.mark.parametrize(("probes", "words"), [
    ({}, ": it is closed and does not end"), ({A: DRAINED}, ": read to its end, and never ended"),
])  # fmt: skip
def test_a_closed_shard_that_does_not_end_keeps_its_children_waiting(probes, words) -> None:
    (found,) = of_a_split({A: HELD}, probes)
    assert (str(found.severity), found.shards) == ("warning", (A,))
    assert found.what.endswith(words) and found.costs == "its children wait for its end"


@pytest.mark.parametrize(("after", "words"), [
    (1, ": it is closed and does not end"), (-1, ": no progress seen, may be idle"),
])  # fmt: skip
def test_a_shard_that_closes_during_the_watch_may_still_end(after: float, words: str) -> None:
    closed = view_of(SPLIT).lineage.closed_at(A)
    assert closed is not None
    (found,) = of_a_split({A: HELD}, {}, since=closed + after)
    assert found.what.endswith(words)


def test_a_shard_that_waits_for_its_parent_is_not_blamed() -> None:
    assert of_a_split({CHILD: HELD, A: MOVED}, {}) == []
