"""The position of one shard at a time, read from the stream."""

from __future__ import annotations

from typing import cast

from reshardctl.errors import CannotTell, UsageError
from reshardctl.model import START, PositionAtTime, ShardId
from reshardctl.model.times import instant
from reshardctl.planning.effects import StreamState
from reshardctl.snapshot.resolve_policy import Records


def at_time(
    state: StreamState, stream: object, shard: ShardId, time: float, what: str
) -> PositionAtTime:
    """The cut before the first record that arrived at or after the time (Unix seconds).

    The shard's beginning, if it opened later or the stream keeps nothing so old. what: the request,
    for messages. UsageError if the stream is a snapshot, CannotTell if the allowed reads did not
    suffice.
    """
    opened = state.lineage.opened_at(shard)
    if (opened is not None and opened >= time) or time < state.now - state.lineage.stream.retention:
        return PositionAtTime(START)
    if not hasattr(stream, "places"):
        raise UsageError(
            f"{what} has to read records, and a snapshot holds none",
            "name the consumer and --stream instead",
        )
    arn = state.lineage.stream.arn
    position = cast("Records", stream).places(arn, {shard: opened}, time)[shard]
    if position is None:
        raise CannotTell(
            f"{what}: where {shard} stood at {instant(time)} was not found within the reads "
            "allowed", "allow more: --probe-budget calls=10000,time=10m",
        )
    return position
