"""Records of a page as one Arrow batch, those of the Kinesis Producer Library's aggregates as rows.

A row's sequence number is the aggregate's, its sub_sequence_number the index in it from 0, its
partition key the user record's own. A malformed aggregate stays one row, with sub_sequence_number
0.

Every user record of an aggregate becomes a row, also one whose key hashes into another shard: a
producer that did not know of a reshard yet may have put it so. KCL drops the *whole* aggregate
then, if it knows the shard's range, and none of it otherwise
(skipShardSyncAtWorkerInitializationIfLeasesExist; KCL 2.7.2 and 3.5.1, ProcessTask and
AggregatorUtil). That loses records: the producer library puts only those again that the shard's
range does not cover (amazon-kinesis-producer, retrier.cc), and other producers of this format put
nothing again. Kept, such a record may come twice, under two sequence numbers, as after any retry of
a producer.

Several iterators run concurrently, each in its own order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from reshardctl.kinesis.aggregated import MAGIC, unpacked
from reshardctl.kinesis.fast import Record


class Spread(NamedTuple):
    """Rows as lists of one length. of: the index of each row's record among the records."""

    data: list[bytes]
    keys: list[str]
    of: list[int]
    subs: list[int]


def spread(data: Sequence[bytes], keys: Sequence[str]) -> Spread | None:
    """The rows of records by their data and keys; `None` if each record is one row as it is."""
    packed = [at for at, body in enumerate(data) if body.startswith(MAGIC)]
    unpacked_records = {at: inside for at in packed if (inside := unpacked(data[at])) is not None}
    if not unpacked_records:
        return None
    rows, done = Spread([], [], [], []), 0
    for at, inside in unpacked_records.items():
        _as_they_are(rows, data, keys, range(done, at))
        rows.data.extend(body for _, body in inside)
        rows.keys.extend(key for key, _ in inside)
        rows.of.extend([at] * len(inside))
        rows.subs.extend(range(len(inside)))
        done = at + 1
    _as_they_are(rows, data, keys, range(done, len(data)))
    return rows


def _as_they_are(
    rows: Spread, data: Sequence[bytes], keys: Sequence[str], places: range
) -> None:
    rows.data.extend(data[places.start : places.stop])
    rows.keys.extend(keys[places.start : places.stop])
    rows.of.extend(places)
    rows.subs.extend([0] * len(places))


SCHEMA = (
    "data BINARY, partition_key STRING, sequence_number STRING, sub_sequence_number BIGINT, "
    "shard_id STRING, stream STRING, approximate_arrival_timestamp TIMESTAMP"
)
"""The columns, as Spark's DDL. A record that is no KPL aggregate has sub_sequence_number 0."""
ARROW = pa.schema([
    ("data", pa.binary()),
    ("partition_key", pa.string()),
    ("sequence_number", pa.string()),
    ("sub_sequence_number", pa.int64()),
    ("shard_id", pa.string()),
    ("stream", pa.string()),
    ("approximate_arrival_timestamp", pa.timestamp("us", "UTC")),
])


def batch_of(
    records: Sequence[Record], shard: str, stream: str, *, unpack: bool
) -> pa.RecordBatch:
    """The rows of records in their order; none are skipped."""
    data = [record.data for record in records]
    keys = [record.partition_key for record in records]
    bodies = pa.array(data, pa.binary())
    numbers = pa.array([record.sequence_number for record in records], pa.string())
    arrived = _moments(records)
    subs = pa.repeat(pa.scalar(0, pa.int64()), len(data))
    packed = unpack and pc.any(pc.starts_with(bodies, MAGIC)).as_py()
    rows = spread(data, keys) if packed else None
    if rows is not None:
        bodies = pa.array(rows.data, pa.binary())
        keys, subs = rows.keys, pa.array(rows.subs, pa.int64())
        of = pa.array(rows.of, pa.int64())
        numbers, arrived = numbers.take(of), arrived.take(of)
    arrays = [
        bodies, pa.array(keys, pa.string()), numbers, subs,
        pa.repeat(shard, len(bodies)), pa.repeat(stream, len(bodies)), arrived,
    ]  # fmt: skip
    return pa.RecordBatch.from_arrays(arrays, schema=ARROW)


def _moments(records: Sequence[Record]) -> pa.Array:
    """When the records arrived; null if that is missing. The service has milliseconds."""
    seconds = [record.approximate_arrival_timestamp for record in records]
    milliseconds = pc.round(pc.multiply(pa.array(seconds, pa.float64()), 1000.0))
    moments = milliseconds.cast(pa.int64()).cast(pa.timestamp("ms", "UTC"))
    return moments.cast(pa.timestamp("us", "UTC"))


T = TypeVar("T")


def together(sources: Sequence[Iterator[T]], at_once: int) -> Iterator[T]:
    """Yields what the iterators yield, as it comes; each is one step ahead of its consumer.

    at_once: how many run at a time; the others wait until one is exhausted. An exception of one is
    raised after those that are running have finished their step.
    """
    waiting = list(reversed(sources))
    with ThreadPoolExecutor(max(1, min(at_once, len(sources)))) as pool:
        asked: dict[Future[list[T]], Iterator[T]] = {}

        def ask(source: Iterator[T]) -> None:
            asked[pool.submit(_step, source)] = source

        while waiting and len(asked) < at_once:
            ask(waiting.pop())
        while asked:
            done, _ = wait(asked, return_when=FIRST_COMPLETED)
            for future in done:
                source, items = asked.pop(future), future.result()
                if items:
                    ask(source)
                elif waiting:
                    ask(waiting.pop())
                yield from items


def _step(source: Iterator[T]) -> list[T]:
    """The iterator's next item, or nothing after its end."""
    for item in source:
        return [item]
    return []
