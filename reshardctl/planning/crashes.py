"""Crashes of a start: the one at an expired position, and what else it would do without a crash."""

from __future__ import annotations

import dataclasses

from msgspec.structs import replace

from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cause,
    Crash,
    Fate,
    Frontier,
    ShardId,
    Simulation,
    TargetFrontier,
    WillRead,
    awaited,
    exactly,
)
from reshardctl.planning.effects import (
    Effect,
    Harm,
    StreamState,
    effects,
    gone,
    has_unread,
    moment,
)


def aged(state: StreamState, run: Simulation) -> Simulation:
    """The same simulation at this time: some consumers crash on an expired position."""
    old = _too_old(state, run) if run.crashes_when_expired and run.crash is None else []
    if not old:
        return run
    why = "records after the position may be past the stream's retention, which crashes it"
    until = "it is started without minding what is lost"
    return replace(run, crash=Crash(why, until, cause=Cause.EXPIRED, by=tuple(old)))


def _too_old(state: StreamState, run: Simulation) -> list[ShardId]:
    """Shards that continue at a position before the horizon; reads since are unknown to them."""
    horizon = state.now - state.lineage.stream.retention
    shards = []
    for shard, fate in run.fates.items():
        if not isinstance(fate, WillRead) or fate.cause is not Cause.POSITION:
            continue
        if fate.at.lo == START and fate.at.lo.quiet is None:
            continue
        written = moment(state, shard, fate.at.lo)
        if (
            written is not None
            and written < horizon
            and has_unread(dataclasses.replace(state, probes={}), shard, fate.at.lo)
        ):
            shards.append(shard)
    return shards


_OF_ROWS = (
    Cause.UNREADABLE, Cause.AT_END, Cause.FOREIGN_NUMBER, Cause.CLOCK_AHEAD, Cause.KNOWN_CHILD,
)
"""Causes by which a single row crashes the consumer."""


def beside_the_crash(
    state: StreamState, want: TargetFrontier, processed: Frontier, run: Simulation
) -> list[Effect]:
    """Effects of the other rows, as if the rows that crash the consumer were repaired.

    It crashes on one row at a time, but all of them have effects. What expired with the shards that
    it crashes at is lost however it is started.
    """
    crash = run.crash
    if crash is None:
        return []
    asked = dict.fromkeys(
        s for each in (crash, *crash.others) if each.cause is Cause.GONE for s in each.by
    )
    lost = [gone(shard, want.get(shard, START)) for shard in asked if want.get(shard) != DONE]
    if not crash.by or crash.cause not in _OF_ROWS:
        return lost
    mended = {
        shard: _mended(state.lineage, shard, run.fates[shard], want, each.until)
        for each in (crash, *crash.others) if each.cause is not Cause.KNOWN_CHILD
        for shard in each.by if shard in run.fates
    }
    lived = replace(run, crash=None, fates={**run.fates, **mended})
    return lost + [
        e for e in effects(state, want, processed, lived)
        if e.harm is not Harm.DISORDERED and mended.keys().isdisjoint({e.shard, *e.by})
    ]


def _mended(
    lineage: Lineage, shard: ShardId, fate: Fate, want: TargetFrontier, why: str
) -> WillRead:
    is_open = shard in lineage and lineage.is_open(shard)
    until = TIP if is_open else DONE
    at = exactly(want.get(shard, START))
    return WillRead(at, until, awaited(fate), not is_open, Cause.POSITION, why)
