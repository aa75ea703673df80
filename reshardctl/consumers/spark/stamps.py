"""Times and watermarks in the second line of an offset log.

Sources: OffsetSeqMetadata of Spark 3.3 to 4.3; checkpoints of runs on 3.3.4 to 4.3.0.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from reshardctl.consumers.spark.checkpoint import Batch, Checkpoint
from reshardctl.consumers.spark.conf import TIMESTAMP, WATERMARK, with_times
from reshardctl.consumers.spark.json4s import long_of, members_of
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.offset_log import OffsetLog

LATEST_TIME = 253_402_300_800_000
"""The year 10000 in Unix milliseconds: no clock has said that."""


def planned_at(batch: Batch) -> float | None:
    """Unix seconds at which the batch was planned, `None` where the log does not say."""
    stamp = _whole(batch.log.metadata, TIMESTAMP)
    return stamp / 1000 if 0 < stamp < LATEST_TIME else None


def watermark(checkpoint: Checkpoint) -> int:
    """The watermark (Unix milliseconds, 0: none): the newest batch's or commit's, if higher."""
    newest = checkpoint.newest
    batch = checkpoint.batches.get(newest) if newest is not None else None
    planned = _whole(batch.log.metadata, WATERMARK) if batch is not None else 0
    handed = max(checkpoint.commits) if checkpoint.commits else None
    return max(planned, checkpoint.commits[handed].watermark if handed is not None else 0)


@lru_cache(maxsize=256)
def _whole(metadata: str, name: str) -> int:
    try:
        return long_of(members_of(metadata, "line 2"), name)
    except Malformed:
        return 0


def with_watermark(checkpoint: Checkpoint, batch: Batch) -> OffsetLog:
    """The log of a committed batch with the watermark that its commit hands on to the next."""
    handed = checkpoint.commits.get(batch.id)
    planned = _whole(batch.log.metadata, WATERMARK)
    if handed is None or handed.watermark <= planned:
        return batch.log
    stamp = _whole(batch.log.metadata, TIMESTAMP)
    return replace(batch.log, metadata=with_times(batch.log.metadata, stamp, handed.watermark))
