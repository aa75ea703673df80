"""Appends one planned batch after a committed one; no existing file is replaced.

Two leftovers have to be removed first: a log of the new batch (awslabs takes it for a crashed run's
and ends the batch at its positions) and orphaned checksums (Spark could not write the files they
belong to).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reshardctl.consumers.spark.checkpoint import Batch, Checkpoint
from reshardctl.consumers.spark.files import created, removed
from reshardctl.consumers.spark.lines import awslabs, qubole
from reshardctl.consumers.spark.logs import log_of
from reshardctl.consumers.spark.positions import Position
from reshardctl.consumers.spark.releases import Traits
from reshardctl.consumers.spark.stamps import with_watermark
from reshardctl.model import ShardId, Step

LINES = {awslabs.NAME: awslabs.line, qubole.NAME: qubole.line}


def appended(
    checkpoint: Checkpoint, batch: Batch, places: Mapping[ShardId, Position], traits: Traits
) -> list[Step]:
    """Removes stale files, then writes the batch."""
    number, log = batch.id + 1, log_of(batch) + 1
    line = LINES[checkpoint.connector](checkpoint.stream_name, log, places, traits.scala)
    text = with_watermark(checkpoint, batch).replacing(checkpoint.source, line).text()
    why = f"plans batch {number}: {len(places)} shards with their starts; the next start runs it"
    return [
        *_stale(checkpoint, number, log),
        Step(
            f"plan batch {number}", (created(f"offsets/{number}", text, batch.image, why),)
        ),
    ]


def _stale(checkpoint: Checkpoint, number: int, log: int) -> Iterator[Step]:
    """Removes leftovers of the batch to be planned: its log, checksums without their files."""
    yield from wiped(checkpoint, log)
    yield from unblocked(checkpoint, number)


def unblocked(checkpoint: Checkpoint, number: int) -> Iterator[Step]:
    """Removes checksums without their files, which would keep Spark from writing a batch."""
    for key in (f"offsets/{number}", f"commits/{number}", f"offsets/{number + 1}"):
        if key in checkpoint.orphans:
            why = f"a checksum without its file, which keeps Spark from writing {key}"
            yield Step(f"remove the orphaned checksum of {key}", (removed(
                checkpoint.images[key], why),))


def wiped(checkpoint: Checkpoint, log: int) -> Iterator[Step]:
    """Removes the log of a batch that is not committed, file by file."""
    folder = checkpoint.log_folder(log)
    for key in sorted(checkpoint.images):
        if key.startswith(f"{folder}/") and key != f"{folder}/":
            why = f"the log of batch {log}, which is not committed: its end does not count"
            title = f"remove {key.rpartition('/')[2]} from the log of batch {log}"
            yield Step(title, (removed(checkpoint.images[key], why),))
