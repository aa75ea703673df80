"""Edits a planned batch in place: the query runs it again, from the new starts."""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.consumers.spark.append import LINES, unblocked, wiped
from reshardctl.consumers.spark.checkpoint import QUBOLE, Batch, Checkpoint
from reshardctl.consumers.spark.files import replaced
from reshardctl.consumers.spark.logs import log_of
from reshardctl.consumers.spark.positions import SHARD_END, Position
from reshardctl.consumers.spark.releases import Traits
from reshardctl.model import ShardId, Step


def edited(
    checkpoint: Checkpoint, batch: Batch, places: Mapping[ShardId, Position], traits: Traits
) -> list[Step]:
    """Removes the batch's log, then edits its line; without a log the batch runs as planned.

    For a batch of Qubole's that reads no shard the log is removed last: such a batch writes no log,
    and without one the next batch crashes.
    """
    log = log_of(batch)
    line = LINES[checkpoint.connector](checkpoint.stream_name, log, places, traits.scala)
    steps = [*wiped(checkpoint, log)]
    text = batch.log.replacing(checkpoint.source, line).text()
    if batch.image.attributes.get("text") != {"S": text}:
        why = f"batch {batch.id} is planned and not committed: {len(places)} shards, their starts"
        edit = Step(f"plan batch {batch.id} again", (replaced(batch.image, text, why),))
        reads = any(position.kind != SHARD_END for position in batch.positions.values())
        last = checkpoint.connector == QUBOLE and not reads
        steps = [edit, *steps] if last else [*steps, edit]
    return [*unblocked(checkpoint, batch.id), *steps]
