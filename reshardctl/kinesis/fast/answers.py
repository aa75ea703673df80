"""GetRecords answers without boto3's parser, which takes most of the time of a read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import DecodeError, Struct
from msgspec.json import Decoder


class Record(Struct, rename="pascal", frozen=True, gc=False):
    """A record of a stream, as GetRecords returns it."""

    sequence_number: str
    data: bytes
    partition_key: str
    approximate_arrival_timestamp: float | None = None
    """Unix seconds."""


class _Answer(Struct, rename="pascal"):
    records: list[Record]
    next_shard_iterator: str | None = None
    millis_behind_latest: int | None = None


_ANSWER = Decoder(_Answer)


def keep_records_raw(client: Any) -> None:
    """Makes `get_records` of this client return `Record` objects instead of dictionaries.

    Errors stay with botocore, and so does an answer that is not as the service writes it: its
    records are dictionaries, which `records_of` turns into the same objects.
    """

    def take_over(
        response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
    ) -> None:
        if response_dict["status_code"] != 200:
            return
        try:
            answer = _ANSWER.decode(response_dict["body"])
        except DecodeError:
            return
        # These keys become part of the answer, and the parser has nothing left to do.
        customized_response_dict.update(
            Records=answer.records,
            NextShardIterator=answer.next_shard_iterator,
            MillisBehindLatest=answer.millis_behind_latest,
        )
        response_dict["body"] = b"{}"

    client.meta.events.register(
        "before-parse.kinesis.GetRecords", take_over, unique_id="reshardctl-records"
    )


def records_of(records: Sequence[Any]) -> Sequence[Record]:
    """The records of an answer, also of one that botocore has parsed.

    KeyError, AttributeError or TypeError for one that lacks what the service always writes.
    """
    if records and isinstance(records[0], Record):
        return records
    return [_record(record) for record in records]


def _record(record: Mapping[str, Any]) -> Record:
    """Converts a record that botocore has parsed.

    What is no Unicode text in its key becomes "?".
    """
    arrived = record.get("ApproximateArrivalTimestamp")
    return Record(
        record["SequenceNumber"],
        record["Data"],
        record["PartitionKey"].encode("utf-8", "replace").decode(),
        None if arrived is None else arrived.timestamp(),
    )
