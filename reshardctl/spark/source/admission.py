"""Which shards the next batch reads: a child one batch after all its parents.

The partitions of one batch run in no order, so a child is never in the batch that ends its parent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from reshardctl.consumers.related_shards import ancestors_of
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.spark.source.offset import OffsetPosition


def entrants(lineage: Lineage, places: Mapping[ShardId, OffsetPosition]) -> list[ShardId]:
    """Listed shards without a position that may start, parents first.

    A listed ancestor of a shard in the offset has been read, with a mark or without. An unlisted
    parent without a mark has ended: nothing of it is left to wait for.
    """
    had = processed(lineage, places)

    def over(parent: ShardId) -> bool:
        if (position := places.get(parent)) is not None:
            return position.end
        return parent in had or parent not in lineage

    return [
        shard
        for shard in lineage
        if shard not in places
        and shard not in had
        and all(map(over, lineage[shard].parents))
    ]


def entry(
    lineage: Lineage, places: Mapping[ShardId, OffsetPosition], shard: ShardId
) -> OffsetPosition:
    """Where an entering shard begins: at its start, or at a parent's start time.

    That is the time of a parent of which no record has been read, if it is later.
    """
    parents = [position for s in lineage[shard].parents if (position := places.get(s)) is not None]
    since = max((p.since for p in parents if p.since is not None), default=None)
    born = lineage.opened_at(shard)
    if since is None or (born is not None and born >= since):
        return OffsetPosition()
    return OffsetPosition(since=since)


def processed(lineage: Lineage, places: Mapping[ShardId, OffsetPosition]) -> set[ShardId]:
    """Listed ancestors of the shards in the offset."""
    return ancestors_of(lineage, places)


def kept(
    lineage: Lineage, places: Mapping[ShardId, OffsetPosition]
) -> dict[ShardId, OffsetPosition]:
    """The positions without marks of finished shards that are not needed any more.

    A mark is needed while its shard is listed, so that the shard is not taken for a new one, and
    while a child is not in the offset, so that the child's parent is known to have ended.
    """
    return {
        shard: position for shard, position in places.items() if _needed(lineage, places, shard)
    }


def _needed(lineage: Lineage, places: Mapping[ShardId, OffsetPosition], shard: ShardId) -> bool:
    if not places[shard].end or shard in lineage:
        return True
    return any(child not in places for child in lineage.children(shard))


def unlisted_parents(
    lineage: Lineage, places: Mapping[ShardId, OffsetPosition], entering: Collection[ShardId]
) -> Iterator[tuple[ShardId, ShardId]]:
    """Pairs of an entering shard and an unlisted parent that has no mark."""
    for shard in entering:
        for parent in lineage[shard].parents:
            if parent not in lineage and parent not in places:
                yield shard, parent
