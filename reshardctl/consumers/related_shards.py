"""Shards above and below others in the lineage."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from reshardctl.lineage import Lineage
from reshardctl.model import ShardId


def ancestors_of(lineage: Lineage, shards: Iterable[ShardId]) -> set[ShardId]:
    """The listed ancestors of all of these shards, each visited once."""
    ancestors: set[ShardId] = set()
    todo = list(shards)
    while todo:
        for parent in lineage.parents(todo.pop()):
            if parent not in ancestors:
                ancestors.add(parent)
                todo.append(parent)
    return ancestors


def below(lineage: Lineage, shards: Collection[ShardId]) -> set[ShardId]:
    """The listed descendants of all of these shards, in one pass over the lineage."""
    descendants: set[ShardId] = set()
    for shard in lineage:
        if any(parent in shards or parent in descendants for parent in lineage.parents(shard)):
            descendants.add(shard)
    return descendants


def related_shards(lineage: Lineage, shards: Iterable[ShardId]) -> set[ShardId]:
    """The shards themselves, their ancestors and descendants, and the parents of all of these.

    A proof about the positions of `shards` depends on the positions of these.
    """
    near: set[ShardId] = set()
    for shard in shards:
        near |= {shard} | lineage.ancestors(shard) | lineage.descendants(shard)
    return near | {p for shard in near if shard in lineage for p in lineage[shard].parents}
