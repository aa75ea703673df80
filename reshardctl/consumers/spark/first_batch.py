"""kinesis-lineage: where the first batch begins each shard, and starts that the source refuses.

Until a batch is planned, startingPosition says it (docs/source.md). JSON has to say of every listed
shard that waits for no parent where it begins: a named shard's ancestors are skipped, and its
descendants wait for it. The source refuses anything else when it plans the first batch, and at
every start after that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from reshardctl.consumers.spark.marks import is_refused
from reshardctl.consumers.spark.positions import (
    AT_SEQUENCE_NUMBER,
    LATEST,
    SHARD_END,
    TRIM_HORIZON,
    Position,
    cut_of,
)
from reshardctl.consumers.spark.releases import App, Start
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, TIP, Cut, ShardId, at_time, short

LATE = 60.0
"""Seconds after a shard's close within which the source still looks for records in it."""


class FirstBatch(Struct, frozen=True):
    """Where the first batch begins.

    Attributes:
        cuts: The first cut by shard; shards without one begin when their parents have ended.
        refused: Why the source refuses startingPosition, "" where it takes it.
    """

    cuts: Mapping[ShardId, Cut]
    refused: str = ""


def first_batch(lineage: Lineage, app: App) -> FirstBatch:
    """Where the first batch begins, by startingPosition."""
    if app.named is not None:
        refused = next(_refused_names(lineage, app.named), "")
        return FirstBatch({}, refused) if refused else _by_name(lineage, app.named)
    if app.initial is Start.TRIM_HORIZON:
        return FirstBatch(dict.fromkeys(lineage.roots(), START))
    if app.initial is Start.LATEST:
        return FirstBatch({s: TIP if lineage.is_open(s) else DONE for s in lineage})
    return FirstBatch(_since(lineage, app.time or 0.0))


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


def _refused_names(lineage: Lineage, starts: Mapping[ShardId, Position]) -> Iterator[str]:
    """What is wrong with single starts, whatever the others are."""
    for shard, start in starts.items():
        what = f"startingPosition of {shard}"
        if shard not in lineage:
            yield f"startingPosition names shard {short(shard)}, which is not listed"
        elif start.kind == SHARD_END and lineage.is_open(shard):
            yield f"startingPosition says SHARD_END for shard {short(shard)}, which is open"
        elif start.kind == AT_SEQUENCE_NUMBER:
            yield f"{what} is {start.kind}, which the source does not know"
        elif is_refused(lineage, shard, start):
            yield f"{what}: {start.value} is no number of a record of it"


def _by_name(lineage: Lineage, starts: Mapping[ShardId, Position]) -> FirstBatch:
    """Starts by name, with the first shard that none of them covers."""
    cuts: dict[ShardId, Cut] = {}
    above, below = lineage.ancestors(*starts), lineage.descendants(*starts)
    for shard in lineage:
        start = starts.get(shard)
        unread = [p for p in lineage.parents(shard) if cuts.get(p) != DONE]
        if unread and start is not None and start.kind != TRIM_HORIZON:
            return FirstBatch({}, (
                f"startingPosition has shard {short(shard)} start after its beginning, though its "
                f"parent {short(unread[0])} has unread records"
            ))
        if unread:
            continue
        if start is not None:
            skips = start.kind == LATEST and not lineage.is_open(shard)
            cuts[shard] = DONE if skips else cut_of(start)
        elif not lineage.is_open(shard) and shard in above:
            cuts[shard] = DONE
        elif shard not in below:
            why = f"startingPosition does not say where shard {short(shard)} begins"
            return FirstBatch({}, why)
    return FirstBatch(cuts)
