"""Risks of a query that does start, whatever its positions."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.consumers.spark.checkpoint import Checkpoint
from reshardctl.consumers.spark.logs import log_of
from reshardctl.consumers.spark.table_log import ahead_of
from reshardctl.model import Cause, Risk, ShardId, index_of


def risks(checkpoint: Checkpoint) -> Iterator[Risk]:
    """A log in a table that another query writes too: the first writer of a row wins."""
    batch = checkpoint.batches.get(-1 if checkpoint.newest is None else checkpoint.newest)
    rows = ahead_of(checkpoint.images, log_of(batch)) if checkpoint.tabled and batch else ()
    if not rows:
        return
    named = (key.rpartition("/")[2] for key in rows)
    shards = sorted({ShardId(name) for name in named if index_of(name) is not None})
    why = (
        f"{len(rows)} rows, the first is {rows[0]}: another query uses the table, or an earlier "
        "checkpoint did. Its key knows no query, and the first writer wins: each query will go on "
        "at the other's positions"
    )
    helps = "give every query a table of its own; delete rows that no query is to read"
    yield Risk(Cause.SHARED_LOG, tuple(shards), why, helps)
