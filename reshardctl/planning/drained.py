"""Shards that were read to their end without being marked as ended."""

from __future__ import annotations

from reshardctl.lineage import Lineage
from reshardctl.model import DONE, Cause, ShardId, Simulation, WillRead
from reshardctl.planning.effects import GRACE, StreamState


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
