"""The effects of a simulation: skipped, re-read, disordered, stalled, or a crash.

One pass over the shards, parents first. An effect is an interval inside one shard with bounds and a
deadline, never a count of records: counting means reading.

Three kinds are told by what is stored: shards that were read to their end without being marked as
ended, positions older than the stream's retention, at which some consumers crash, and the other
rows of a consumer that crashes on some of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    INSIDE,
    START,
    TIP,
    Cause,
    Count,
    Cut,
    Fate,
    Frontier,
    ShardId,
    Simulation,
    Span,
    TargetFrontier,
    WillRead,
    WontRead,
    at_time,
    possibly_before,
)
from reshardctl.planning.unread import GRACE, Reading, StreamState, has_unread, moment

__all__ = [
    "AT_LEAST",
    "GRACE",
    "Deadline",
    "Effect",
    "Harm",
    "StreamState",
    "deadline",
    "effects",
    "has_unread",
    "moment",
]


_UNKNOWN = Span(START, DONE)
AT_LEAST = 1.0
"""Least seconds between two places in a shard: numbers tell whole seconds, and our clock may be
behind the stream's. A width of zero would always be accepted."""


PAST_EXPIRY = "started once with failOnDataLoss=false it goes on at the oldest record left"
"""The way out where a consumer crashes at a position that is older than the retention."""


class Harm(StrEnum):
    """Kinds of effects, worst last."""

    REREAD = "re-read"
    DISORDERED = "disordered"
    SKIPPED = "skipped"
    STALLED = "stalled"
    CRASHES = "crashes"


class Deadline(Struct, frozen=True):
    """Unix seconds: loss of unread records begins at `starts` and is complete at `complete`.

    probed: `starts` is the arrival of a record that was read; otherwise a lower bound.
    """

    starts: float | None
    complete: float | None
    probed: bool = False

    @classmethod
    def of_all(cls, deadlines: Iterable[Deadline | None]) -> Deadline | None:
        """From the first loss to the last, which has a time only if every one has an end."""
        known = [each for each in deadlines if each is not None]
        if not known:
            return None
        first = min(known, key=lambda each: (each.starts is None, each.starts or 0.0))
        ends = [each.complete for each in known if each.complete is not None]
        return replace(first, complete=max(ends) if len(ends) == len(known) else None)


class Effect(Struct, frozen=True):
    """One consequence of the next start for one shard, or (CRASHES) for the whole consumer.

    since, until: the interval at its widest. seconds: the stream time that it spans at most, `None`
    if unknown. by: the shards that it comes from (unread ancestors, a parent that never ends).
    gone: the records have expired already. past: it happened before this start. inherent: the
    consumer always does so, wherever its positions are. records: how many the interval holds, if
    they were counted.
    """

    harm: Harm
    shard: ShardId | None
    certain: bool
    since: Cut = START
    until: Cut = DONE
    seconds: float | None = None
    cause: Cause | None = None
    why: str = ""
    by: tuple[ShardId, ...] = ()
    deadline: Deadline | None = None
    gone: bool = False
    past: bool = False
    inherent: bool = False
    records: Count | None = None


def effects(
    state: StreamState, want: TargetFrontier, processed: Frontier, run: Simulation
) -> list[Effect]:
    """Everything that the simulation does beyond or short of the wanted frontier."""
    if run.crash is not None:
        unread = Deadline.of_all(
            deadline(state, shard, wanted) for shard in state.lineage
            if has_unread(state, shard, wanted := want.get(shard, START))
        )
        return [
            Effect(
                Harm.CRASHES, None, crash.certain, cause=crash.cause, why=crash.why, by=crash.by,
                deadline=unread,
            )
            for crash in (run.crash, *run.crash.others)
        ]
    start = state.memo.onwards(_start, state, want, processed, run)
    past = start.past
    return [
        *(effect for shard in run.fates for effect in start.own.get(shard, ())),
        *(past[shard] for shard in (state.lineage if past else ()) if shard in past),
    ]


