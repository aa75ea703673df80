"""A planned batch, edited where it stands: the query runs it again, from the starts in it."""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.consumers.spark.append import LINES, unblocked, wiped
from reshardctl.consumers.spark.checkpoint import Batch, Checkpoint
from reshardctl.consumers.spark.files import replaced
from reshardctl.consumers.spark.logs import log_of
from reshardctl.consumers.spark.positions import Position
from reshardctl.consumers.spark.releases import Traits
from reshardctl.model import ShardId, Step


def edited(
    checkpoint: Checkpoint, batch: Batch, places: Mapping[ShardId, Position], traits: Traits
) -> list[Step]:
    """Its log goes before the edit: without it the batch runs as planned, whatever comes after."""
    log = log_of(batch)
    line = LINES[checkpoint.connector](checkpoint.stream_name, log, places, traits.scala)
    steps = [*unblocked(checkpoint, batch.id), *wiped(checkpoint, log)]
    if batch.log[checkpoint.source] != line:
        text = batch.log.replacing(checkpoint.source, line).text()
        why = f"batch {batch.id} is planned and not committed: {len(places)} shards, their starts"
        steps.append(Step(f"plan batch {batch.id} anew", (replaced(batch.image, text, why),)))
    return steps
