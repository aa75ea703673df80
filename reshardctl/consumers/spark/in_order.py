"""Plans a batch for each generation of shards, parents first, where `order=parents-first` asks.

A batch does not order its records. So the first batch is planned now, and each other one waits for
the commit of the one before it. In between, the query runs exactly one batch (Trigger.Once) and is
stopped again; if it continued, the children would begin at startingPosition (runs of the three
connectors, November 2026: "parents first (once), then the children").
"""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.consumers.spark.append import LINES, appended
from reshardctl.consumers.spark.checkpoint import Batch, Checkpoint
from reshardctl.consumers.spark.files import created
from reshardctl.consumers.spark.in_place import edited
from reshardctl.consumers.spark.logs import log_of
from reshardctl.consumers.spark.positions import Position
from reshardctl.consumers.spark.releases import Traits
from reshardctl.consumers.spark.stamps import with_watermark
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, Step

Places = Mapping[ShardId, Position]


def planned(
    lineage: Lineage, checkpoint: Checkpoint, batch: Batch, places: Places, app_traits: Traits,
    parents_first: bool,
) -> list[Step]:
    """One batch with all of these starts, or one for each generation."""
    first, *others = generations(lineage, places) if parents_first else [places]
    if not batch.committed:
        steps = edited(checkpoint, batch, first, app_traits)
    else:
        steps = appended(checkpoint, batch, first, app_traits)
    number = batch.id + batch.committed
    shift = log_of(batch) - batch.id
    for further, starts in enumerate(others, number + 1):
        line = LINES[checkpoint.connector](
            checkpoint.stream_name, further + shift, starts, app_traits.scala
        )
        text = with_watermark(checkpoint, batch).replacing(checkpoint.source, line).text()
        why = f"plans batch {further}: {len(starts)} shards, once their parents have been read"
        write = created(f"offsets/{further}", text, batch.image, why)
        title = f"plan batch {further}, when batch {further - 1} has run, alone (Trigger.Once)"
        steps.append(Step(title, (write,), barrier=f"commits/{further - 1}"))
    return steps


def generations(lineage: Lineage, places: Places) -> list[Places]:
    """Groups of shards, ancestors before descendants; shards without descendants come last."""
    left: dict[ShardId, Position] = dict(places)
    groups: list[Places] = []
    while True:
        above = {s for shard in left for s in lineage.ancestors(shard) if s in left}
        now = {s for s in above if not (lineage.ancestors(s) & left.keys())}
        if not now:
            return [*groups, left]
        groups.append({shard: left.pop(shard) for shard in places if shard in now})
