"""The frontier at which a query without a checkpoint begins.

LATEST is fixed: a shard's tip at the planning of the first batch is written into that batch's
offset as a number, and every shard that is created later is read from its start.
"""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.errors import UsageError
from reshardctl.kinesis.fast import Begin
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, short
from reshardctl.spark.source.offset import OffsetPosition
from reshardctl.spark.source.starting import (
    AFTER_SEQUENCE_NUMBER,
    AT_TIMESTAMP,
    LATEST,
    SHARD_END,
    TRIM_HORIZON,
    Start,
    Starting,
)

_LATE = 60.0
"""Seconds after a shard's close within which its last record may still arrive; 0.3 to 2.5 s were
seen between a number's time and the arrival."""
_DONE = OffsetPosition(end=True)


def opening(lineage: Lineage, starting: Starting, now: float) -> dict[ShardId, OffsetPosition]:
    """Where each shard begins that does not wait for its parents.

    Shards at LATEST are `to_pin`. A finished position is a mark: nothing of that shard is read.
    Raises UsageError if `starting` contradicts the listing.
    """
    if starting.everywhere is None:
        return _named(lineage, starting.shards)
    match starting.everywhere.kind:
        case "LATEST":
            return {s: OffsetPosition() if lineage.is_open(s) else _DONE for s in lineage}
        case "AT_TIMESTAMP":
            return _since(lineage, float(starting.everywhere.value or 0), now)
        case _:
            return {shard: OffsetPosition() for shard in lineage.roots()}


def to_pin(lineage: Lineage, starting: Starting) -> set[ShardId]:
    """Open shards that begin at their tip."""
    if starting.everywhere is not None:
        return set(lineage.open_shards()) if starting.everywhere.kind == LATEST else set()
    at_tip = (s for s, start in starting.shards.items() if start.kind == LATEST)
    return {s for s in at_tip if lineage.is_open(s)}


def first_begin(starting: Starting, shard: ShardId, position: OffsetPosition) -> Begin | None:
    """Where the first batch begins in a shard, if it reads it; by options and stored offset."""
    start = starting.everywhere or starting.shards.get(shard)
    if start is None or start.kind in (LATEST, SHARD_END):
        return None
    if start.kind == AT_TIMESTAMP:
        if position.end and position.since is None and not position.seq:
            return None
        return Begin("AT_TIMESTAMP", start.value)
    if start.kind == AFTER_SEQUENCE_NUMBER:
        return Begin("AFTER_SEQUENCE_NUMBER", start.value)
    return Begin("TRIM_HORIZON")


def begin_of(position: OffsetPosition) -> Begin:
    """Where a batch that starts at this position reads from."""
    if position.seq:
        return Begin("AFTER_SEQUENCE_NUMBER", position.seq)
    if position.since is not None:
        return Begin("AT_TIMESTAMP", position.since)
    return Begin("TRIM_HORIZON")


def _since(lineage: Lineage, then: float, now: float) -> dict[ShardId, OffsetPosition]:
    """The frontier at a time: shards closed before it have ended, those created later wait."""
    if then > now + _LATE:
        raise UsageError("startingPosition lies in the future", "give a time that has passed")
    positions: dict[ShardId, OffsetPosition] = {}
    for shard in lineage:
        parents = lineage.parents(shard)
        if any(positions.get(parent) != _DONE for parent in parents):
            continue
        closed = lineage.closed_at(shard)
        over = not lineage.is_open(shard) and closed is not None and closed + _LATE < then
        positions[shard] = _DONE if over else OffsetPosition(since=then)
    return positions


def _named(lineage: Lineage, starts: Mapping[ShardId, Start]) -> dict[ShardId, OffsetPosition]:
    """The frontier by shard; ancestors of a named shard have ended, descendants wait for it."""
    for shard, start in starts.items():
        if shard not in lineage:
            raise UsageError(
                f"startingPosition names shard {short(shard)}, which is not listed",
                f"aws kinesis list-shards --stream-name {lineage.stream.name}",
            )
        if start.kind == SHARD_END and lineage.is_open(shard):
            what = f"startingPosition says SHARD_END for shard {short(shard)}, which is open"
            raise UsageError(what, "say TRIM_HORIZON, LATEST or its last number read")
    positions: dict[ShardId, OffsetPosition] = {}
    waits: set[ShardId] = set()
    for shard in lineage:
        parents = lineage.parents(shard)
        unread = [p for p in parents if p in waits or not positions.get(p, _DONE).end]
        if unread:
            waits.add(shard)
            _may_wait(shard, starts.get(shard), unread)
        elif shard in starts:
            positions[shard] = _place(lineage, shard, starts[shard])
        elif not lineage.is_open(shard) and lineage.descendants(shard) & starts.keys():
            positions[shard] = _DONE
        elif lineage.ancestors(shard) & starts.keys():
            waits.add(shard)
        else:
            raise UsageError(
                f"startingPosition does not say where shard {short(shard)} begins",
                'add it: "TRIM_HORIZON", "LATEST" or its last number read',
            )
    return positions


def _place(lineage: Lineage, shard: ShardId, start: Start) -> OffsetPosition:
    if start.kind == SHARD_END or (start.kind == LATEST and not lineage.is_open(shard)):
        return _DONE
    if start.kind == AT_TIMESTAMP:
        return OffsetPosition(since=float(start.value or 0))
    if start.kind == AFTER_SEQUENCE_NUMBER:
        return OffsetPosition(seq=str(start.value))
    return OffsetPosition()


def _may_wait(shard: ShardId, start: Start | None, unread: list[ShardId]) -> None:
    if start is not None and start.kind != TRIM_HORIZON:
        raise UsageError(
            f"startingPosition has shard {short(shard)} start after its beginning, though its "
            f"parent {short(unread[0])} has unread records",
            f'say "SHARD_END" for shard {short(unread[0])}, or leave shard {short(shard)} out',
        )
