"""Positions older than the stream's retention, at which some consumers crash."""

from __future__ import annotations

from dataclasses import replace

from reshardctl.model import START, Cause, Crash, ShardId, Simulation, WillRead
from reshardctl.planning.effects import StreamState, has_unread, moment


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
            and has_unread(replace(state, probes={}), shard, fate.at.lo)
        ):
            shards.append(shard)
    return shards
