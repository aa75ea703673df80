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
    """By shard; those that are not named begin when their parents have ended."""
    if app.named is not None:
        return _named(lineage, app.named)
    if app.initial is Start.TRIM_HORIZON:
        return dict.fromkeys(lineage.roots(), START)
    if app.initial is Start.LATEST:
        return dict.fromkeys(lineage, TIP)
    return _since(lineage, app.time or 0.0)


def _since(lineage: Lineage, then: float) -> dict[ShardId, Cut]:
    """A shard that had closed by then is over; one whose parents are not waits for them."""
    found: dict[ShardId, Cut] = {}
    for shard in lineage:
        if any(found.get(parent) != DONE for parent in lineage.parents(shard)):
            continue
        closed = lineage.closed_at(shard)
        over = not lineage.is_open(shard) and closed is not None and closed + LATE < then
        found[shard] = DONE if over else at_time(then)
    return found


def _named(lineage: Lineage, starts: Mapping[ShardId, Position]) -> dict[ShardId, Cut]:
    """Ancestors of a shard that is named are over, its descendants wait for it."""
    found: dict[ShardId, Cut] = {}
    for shard in lineage:
        if any(found.get(parent) != DONE for parent in lineage.parents(shard)):
            continue
        if shard in starts:
            found[shard] = cut_of(starts[shard])
        elif not lineage.is_open(shard) and lineage.descendants(shard) & starts.keys():
            found[shard] = DONE
    return found
