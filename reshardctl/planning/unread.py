"""What a start has yet to read: what lies after a cut of a shard, since when, and in which order.

The order: which shards a start reads and ends, and which it reads beside ancestors with unread
records.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    INSIDE,
    START,
    TIP,
    Cause,
    Cut,
    Fate,
    Frontier,
    Probe,
    ShardId,
    Simulation,
    WillRead,
    awaited,
    in_birth_order,
    time_of,
)
from reshardctl.model.memo import Memo

GRACE = 300.0
"""Seconds after a shard's close in which a consumer may still be about to mark its end; also the
seconds before it in which a shard's last record is expected."""


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
    memo: Memo = field(default_factory=Memo, init=False, compare=False, repr=False)
    """What was measured. A decision measures the stored rows, those after a plan, and those as if
    they were stored: most shards are the same each time."""


def has_unread(state: StreamState, shard: ShardId, cut: Cut) -> bool:
    """Whether records may lie after the cut. In open shards future records count as unread."""
    lineage = state.lineage
    if cut.rank is DONE.rank or shard not in lineage:
        return False
    if lineage.is_open(shard):
        return True
    if cut.rank is TIP.rank:
        return False
    if cut.rank is INSIDE and not cut.by_time:
        end = lineage.last_number(shard)
        if end is not None and cut.number >= end:
            return False
    probe = state.probes.get(shard)
    return not (probe is not None and probe.drained and probe.since <= cut)


def moment(state: StreamState, shard: ShardId, cut: Cut) -> float | None:
    """Unix seconds at which the stream reached this cut, as far as number and store tell."""
    life = state.lineage.life(shard)
    if life is None:
        return None
    if cut.rank is START.rank:
        since: float | None = life.opened
    elif cut.rank is INSIDE:
        since = cut.time if cut.by_time else state.memo.once(_written, state, cut.number)
    else:
        return state.now if state.lineage.is_open(shard) else life.closed
    if cut.quiet is None or since is None:
        return cut.quiet if since is None else since
    return max(since, cut.quiet)


def _written(_state: StreamState, number: int) -> int | None:
    return time_of(number)


def _near_its_close(state: StreamState, shard: ShardId, cut: Cut) -> bool:
    """Whether a closed shard has a position just before its close."""
    life, probe = state.lineage.life(shard), state.probes.get(shard)
    if life is None or life.closed is None or cut.rank is not INSIDE:
        return False
    if probe is not None and not probe.drained:
        return False
    written = moment(state, shard, cut)
    return written is not None and life.closed - written <= GRACE


def _in_order(state: StreamState, shards: frozenset[ShardId]) -> tuple[ShardId, ...]:
    """Listed shards in the order of their birth."""
    return tuple(sorted(shards, key=state.memo(_ranks, state).__getitem__))


def _ranks(state: StreamState) -> dict[ShardId, int]:
    """The listed shards, numbered in the order of their birth."""
    return {shard: rank for rank, shard in enumerate(in_birth_order(state.lineage))}


_NOBODY: frozenset[ShardId] = frozenset()


