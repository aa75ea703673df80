"""The effects of a simulation: skipped, re-read, disordered, stalled, or a crash.

One pass over the shards, parents first. An effect is an interval inside one shard with bounds and a
deadline, never a count of records: counting means reading.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cause,
    Count,
    Cut,
    Fate,
    Frontier,
    Probe,
    Rank,
    ShardId,
    Simulation,
    Span,
    TargetFrontier,
    WillRead,
    WontRead,
    in_birth_order,
    possibly_before,
    time_of,
)

_UNKNOWN = Span(START, DONE)
_NOBODY: frozenset[ShardId] = frozenset()
AT_LEAST = 1.0
"""Least seconds between a position and the tip, whatever the clocks say: a width of zero would
always be accepted."""
GRACE = 300.0
"""Seconds after a shard's close in which a consumer may still be about to mark its end; also the
seconds before it in which a shard's last record is expected."""


class Harm(StrEnum):
    """Kinds of effects, worst last."""

    REREAD = "re-read"
    DISORDERED = "disordered"
    SKIPPED = "skipped"
    STALLED = "stalled"
    CRASHES = "crashes"


@dataclass(frozen=True, slots=True)
class Deadline:
    """Unix seconds: loss of unread records begins at `starts` and is complete at `complete`.

    probed: `starts` is the arrival of a record that was read; otherwise a lower bound.
    """

    starts: float | None
    complete: float | None
    probed: bool = False


@dataclass(frozen=True, slots=True)
class Effect:
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


@dataclass(frozen=True, slots=True)
class StreamState:
    """What effects are measured against. `now`: Unix seconds.

    since, places: the time of a policy, and the cuts that it was resolved to: whatever lies after
    one of them arrived at that time or later.
    """

    lineage: Lineage
    now: float
    probes: Mapping[ShardId, Probe] = field(default_factory=dict)
    since: float | None = None
    places: Mapping[ShardId, Cut] = field(default_factory=dict)


def effects(
    state: StreamState, want: TargetFrontier, processed: Frontier, run: Simulation
) -> list[Effect]:
    """Everything that the simulation does beyond or short of the wanted frontier."""
    if run.crash is not None:
        crash = run.crash
        return [
            Effect(Harm.CRASHES, None, crash.certain, cause=crash.cause, why=crash.why, by=crash.by)
        ]
    result: list[Effect] = []
    reading = _Reading(state, processed, run)
    for shard, fate in run.fates.items():
        wanted = want.get(shard, START)
        if wanted == DONE and (isinstance(fate, WontRead) or _is_over(fate)):
            continue
        span = processed.get(shard, _UNKNOWN)
        read = fate if isinstance(fate, WillRead) and reading.starts(shard) else None
        if read is None or read.possible:
            result += _stalls(state, shard, fate, wanted, span, reading)
        if read is not None:
            if not _goes_on(state, shard, read, wanted):
                result += _skips(state, shard, read, wanted, span)
            if read.at.lo < span.hi:
                result += _rereads(state, shard, read, span)
            if reading.loose.get(shard) and has_unread(state, shard, read.at.lo):
                result += _disorder(shard, reading, run)
        if wanted.rank is Rank.INSIDE:
            result += _expired(state, shard, fate, wanted)
    result += _past_disorder(state, processed, run, reading)
    return result


def _goes_on(state: StreamState, shard: ShardId, fate: WillRead, wanted: Cut) -> bool:
    """Whether a listed shard is read from the wanted cut on, as far as it goes."""
    return fate.at.hi == wanted and fate.until.rank >= Rank.TIP and shard in state.lineage


def _is_over(fate: WillRead) -> bool:
    """Whether nothing of the shard is read any more, for sure."""
    return fate.at.lo == fate.until == DONE and not fate.possible


