"""Effects that were measured before are measured again wherever something differs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cause,
    Cut,
    Fate,
    ShardId,
    Simulation,
    Span,
    WillRead,
    WontRead,
    at_number,
    exactly,
)
from reshardctl.planning.effects import Harm, StreamState, effects
from tests.support.lineages import lineages, number_inside, split_in_turn


def places(lineage, shard):
    """Some cuts of a shard, as the same objects for every start."""
    return [START, at_number(number_inside(lineage, shard)), DONE]


def fates(draw, lineage, shard, at):
    """What may become of a shard that is read from `at`."""
    after = draw(st.sampled_from([frozenset(), frozenset(lineage.parents(shard))]))
    is_open = lineage.is_open(shard)
    cause = draw(st.sampled_from([Cause.UNMARKED, Cause.POSITION]))
    read = WillRead(exactly(at), TIP if is_open else DONE, after, not is_open, cause, "reads")
    return draw(st.sampled_from([read, WontRead(Cause.UNREADABLE, "does not read", after)]))


@st.composite
def questions(draw):
    """A lineage, and a few starts of which most shards are the same."""
    lineage = draw(lineages())
    cuts = {shard: places(lineage, shard) for shard in lineage}
    asked: list[tuple[dict[ShardId, Cut], dict[ShardId, Span], Simulation]] = []
    want: dict[ShardId, Cut] = {}
    processed: dict[ShardId, Span] = {}
    run: dict[ShardId, Fate] = {}
    some = st.lists(st.sampled_from(list(lineage)), max_size=3, unique=True)
    for number in range(6):
        kinds = ["want", "processed", "head", "run", "gone"] if number else ["all"]
        for shard in draw(some) if number else lineage:
            anew = draw(st.sampled_from(kinds))
            lo, at = (draw(st.sampled_from(cuts[shard])) for _ in range(2))
            if anew in ("processed", "all"):
                processed = {**processed, shard: Span(lo, draw(st.sampled_from([lo, DONE])))}
            if anew in ("head", "all") and shard in processed:
                head = draw(st.sampled_from(["", "an earlier start may have begun it late"]))
                processed = {**processed, shard: replace(processed[shard], head=head)}
            if anew in ("want", "all"):
                want = {**want, shard: at}
            if anew in ("run", "all"):
                run = {**run, shard: fates(draw, lineage, shard, at)}
            if anew == "gone":
                want, processed, run = want.copy(), processed.copy(), run.copy()
                for told in (want, processed, run):
                    told.pop(shard, None)  # type: ignore[attr-defined]
        ordered = {shard: run[shard] for shard in lineage if shard in run}
        asked.append((want, processed, Simulation(ordered, orders=draw(st.booleans()))))
    return lineage, asked


@settings(deadline=None)
@given(questions())
def test_what_was_measured_before_changes_nothing(question):
    """The expectation is the same question asked of a state that was never asked before."""
    lineage, asked = question
    now = lineage.stream.created + 90_000.0
    state = StreamState(lineage, now)
    for want, processed, run in asked:
        assert effects(state, want, processed, run) == effects(
            StreamState(lineage, now), want, processed, run
        )


def test_disorder_that_has_become_certain_or_has_no_cause_any_more_is_told_anew():
    """A position just before a shard's close may be its end only where no end is ever marked, and
    nothing is read beside a parent of which a start says nothing."""
    lineage = split_in_turn(1, [0])
    parent, *children = lineage
    opened, closed = lineage.opened_at(parent), lineage.closed_at(parent)
    assert opened is not None and closed is not None
    late = int(number_inside(lineage, parent)) + (int(closed - opened - 120) << 36)
    cut = at_number(str(late))
    state = StreamState(lineage, closed + 60)
    nothing: frozenset[ShardId] = frozenset()
    below: dict[ShardId, Fate] = {
        child: WillRead(exactly(START), TIP, nothing, False, Cause.POSITION, "reads")
        for child in children
    }
    told = []
    for cause in (Cause.UNMARKED, Cause.POSITION, None):
        above: dict[ShardId, Fate] = {
            parent: WillRead(exactly(cut), DONE, nothing, True, cause, "reads")
        } if cause else {}
        run = Simulation({**above, **below}, orders=True)
        found = effects(state, {}, {parent: Span(cut, cut)}, run)
        told.append([effect.certain for effect in found if effect.harm is Harm.DISORDERED])
        assert all("beside ancestors" in e.why for e in found if e.harm is Harm.DISORDERED)
    assert told == [[False] * len(children), [True] * len(children), []]