class _Start(Struct, frozen=True):
    """What a start does to each shard, and what that follows from.

    A shard's effects follow from its fate, the cuts of its span, its wanted cut and what happens
    above it: where all of these are the same objects as in another start, they are taken over.
    own: those of this start, where a shard has some; past: the disorder of an earlier one.
    """

    want: TargetFrontier
    processed: Frontier
    run: Simulation
    reading: Reading
    own: Mapping[ShardId, tuple[Effect, ...]]
    past: Mapping[ShardId, Effect]


def _start(
    state: StreamState, before: _Start | None, want: TargetFrontier, processed: Frontier,
    run: Simulation,
) -> _Start:
    anew: AbstractSet[ShardId] = run.fates.keys()
    reading, own, past = None, dict[ShardId, tuple[Effect, ...]](), dict[ShardId, Effect]()
    if before is not None and before.run.orders is run.orders:
        others = {
            *_other(run.fates, before.run.fates), *_other(want, before.want),
            *_moved(processed, before.processed),
        }
        anew = others | state.lineage.descendants(*others)
        reading = Reading(state, processed, run, before.reading, anew)
        own = {shard: known for shard, known in before.own.items() if shard not in anew}
        past = {shard: known for shard, known in before.past.items() if shard not in anew}
    if reading is None or not reading.in_families:
        anew, reading, own, past = run.fates.keys(), Reading(state, processed, run), {}, {}
    for shard, fate in run.fates.items():
        if shard not in anew:
            continue
        if found := _of_shard(state, want, processed, run, reading, shard, fate):
            own[shard] = found
    past |= _past_disorder(state, processed, run, reading, anew)
    return _Start(want, processed, run, reading, own, past)


def _other(now: Mapping[ShardId, object], then: Mapping[ShardId, object]) -> Iterator[ShardId]:
    """The shards of which something else is told than then."""
    if now is not then:
        yield from (shard for shard, told in now.items() if then.get(shard) is not told)
        yield from then.keys() - now.keys()


def _moved(now: Frontier, then: Frontier) -> Iterator[ShardId]:
    """The shards that are processed to another place than then, whatever that rests on."""
    for shard in _other(now, then):
        one, other = now.get(shard), then.get(shard)
        if one is None or other is None or one.head != other.head or (
            one.lo is not other.lo or one.hi is not other.hi
        ):
            yield shard


def _of_shard(
    state: StreamState, want: TargetFrontier, processed: Frontier, run: Simulation,
    reading: Reading, shard: ShardId, fate: Fate,
) -> tuple[Effect, ...]:
    wanted = want.get(shard, START)
    if wanted.rank is DONE.rank and (isinstance(fate, WontRead) or _is_over(fate)):
        return ()
    span = processed.get(shard, _UNKNOWN)
    by = () if reading.starts(shard) else reading.blocking(fate)
    found: list[Effect] = []
    if not isinstance(fate, WillRead) or by or fate.possible:
        found += _stalls(state, shard, fate, wanted, span, by)
    if isinstance(fate, WillRead) and not by:
        if not _goes_on(state, shard, fate, wanted):
            found += _skips(state, shard, fate, wanted, span)
        if span.head:
            found += _passed(state, shard, fate, span)
        if fate.at.lo < span.hi:
            found += _rereads(state, shard, fate, span)
        loose = reading.loose.get(shard)
        if loose and has_unread(state, shard, fate.at.lo):
            found.append(_disorder(shard, *reading.beside(loose), run))
    if wanted.rank is INSIDE:
        found += _expired(state, shard, fate, wanted)
    return tuple(found)


def _goes_on(state: StreamState, shard: ShardId, fate: WillRead, wanted: Cut) -> bool:
    """Whether a listed shard is read from the wanted cut on, as far as it goes."""
    return fate.at.hi == wanted and fate.until.rank >= TIP.rank and shard in state.lineage


def _is_over(fate: WillRead) -> bool:
    """Whether nothing of the shard is read any more, for sure."""
    return fate.at.lo.rank is fate.until.rank is DONE.rank and not fate.possible