class _Reading:
    """Which shards start, which end, and which unread ancestors hold a shard back or do not."""

    def __init__(self, state: StreamState, processed: Frontier, run: Simulation) -> None:
        self._around, self._processed, self._run = state, processed, run
        self._ended: set[ShardId] = set()
        self._ready: set[ShardId] = set()
        waiting = self._begun(run.fates)
        while waiting and len(left := self._begun(waiting)) < len(waiting):
            waiting = left
        self._done: dict[ShardId, bool] = {}
        self._sibling: tuple[ShardId, tuple[ShardId, ...], frozenset[ShardId]] | None = None
        self._gating: dict[ShardId, frozenset[ShardId]] = {}
        self.loose: dict[ShardId, frozenset[ShardId]] = {}
        for shard in self._below_unread():
            self._hold_back(shard, run.fates[shard])

    def _begun(self, fates: Mapping[ShardId, Fate]) -> dict[ShardId, WillRead]:
        """Starts what can start, and returns what still waits: a row may name a younger parent."""
        waiting = {}
        for shard, fate in fates.items():
            if not isinstance(fate, WillRead):
                continue
            if not fate.after <= self._ended:
                waiting[shard] = fate
                continue
            self._ready.add(shard)
            if fate.ends:
                self._ended.add(shard)
        return waiting

    def _below_unread(self) -> list[ShardId]:
        """Descendants of shards with unread records, parents first. No other can be disordered."""
        lineage = self._around.lineage
        self._unread = {s for s in self._ready if self._is_unread(s)}
        below: set[ShardId] = set()
        todo = list(self._unread)
        while todo:
            for child in lineage.children(todo.pop()):
                if child not in below:
                    below.add(child)
                    todo.append(child)
        return [s for s in self._run.fates if s in below] if below else []

    def _is_unread(self, shard: ShardId) -> bool:
        lineage, fate = self._around.lineage, self._run.fates[shard]
        if not isinstance(fate, WillRead) or shard not in lineage or lineage.is_open(shard):
            return False
        if fate.at.lo.rank is Rank.DONE:
            return False
        sure = self._processed[shard].lo if shard in self._processed else START
        if sure == fate.at.lo:
            return has_unread(self._around, shard, sure)
        ordered = sure <= fate.at.lo or fate.at.lo <= sure
        return has_unread(self._around, shard, max(sure, fate.at.lo) if ordered else fate.at.lo)

    def _hold_back(self, shard: ShardId, fate: Fate) -> None:
        after = fate.after if isinstance(fate, WillRead) else fate.waits_for
        parents = self._around.lineage.parents(shard)
        if self._sibling is not None and self._sibling[1:] == (parents, after):
            sibling = self._sibling[0]  # siblings follow one another
            if sibling not in after:
                self._gating[shard], self.loose[shard] = self._gating[sibling], self.loose[sibling]
                return
        self._sibling = (shard, parents, after)
        gates: set[ShardId] = set()
        loose: set[ShardId] = set()
        for parent in {*parents, *after}:
            near = gates if parent in after else loose
            if parent in self._unread:
                near.add(parent)
            near |= self._gating.get(parent, _NOBODY)
            loose |= self.loose.get(parent, _NOBODY)
        self._gating[shard] = frozenset(gates)
        self.loose[shard] = frozenset(loose - gates)

    def starts(self, shard: ShardId) -> bool:
        """Whether the shard is ever asked for."""
        return shard in self._ready

    def ends(self, shard: ShardId) -> bool:
        """Whether reading of the shard ends."""
        return shard in self._ended

    def seems_done(self, shard: ShardId) -> bool:
        """Whether the shard looks as if read to its end, as `_seems_done` says."""
        if (known := self._done.get(shard)) is None:
            known = self._done[shard] = _seems_done(self._around, self._run, shard)
        return known

    @cached_property
    def ranks(self) -> dict[ShardId, int]:
        """The shards with unread records, numbered in the order of their birth."""
        return {shard: rank for rank, shard in enumerate(in_birth_order(self._unread))}

    @cached_property
    def undone(self) -> set[ShardId]:
        """The shards with unread records that do not look as if read to their end."""
        return {shard for shard in self._unread if not self.seems_done(shard)}


def has_unread(state: StreamState, shard: ShardId, cut: Cut) -> bool:
    """Whether records may lie after the cut. In open shards future records count as unread."""
    lineage = state.lineage
    if shard not in lineage or cut == DONE:
        return False
    end = lineage[shard].end
    if end is None:
        return True
    if cut == TIP or (cut.rank is Rank.INSIDE and not cut.by_time and cut.number >= int(end)):
        return False
    probe = state.probes.get(shard)
    return not (probe is not None and probe.drained and probe.since <= cut)


def _seems_done(state: StreamState, run: Simulation, shard: ShardId) -> bool:
    """Whether a closed shard whose consumer marks no end has a position just before its close."""
    fate, probe = run.fates.get(shard), state.probes.get(shard)
    if not isinstance(fate, WillRead) or fate.cause is not Cause.UNMARKED:
        return False
    closed = state.lineage.closed_at(shard) if shard in state.lineage else None
    if fate.at.lo.rank is not Rank.INSIDE or (probe is not None and not probe.drained):
        return False
    written = moment(state, shard, fate.at.lo)
    return written is not None and closed is not None and closed - written <= GRACE


def moment(state: StreamState, shard: ShardId, cut: Cut) -> float | None:
    """Unix seconds at which the stream reached this cut, as far as number and store tell."""
    if shard not in state.lineage:
        return None
    if cut.rank in (Rank.START, Rank.INSIDE):
        if cut.rank is Rank.START:
            since = state.lineage.opened_at(shard)
        else:
            since = cut.time if cut.by_time else time_of(cut.number)
        return max((t for t in (since, cut.quiet) if t is not None), default=None)
    closed = state.lineage.closed_at(shard)
    return state.now if state.lineage.is_open(shard) else closed


