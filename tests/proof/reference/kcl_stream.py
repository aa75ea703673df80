"""The stream as KCL asks for it: ListShards, GetShardIterator, GetRecords through a client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from tests.proof.reference.listing import listed, parents_of

HASH_END = 2**128 - 1


@dataclass(frozen=True, slots=True)
class Initial:
    """The application's initial position; ``at`` is epoch seconds, only for AT_TIMESTAMP."""

    name: str
    at: float | None = None

    @classmethod
    def of(cls, text: str) -> Initial:
        """``LATEST``, ``TRIM_HORIZON`` or ``AT_TIMESTAMP:`` and epoch seconds."""
        name, _, at = text.partition(":")
        return cls(name, float(at) if at else None)


@dataclass(frozen=True, slots=True)
class Shard:
    """One listed shard; ``parents`` are all that AWS names, listed or not."""

    id: str
    parents: tuple[str, ...]
    hashes: tuple[int, int]
    start: int
    open: bool


@dataclass(frozen=True, slots=True)
class ShardGoneError(Exception):
    """ResourceNotFoundException: the shard does not exist or has been trimmed."""


class Source:
    """One stream behind a boto3-like client."""

    def __init__(self, client: Any, stream: str) -> None:
        self.client = client
        self.stream = stream

    def shards(self, shard_filter: dict[str, Any] | None = None) -> list[Shard]:
        """Every listed shard, or those that the filter leaves."""
        ask = {"ShardFilter": shard_filter} if shard_filter else {}
        return [shard_of(entry) for entry in listed(self.client, self.stream, **ask)]

    def iterator(self, shard: str, checkpoint: str, initial: Initial) -> str:
        """An iterator AT the checkpoint.

        Raises ShardGoneError, ClientError for whatever else the service refuses, and ValueError for
        an AT_TIMESTAMP row when the application gives no time.
        """
        ask: dict[str, Any] = {"StreamName": self.stream, "ShardId": shard}
        if checkpoint in ("TRIM_HORIZON", "LATEST"):
            ask["ShardIteratorType"] = checkpoint
        elif checkpoint == "AT_TIMESTAMP":
            if initial.at is None:
                raise ValueError("AT_TIMESTAMP without a time")
            ask |= {"ShardIteratorType": checkpoint, "Timestamp": initial.at}
        else:
            ask |= {"ShardIteratorType": "AT_SEQUENCE_NUMBER", "StartingSequenceNumber": checkpoint}
        answer = _call(self.client.get_shard_iterator, **ask)
        return str(answer["ShardIterator"])

    def records(self, iterator: str, limit: int) -> dict[str, Any]:
        """One GetRecords; raises ShardGoneError."""
        return _call(self.client.get_records, ShardIterator=iterator, Limit=limit)

    def children(self, shard: str) -> list[str]:
        """The child shards as the cleanup asks for them: at the tip of a closed shard."""
        iterator = self.iterator(shard, "LATEST", Initial("LATEST"))
        return [child["ShardId"] for child in self.records(iterator, 1).get("ChildShards", ())]


def _call(method: Callable[..., dict[str, Any]], **ask: Any) -> dict[str, Any]:
    try:
        return method(**ask)
    except ClientError as error:
        if error.response["Error"]["Code"] == "ResourceNotFoundException":
            raise ShardGoneError from error
        raise


def shard_of(entry: dict[str, Any]) -> Shard:
    """A shard of ListShards, or with AWS's other spelling of parents a child of GetRecords."""
    numbers = entry.get("SequenceNumberRange", {})
    return Shard(
        id=entry["ShardId"],
        parents=tuple(entry.get("ParentShards") or parents_of(entry)),
        hashes=(
            int(entry["HashKeyRange"]["StartingHashKey"]),
            int(entry["HashKeyRange"]["EndingHashKey"]),
        ),
        start=int(numbers.get("StartingSequenceNumber", "0")),
        open="EndingSequenceNumber" not in numbers,
    )
