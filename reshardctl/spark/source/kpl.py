"""Rows for the user records of the Kinesis Producer Library's aggregates.

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
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reshardctl.kinesis.aggregated import MAGIC, unpacked


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
