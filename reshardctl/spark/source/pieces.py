"""What one task reads: stretches of shards, one after another."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import TYPE_CHECKING

from pyspark.sql.datasource import InputPartition

from reshardctl.kinesis.fast import FastReader, PastEnd, Reach, ShardGone, TimeAhead, Unmet
from reshardctl.model.images import batched
from reshardctl.spark.records import together
from reshardctl.spark.source import MOST
from reshardctl.spark.source.lines import Stretch

if TYPE_CHECKING:
    import pyarrow as pa

LOG = logging.getLogger("reshardctl.spark.source")
AT_ONCE = 8
"""Shards of a task that are read at the same time; each may have a page of ten megabytes."""


@dataclass(frozen=True)
class Piece(InputPartition):  # type: ignore[misc]
    """The stretches of one task; it holds no records, an executor reads them itself."""

    reach: Reach
    stream: str
    """Name or ARN."""
    stretches: tuple[Stretch, ...]
    unpack: bool = True
    strict: bool = True
    """Whether records that expired in the meantime fail the task."""


def pieces(
    reach: Reach,
    stream: str,
    stretches: Iterable[Stretch],
    *,
    shards_per_task: int | None = None,
    tasks: int = MOST,
    unpack: bool = True,
    strict: bool = True,
) -> list[Piece]:
    """Tasks of `shards_per_task` stretches each, in the order given; none without stretches.

    tasks: the most that there are where `shards_per_task` is not given. A task has one shard then,
    if that is possible.
    """
    every = tuple(stretches)
    each = shards_per_task or max(ceil(len(every) / tasks), 1)
    return [Piece(reach, stream, part, unpack, strict) for part in batched(every, each)]


def read_piece(piece: Piece) -> Iterator[pa.RecordBatch]:
    """The rows of a task, a batch a page, each shard's in its order.

    Several shards are read concurrently: each gives two megabytes a second at most (GetRecords API
    reference). Raises what `FastReader.after` raises, if the piece is strict.
    """
    reader = _reader(piece.reach, piece.stream)
    stretches = [_batches(reader, piece, stretch) for stretch in piece.stretches]
    return together(stretches, AT_ONCE)


def _batches(reader: FastReader, piece: Piece, stretch: Stretch) -> Iterator[pa.RecordBatch]:
    from reshardctl.spark.records import batch_of

    try:
        for page in reader.after(
            stretch.shard, stretch.begin, stretch.until,
            to_end=stretch.to_end, unread=stretch.unread,
        ):
            batch = batch_of(page.records, stretch.shard, reader.name, unpack=piece.unpack)
            yield _within(batch, stretch)
    except (PastEnd, TimeAhead):  # a closed shard that is begun at a time after its end
        return
    except (ShardGone, Unmet) as gone:
        if piece.strict:
            raise
        LOG.warning("%s (failOnDataLoss is false)", gone.what)


def _within(batch: pa.RecordBatch, stretch: Stretch) -> pa.RecordBatch:
    """The rows of a stretch that begins or ends inside an aggregated record."""
    import pyarrow.compute as pc

    for number, part, above in (
        (stretch.begin.value, stretch.head, True), (stretch.until, stretch.tail, False),
    ):
        if part is None:
            continue
        others = pc.not_equal(batch.column("sequence_number"), str(number))
        compare = pc.greater if above else pc.less_equal
        batch = batch.filter(pc.or_(others, compare(batch.column("sub_sequence_number"), part)))
    return batch


@cache
def _reader(reach: Reach, stream: str) -> FastReader:
    """One reader a process: connections and credentials outlive the tasks of Spark's workers."""
    return FastReader(reach, stream)