class Reading:
    """One start. Nothing is ordered that is not below a shard with unread records.

    loose: the unread ancestors that a shard does not wait for, where it has some. done: the shards
    of which no end is marked, and that look as if read to it. in_families: whether every shard
    waits for parents alone, so that nothing above or beside them matters to it.
    """

    def __init__(
        self, state: StreamState, processed: Frontier, run: Simulation,
        before: Reading | None = None, anew: AbstractSet[ShardId] = frozenset(),
    ) -> None:
        """A start. before: another one, which differs from it at most in the shards `anew`.

        They hold all shards below each of them, and those that only the other start knows.
        """
        self._state, self._processed, self._run = state, processed, run
        fates = run.fates
        if before is None:
            self._ended, self._ready = set[ShardId](), set[ShardId]()
            self._unread, self.done = set[ShardId](), set[ShardId]()
            self._below = set[ShardId]()
            self._gating = dict[ShardId, frozenset[ShardId]]()
            self.loose = dict[ShardId, frozenset[ShardId]]()
        else:
            fates = {shard: fate for shard, fate in fates.items() if shard in anew}
            self._ended, self._ready = before._ended - anew, before._ready - anew
            self._unread, self.done = before._unread - anew, before.done - anew
            self._below = before._below - anew
            self._gating = {s: by for s, by in before._gating.items() if s not in anew}
            self.loose = {s: by for s, by in before.loose.items() if s not in anew}
        so_before = before is None or before.in_families
        self.in_families: bool = so_before and self._in_families(fates)
        waiting = self._begun(fates)
        while waiting and len(left := self._begun(waiting)) < len(waiting):
            waiting = left
        self._unread |= {shard for shard, fate in fates.items() if self._is_unread(shard, fate)}
        self.done |= {shard for shard, fate in fates.items() if self._is_done(shard, fate)}
        self._undone = self._unread - self.done
        below = self._below_unread(fates)
        if not self._gating and any(not awaited(f).issuperset(parents) for _, parents, f in below):
            below = self._below_unread(run.fates)  # until now all waited for all of their parents
            self._hold_back(below)
        elif self._gating:
            self._hold_back(below)

    def _in_families(self, fates: Mapping[ShardId, Fate]) -> bool:
        lineage = self._state.lineage
        return all(
            after.issubset(lineage.parents(shard) + lineage.unlisted_parents(shard))
            for shard, fate in fates.items() if (after := awaited(fate))
        )

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

    def _is_unread(self, shard: ShardId, fate: Fate) -> bool:
        """Whether a closed shard that starts has records which are neither processed nor passed."""
        lineage = self._state.lineage
        if not isinstance(fate, WillRead) or fate.at.lo.rank is DONE.rank:
            return False
        if shard not in self._ready or shard not in lineage or lineage.is_open(shard):
            return False
        at, span = fate.at.lo, self._processed.get(shard)
        sure = START if span is None else span.lo
        return has_unread(self._state, shard, at if at is sure else max(sure, at))

    def _is_done(self, shard: ShardId, fate: Fate) -> bool:
        if not isinstance(fate, WillRead) or fate.cause is not Cause.UNMARKED:
            return False
        return _near_its_close(self._state, shard, fate.at.lo)

    def _below_unread(
        self, fates: Mapping[ShardId, Fate]
    ) -> list[tuple[ShardId, tuple[ShardId, ...], Fate]]:
        """Descendants of shards with unread records, with their parents; parents first."""
        if not self._unread:
            return []
        parents_of, below = self._state.lineage.parents, []
        reached = self._below | self._unread
        for shard, fate in fates.items():
            parents = parents_of(shard)
            if parents and not reached.isdisjoint(parents):
                reached.add(shard)
                below.append((shard, parents, fate))
        self._below.update(shard for shard, _, _ in below)
        return below

    def _hold_back(self, below: list[tuple[ShardId, tuple[ShardId, ...], Fate]]) -> None:
        sibling: tuple[ShardId, tuple[ShardId, ...], frozenset[ShardId]] | None = None
        for shard, parents, fate in below:
            after = awaited(fate)
            if sibling and sibling[1:] == (parents, after):
                earlier = sibling[0]  # siblings follow one another
                self._gating[shard], self.loose[shard] = self._gating[earlier], self.loose[earlier]
                continue
            sibling = (shard, parents, after)
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

    def blocking(self, fate: Fate) -> tuple[ShardId, ...]:
        """The shards that a fate waits for and that never end."""
        after = awaited(fate)
        return tuple(p for p in in_birth_order(after) if p not in self._ended) if after else ()

    def beside(self, loose: frozenset[ShardId]) -> tuple[tuple[ShardId, ...], bool]:
        """Unread ancestors in the order of birth, and whether some are unread for certain."""
        by = self._state.memo.once(_in_order, self._state, loose)
        return by, not self._undone.isdisjoint(loose)
