"""The connector's own log of a batch, beside Spark's."""

from __future__ import annotations

from reshardctl.consumers.spark.checkpoint import AWSLABS, QUBOLE, Batch, Checkpoint
from reshardctl.consumers.spark.positions import SHARD_END
from reshardctl.model import ShardId

KEEPING = frozenset({AWSLABS, QUBOLE})
"""Connectors whose offsets are starts; where a batch ended stands in a log of their own."""


def log_of(batch: Batch) -> int:
    """The connector finds the log of a batch by the id inside its line, not by Spark's."""
    return batch.id if batch.batch_id is None else batch.batch_id


def written_over(batch: Batch, connector: str, name: str) -> bool:
    """Whether a file in the log of the newest batch is written anew before anything reads it.

    Qubole runs a planned batch again without a look at its log, and overwrites the file of each
    shard that is not at its end there (KinesisSource.getBatch, HDFSMetadataCommitter.add). A query
    that was stopped while it wrote leaves an empty one.
    """
    start = batch.positions.get(ShardId(name))
    over = start is not None and start.kind != SHARD_END
    return connector == QUBOLE and not batch.committed and over


def log_elsewhere(checkpoint: Checkpoint) -> bool:
    """Whether the checkpoint has no place for the connector's log: that is in a DynamoDB table,
    under another path, or lost.

    One committed batch is enough to tell, for its log was written before the commit: a newest batch
    that is not committed begins where that log says that the one before it ended. Qubole's newest
    batch names all its starts in its offset: a batch that started in the same places read nothing,
    and its log could say no more (`rebuild` writes such checkpoints).
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
