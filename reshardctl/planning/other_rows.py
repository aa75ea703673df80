"""Cost of the other rows, for a consumer that crashes on some of its rows."""

from __future__ import annotations

from dataclasses import replace

from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cause,
    Fate,
    Frontier,
    ShardId,
    Simulation,
    TargetFrontier,
    WillRead,
    awaited,
    exactly,
)
from reshardctl.planning.effects import Effect, Harm, StreamState, effects

_OF_ROWS = (
    Cause.UNREADABLE, Cause.AT_END, Cause.FOREIGN_NUMBER, Cause.CLOCK_AHEAD, Cause.KNOWN_CHILD,
)
"""Causes by which a single row crashes the consumer."""


def beside_the_crash(
    state: StreamState, want: TargetFrontier, processed: Frontier, run: Simulation
) -> list[Effect]:
    """Effects of the other rows, as if the rows that crash the consumer were repaired.

    It crashes on one row at a time, but all of them have effects.
    """
    crash = run.crash
    if crash is None or not crash.by or crash.cause not in _OF_ROWS:
        return []
    mended = {
        shard: _mended(state.lineage, shard, run.fates[shard], want, crash.until)
        for shard in crash.by if shard in run.fates and crash.cause is not Cause.KNOWN_CHILD
    }
    lived = replace(run, crash=None, fates={**run.fates, **mended})
    return [
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
