"""The connector's own log of a batch, beside Spark's."""

from __future__ import annotations

from reshardctl.consumers.spark.checkpoint import AWSLABS, QUBOLE, Batch, Checkpoint
from reshardctl.consumers.spark.positions import SHARD_END
from reshardctl.model import ShardId

KEEPING = frozenset({AWSLABS, QUBOLE})
"""Connectors whose offsets are starts; their own log says where a batch ended."""


def log_of(batch: Batch) -> int:
    """The id of a batch in the connector's log: the one in its line, not Spark's."""
    return batch.id if batch.batch_id is None else batch.batch_id


def written_over(batch: Batch, connector: str, name: str) -> bool:
    """Whether a file in the log of the newest batch is overwritten before anything reads it.

    Qubole runs a planned batch again without reading its log, and overwrites the file of each shard
    that is not at its end there (KinesisSource.getBatch, HDFSMetadataCommitter.add). A query that
    was stopped while it wrote leaves an empty file.
    """
    start = batch.positions.get(ShardId(name))
    over = start is not None and start.kind != SHARD_END
    return connector == QUBOLE and not batch.committed and over


def log_elsewhere(checkpoint: Checkpoint) -> bool:
    """Whether the connector's log is in a DynamoDB table, under another path, or lost.

    One committed batch is enough to know, for its log was written before the commit: an uncommitted
    newest batch begins where that log says that the previous one ended. Qubole's newest batch names
    all its starts in its offset: a batch that started at the same positions read nothing, and its
    log would say no more (`rebuild` writes such checkpoints).
    """
    folder = checkpoint.log_folder(0).rpartition("/")[0]
    if not folder or any(key.startswith(f"{folder}/") for key in checkpoint.images):
        return False
    return any(
        batch.committed and batch.begun and not _read_nothing(checkpoint, batch)
        for batch in checkpoint.batches.values()
    )


def _read_nothing(checkpoint: Checkpoint, batch: Batch) -> bool:
    newest = checkpoint.batches.get(checkpoint.newest or 0)
    if checkpoint.connector != QUBOLE or newest is None or newest.committed or newest.broken:
        return False
    return batch.positions == newest.positions
