"""The stream as the connectors ask for it: ListShards, GetShardIterator, GetRecords."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from tests.proof.reference.listing import listed, parents_of
from tests.proof.reference.spark_files import DiedError

NUMBERED = ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER")


@dataclass(frozen=True, slots=True)
class Shard:
    """One listed shard; ``parents`` only those that are listed as well, ``named`` all of them.

    ``end``: its EndingSequenceNumber, "" while it is open.
    """

    id: str
    parents: tuple[str, ...]
    open: bool
    named: tuple[str, ...] = ()
    end: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """One answer of GetRecords; ``following`` is None at the end of a closed shard."""

    records: list[tuple[str, str]]
    following: str | None
    behind: int


class Source:
    """One stream behind a boto3-like client."""

    def __init__(self, client: Any, stream: str) -> None:
        self.client = client
        self.stream = stream

    def shards(self) -> dict[str, Shard]:
        """Every listed shard, in the order of the listing."""
        entries = listed(self.client, self.stream)
        known = {entry["ShardId"] for entry in entries}
        return {entry["ShardId"]: _shard(entry, known) for entry in entries}

    def iterator(self, shard: str, kind: str, value: str, *, tolerant: bool) -> str | None:
        """An iterator; None for a shard that is gone, where the caller tolerates that.

        ``value`` is a number, or milliseconds for AT_TIMESTAMP. DiedError for every other refusal.
        """
        ask: dict[str, Any] = {"StreamName": self.stream, "ShardId": shard}
        ask["ShardIteratorType"] = kind
        if kind in NUMBERED:
            ask["StartingSequenceNumber"] = value
        if kind == "AT_TIMESTAMP":
            ask["Timestamp"] = int(value) / 1000
        try:
            return str(self.client.get_shard_iterator(**ask)["ShardIterator"])
        except ClientError as error:
            if error.response["Error"]["Code"] == "ResourceNotFoundException" and tolerant:
                return None
            raise DiedError(str(error)) from error

    def page(self, iterator: str, limit: int) -> Page:
        """One GetRecords: (sequence number, payload) of each record."""
        try:
            answer = self.client.get_records(ShardIterator=iterator, Limit=limit)
        except ClientError as error:
            raise DiedError(str(error)) from error
        records = [(one["SequenceNumber"], one["Data"].decode()) for one in answer["Records"]]
        return Page(records, answer.get("NextShardIterator"), answer["MillisBehindLatest"])


def _shard(entry: dict[str, Any], known: set[str]) -> Shard:
    named = tuple(parents_of(entry))
    end = entry["SequenceNumberRange"].get("EndingSequenceNumber", "")
    listed_parents = tuple(parent for parent in named if parent in known)
    return Shard(entry["ShardId"], listed_parents, not end, named, end)