def _width(state: StreamState, shard: ShardId, since: Cut, until: Cut) -> float | None:
    start, end = moment(state, shard, since), moment(state, shard, until)
    if start is None or end is None:
        return None
    if until.rank is INSIDE and start <= state.now:
        end = min(end, state.now)  # a sequence number may be in the future, a record cannot
    return max(AT_LEAST, end - start)


def deadline(state: StreamState, shard: ShardId, unread: Cut) -> Deadline | None:
    """When the records after the cut begin to expire, and when the last of them has expired."""
    if shard not in state.lineage:
        return None
    keep = state.lineage.stream.retention
    closed = state.lineage.closed_at(shard)
    probe = state.probes.get(shard)
    complete = None if closed is None else closed + keep
    if probe is not None and probe.first_arrival is not None and probe.since == unread:
        return Deadline(probe.first_arrival + keep, complete, probed=True)
    start = moment(state, shard, unread)
    return Deadline(None if start is None else start + keep, complete)


def _stalls(
    state: StreamState, shard: ShardId, fate: Fate, wanted: Cut, span: Span,
    by: tuple[ShardId, ...],
) -> Iterator[Effect]:
    never = isinstance(fate, WontRead)
    if isinstance(fate, WillRead) and not by:
        yield Effect(
            Harm.STALLED, shard, False, wanted, DONE, None, fate.cause, fate.possible,
            deadline=deadline(state, shard, wanted),
        )
    elif has_unread(state, shard, wanted):
        yield Effect(
            Harm.STALLED, shard, span.hi != DONE, wanted, DONE,
            _width(state, shard, wanted, DONE), fate.cause if never else None, fate.why, by,
            deadline(state, shard, wanted),
        )


def gone(shard: ShardId, wanted: Cut) -> Effect:
    """What is lost of a shard that is not listed any more, if it had records after this cut."""
    why = "the shard is not listed any more: what it still held is gone"
    return Effect(Harm.SKIPPED, shard, False, wanted, DONE, None, Cause.GONE, why, gone=True)


def _skips(
    state: StreamState, shard: ShardId, fate: WillRead, wanted: Cut, span: Span
) -> Iterator[Effect]:
    if shard not in state.lineage:
        if wanted < DONE and fate.cause is Cause.GONE:
            yield gone(shard, wanted)
        return
    for since, until in ((wanted, fate.at.hi), (fate.until, DONE)):
        if not possibly_before(since, until) or not has_unread(state, shard, since):
            continue
        if until is DONE and state.lineage.is_open(shard):
            continue
        certain = span.hi < fate.at.lo if until is fate.at.hi else span.hi < DONE
        yield Effect(
            Harm.SKIPPED, shard, certain, since, until, _width(state, shard, since, until),
            fate.cause, fate.why, deadline=deadline(state, shard, since),
        )


def _passed(
    state: StreamState, shard: ShardId, fate: WillRead, span: Span
) -> Iterator[Effect]:
    """One effect, of first records that an earlier start may have passed over; see `Span.head`.

    None where this start reads from the beginning, or where the shard is known to hold no record.
    What lies after the place to which it is processed is no doubt of then.
    """
    until = min(fate.at.lo, span.lo) if span.lo > START else fate.at.lo
    if until != START and has_unread(state, shard, START):
        yield Effect(
            Harm.SKIPPED, shard, False, START, until,
            _width(state, shard, START, until), Cause.HEAD_PASSED, span.head,
            deadline=deadline(state, shard, START), past=True,
        )