def _width(state: StreamState, shard: ShardId, since: Cut, until: Cut) -> float | None:
    start, end = moment(state, shard, since), moment(state, shard, until)
    if start is None or end is None:
        return None
    if until.rank is Rank.INSIDE and start <= state.now:
        end = min(end, state.now)  # a sequence number may be in the future, a record cannot
    # A tip before a record shows that our clock is behind the stream's, by an unknown time.
    least = AT_LEAST if until.rank is Rank.TIP else 0.0
    return max(least, end - start)


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
    state: StreamState, shard: ShardId, fate: Fate, wanted: Cut, span: Span, reading: _Reading
) -> Iterator[Effect]:
    never = isinstance(fate, WontRead)
    if not never and reading.starts(shard):
        assert isinstance(fate, WillRead)
        if fate.possible:
            yield Effect(
                Harm.STALLED, shard, False, wanted, DONE, None, fate.cause, fate.possible,
                deadline=deadline(state, shard, wanted),
            )
        return
    if not has_unread(state, shard, wanted):
        return
    after = fate.waits_for if isinstance(fate, WontRead) else fate.after
    by = tuple(p for p in in_birth_order(dict.fromkeys(after)) if not reading.ends(p))
    yield Effect(
        Harm.STALLED, shard, span.hi != DONE, wanted, DONE,
        _width(state, shard, wanted, DONE), fate.cause if never else None, fate.why, by,
        deadline(state, shard, wanted),
    )


def _skips(
    state: StreamState, shard: ShardId, fate: WillRead, wanted: Cut, span: Span
) -> Iterator[Effect]:
    if shard not in state.lineage:
        if wanted < DONE and fate.cause is Cause.GONE:
            yield Effect(
                Harm.SKIPPED, shard, False, wanted, DONE, None, fate.cause,
                "the shard is not listed any more: what it still held is gone", gone=True,
            )
        return
    for since, until in ((wanted, fate.at.hi), (fate.until, DONE)):
        if until is DONE and not has_unread(state, shard, since):
            continue
        if not possibly_before(since, until) or not has_unread(state, shard, since):
            continue
        if until is DONE and state.lineage.is_open(shard):
            continue
        certain = span.hi < fate.at.lo if until is fate.at.hi else span.hi < DONE
        yield Effect(
            Harm.SKIPPED, shard, certain, since, until, _width(state, shard, since, until),
            fate.cause, fate.why, deadline=deadline(state, shard, since),
        )


def _rereads(
    state: StreamState, shard: ShardId, fate: WillRead, span: Span
) -> Iterator[Effect]:
    listed = shard in state.lineage
    if not listed or not fate.at.lo < span.hi or not has_unread(state, shard, fate.at.lo):
        return
    # A shard that resumes after its own last record is not re-read: without an end mark its high
    # bound is uncertain, its row is not. What a sink holds beyond a gap is certain.
    unmarked = fate.cause is Cause.UNMARKED and span.hi.rank is not Rank.INSIDE
    if unmarked and fate.at.exact and fate.at.lo == span.lo != START:
        return
    until = replace(span.hi, quiet=None)  # up to its record: nothing came after it
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


def _disorder(shard: ShardId, reading: _Reading, run: Simulation) -> Iterator[Effect]:
    if by := reading.loose.get(shard):
        certain = not reading.undone.isdisjoint(by)
        yield Effect(
            Harm.DISORDERED, shard, certain, why="is read beside ancestors with unread records",
            by=tuple(sorted(by, key=reading.ranks.__getitem__)), inherent=not run.orders,
        )


def _expired(
    state: StreamState, shard: ShardId, fate: Fate, wanted: Cut
) -> Iterator[Effect]:
    """A position older than the retention: records after it may have expired already."""
    if not isinstance(fate, WillRead) or wanted.rank is not Rank.INSIDE:
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
        Harm.SKIPPED, shard, False, wanted, Cut(Rank.INSIDE, time=horizon, by_time=True),
        horizon - written, fate.cause, "the position is older than the stream's retention",
        gone=True,
    )


def _past_disorder(
    state: StreamState, processed: Frontier, run: Simulation, reading: _Reading
) -> Iterator[Effect]:
    lineage = state.lineage
    undone = {shard for shard, span in processed.items() if span.hi.rank is not Rank.DONE}
    for shard in lineage if undone else ():
        span = processed.get(shard)
        if span is None or span.lo.rank is not Rank.INSIDE or span.lo.by_time:
            continue
        if unread := tuple(filter(undone.__contains__, lineage.parents(shard))):
            certain = any(not reading.seems_done(parent) for parent in unread)
            yield Effect(
                Harm.DISORDERED, shard, certain, START, span.lo, by=unread, past=True,
                inherent=not run.orders, why="was read before its parents were done",
            )
