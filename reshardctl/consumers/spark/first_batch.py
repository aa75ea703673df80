"""kinesis-lineage: where the first batch begins, by startingPosition (docs/source.md)."""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.consumers.spark.app import App, Start
from reshardctl.consumers.spark.cuts import cut_of
from reshardctl.consumers.spark.positions import Position
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, TIP, Cut, ShardId, at_time

LATE = 60.0
"""Seconds after a shard's close within which the source still looks for records in it."""


def first_cuts(lineage: Lineage, app: App) -> dict[ShardId, Cut]:
    """The first cut by shard; shards without one begin when their parents have ended."""
    if app.named is not None:
        return _named(lineage, app.named)
    if app.initial is Start.TRIM_HORIZON:
        return dict.fromkeys(lineage.roots(), START)
    if app.initial is Start.LATEST:
        return dict.fromkeys(lineage, TIP)
    return _since(lineage, app.time or 0.0)


def _since(lineage: Lineage, then: float) -> dict[ShardId, Cut]:
    """Starts by time: shards closed before it are processed, others wait for their parents."""
    cuts: dict[ShardId, Cut] = {}
    for shard in lineage:
        if any(cuts.get(parent) != DONE for parent in lineage.parents(shard)):
            continue
        closed = lineage.closed_at(shard)
        over = not lineage.is_open(shard) and closed is not None and closed + LATE < then
        cuts[shard] = DONE if over else at_time(then)
    return cuts


def _named(lineage: Lineage, starts: Mapping[ShardId, Position]) -> dict[ShardId, Cut]:
    """Starts by name: ancestors of a named shard are processed, its descendants wait for it."""
    cuts: dict[ShardId, Cut] = {}
    for shard in lineage:
        if any(cuts.get(parent) != DONE for parent in lineage.parents(shard)):
            continue
        if shard in starts:
            cuts[shard] = cut_of(starts[shard])
        elif not lineage.is_open(shard) and lineage.descendants(shard) & starts.keys():
            cuts[shard] = DONE
    return cuts