def _rereads(
    state: StreamState, shard: ShardId, fate: WillRead, span: Span
) -> Iterator[Effect]:
    # A shard that resumes after its own last record is not re-read: without an end mark its high
    # bound is uncertain, its row is not. What a sink holds beyond a gap is certain.
    unmarked = fate.cause is Cause.UNMARKED and span.hi.rank is not INSIDE
    if unmarked and fate.at.exact and fate.at.lo == span.lo != START:
        return
    if not has_unread(state, shard, fate.at.lo):
        return
    until = span.hi
    if until.quiet is not None:
        until = replace(until, quiet=None)  # up to its record: nothing came after it
    width = _width(state, shard, fate.at.lo, until)
    end = moment(state, shard, until)
    if fate.at.lo == START and width is not None:  # expired records are not read again
        kept = (end or 0.0) - (state.now - state.lineage.stream.retention)
        width = min(width, max(0.0, kept))
    if state.since is not None and state.places.get(shard) == fate.at.lo and width is not None:
        width = min(width, max(0.0, (end or 0.0) - state.since))
    yield Effect(
        Harm.REREAD, shard, fate.at.hi < span.lo, fate.at.lo, until, width, fate.cause, fate.why,
    )


def _disorder(
    shard: ShardId, by: tuple[ShardId, ...], certain: bool, run: Simulation,
    since: Cut | None = None,
) -> Effect:
    """Disorder of this start, or (since) of an earlier one."""
    why = "is read beside ancestors with unread records"
    if since is not None:
        why = "was read before its parents were done"
    return Effect(
        Harm.DISORDERED, shard, certain, START, since or DONE, why=why, by=by,
        past=since is not None, inherent=not run.orders,
    )


def _expired(
    state: StreamState, shard: ShardId, fate: Fate, wanted: Cut
) -> Iterator[Effect]:
    """A position older than the retention: records after it may have expired already."""
    if not isinstance(fate, WillRead):
        return
    if wanted.by_time and fate.cause is not Cause.POSITION:
        return
    horizon = state.now - state.lineage.stream.retention
    written = moment(state, shard, wanted)
    if written is None or written >= horizon or not has_unread(state, shard, wanted):
        return
    probe = state.probes.get(shard)
    if probe is not None and probe.drained:
        return
    yield Effect(
        Harm.SKIPPED, shard, False, wanted, at_time(horizon),
        horizon - written, fate.cause, "the position is older than the stream's retention",
        gone=True,
    )


def _past_disorder(
    state: StreamState, processed: Frontier, run: Simulation, reading: Reading,
    anew: AbstractSet[ShardId],
) -> dict[ShardId, Effect]:
    """The shards of which more is processed than of their parents."""
    lineage, found = state.lineage, dict[ShardId, Effect]()
    family: tuple[ShardId, ...] = ()
    unread, certain = family, False
    for shard in filter(anew.__contains__, lineage):
        span = processed.get(shard)
        if span is None or span.lo.rank is not INSIDE or span.lo.by_time:
            continue
        if (parents := lineage.parents(shard)) is not family:  # siblings share theirs
            family = parents
            unread = tuple([
                parent for parent in parents
                if (above := processed.get(parent)) and above.hi.rank is not DONE.rank
            ])
            certain = bool(unread) and not reading.done.issuperset(unread)
        if unread:
            found[shard] = _disorder(shard, unread, certain, run, span.lo)
    return found


def drained_unended(state: StreamState, run: Simulation) -> list[ShardId]:
    """Shards that have nothing left to read, are not marked as ended, and hold back a child.

    They closed a while ago, reads have shown nothing after their stored position, and nothing keeps
    them from ending.
    """
    lineage, shards = state.lineage, []
    for shard, probe in state.probes.items():
        fate = run.fates.get(shard)
        if not probe.drained or shard not in lineage or not isinstance(fate, WillRead):
            continue
        if not fate.ends or not _awaited(lineage, run, shard):
            continue
        closed = lineage.closed_at(shard)
        if fate.cause is not Cause.POSITION or closed is None or closed + GRACE > state.now:
            continue
        if fate.at.exact and fate.at.lo != DONE and probe.since <= fate.at.lo:
            shards.append(shard)
    return shards


def _awaited(lineage: Lineage, run: Simulation, shard: ShardId) -> bool:
    fates = (run.fates.get(child) for child in lineage.children(shard))
    return any(isinstance(fate, WillRead) and shard in fate.after for fate in fates)
