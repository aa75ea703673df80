"""Positions that the operator gives: how far they move back, and whether a start holds them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from reshardctl.codec.values import kind_of, number_of
from reshardctl.model import DONE, TIP, Cut, Fate, ShardId, Simulation, WillRead, short
from reshardctl.planning.effects import StreamState, has_unread
from reshardctl.planning.stored_positions import StoredPosition


def times_back(
    state: StreamState, positions: Mapping[ShardId, StoredPosition], back: float
) -> dict[ShardId, float]:
    """The Unix second to which each shard's reading goes back.

    A shard that is read to its end goes back only as far as the shards below it do: not at all if
    they stay after its end.
    """
    lineage, times = state.lineage, dict[ShardId, float]()
    for shard in reversed(list(lineage)):
        position = positions.get(shard)
        if position is None or position.cut is None:
            continue
        if position.cut != DONE:
            time = state.now if position.cut == TIP else position.time
            if time is not None:
                times[shard] = time - back
            continue
        below = [times[child] for child in lineage.children(shard) if child in times]
        closed = lineage.closed_at(shard)
        if below and closed is not None and min(below) < closed:
            times[shard] = min(below)
    return times


def not_held(
    state: StreamState, places: Mapping[ShardId, Cut], leave: Collection[ShardId], run: Simulation
) -> Iterator[tuple[ShardId, str]]:
    """The shards that a start does not read from where they were given, each with the reason."""
    for shard, cut in places.items():
        fate = run.fates.get(shard)
        if shard not in leave and not _held(state, shard, cut, fate):
            yield shard, "it is not read" if fate is None else fate.why


def why_not_held(shards: Mapping[ShardId, str], places: Mapping[ShardId, Cut]) -> str:
    """The reason of a decision, for the first of these shards."""
    shard, why = next(iter(shards.items()))
    more = f", nor those of {len(shards) - 1} more shards" if len(shards) > 1 else ""
    because = f" ({why})" if why else ""
    words = number_of(places[shard]) or kind_of(places[shard])
    return f"the store cannot hold {words} as the position of {short(shard)}{more}{because}"


def _held(state: StreamState, shard: ShardId, cut: Cut, fate: Fate | None) -> bool:
    if cut == DONE:
        return not isinstance(fate, WillRead) or not has_unread(state, shard, fate.at.lo)
    return isinstance(fate, WillRead) and fate.at.lo <= cut and fate.at.hi <= cut
