"""What the other rows of a consumer would cost that dies of some of them."""

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
    exactly,
)
from reshardctl.planning.effects import Effect, Harm, StreamState, effects

_OF_ROWS = (Cause.UNREADABLE, Cause.AT_END, Cause.FOREIGN_NUMBER, Cause.KNOWN_CHILD)
"""What single rows kill a consumer by."""


def beside_the_crash(
    state: StreamState, want: TargetFrontier, processed: Frontier, run: Simulation
) -> list[Effect]:
    """What a consumer that dies of some rows would skip, leave or read again of the others, these
    rows being mended: it dies of one thing at a time, and all of them are there."""
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
    after = fate.after if isinstance(fate, WillRead) else fate.waits_for
    is_open = shard in lineage and lineage.is_open(shard)
    until = TIP if is_open else DONE
    at = exactly(want.get(shard, START))
    return WillRead(at, until, after, not is_open, Cause.POSITION, why)
