"""Lease keys: a bare shard id, or stream and shard id where one table serves several streams.

`<account>:<stream>:<creation epoch>:<shard>` is MultiStreamLease.getLeaseKey over
StreamIdentifier.serialize of KCL 2.3 to 3.5. Parents and children are bare ids in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from reshardctl.errors import UsageError
from reshardctl.model import ShardId

_SHARD = re.compile(r"shardId-\d{12}\Z", re.ASCII)
_OF_DYNAMODB = re.compile(r"shardId-\d{20}-[0-9a-f]{8}\Z", re.ASCII)
"""A shard of a DynamoDB stream: its milliseconds and a random part."""
_ASKED_FOR = re.compile(r"[a-zA-Z0-9_.-]{1,128}\Z", re.ASCII)
"""The pattern of ShardId in the API reference of GetShardIterator; others: ValidationException."""
_STREAM = re.compile(r"(?P<account>\d+):(?P<name>[^:]+):(?P<epoch>\d+)\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Named:
    """A stream as a multi-stream application names it.

    epoch: the creation time, in seconds, that the application was given; KCL never compares it with
    Kinesis (StreamIdentifier.multiStreamInstance).
    """

    account: str
    name: str
    epoch: int
    text: str

    @classmethod
    def of(cls, text: str) -> Named | None:
        """Read `account:stream:epoch`, `None` for anything else."""
        match = _STREAM.match(text)
        if match is None or int(match["epoch"]) <= 0:
            return None
        return cls(match["account"], match["name"], int(match["epoch"]), text)

    def key(self, shard: str) -> str:
        """The key of one of its rows."""
        return f"{self.text}:{shard}"


def is_shard(text: str) -> bool:
    """Whether the text is a shard id of Kinesis Data Streams."""
    return _SHARD.match(text) is not None


def asked_for(text: str) -> bool:
    """Whether Kinesis looks for a shard of this id, and says ResourceNotFound if it has none."""
    return _ASKED_FOR.match(text) is not None


def split(key: str) -> tuple[Named | None, ShardId]:
    """A lease key's stream (`None` in a single-stream table) and shard."""
    stream, _, shard = key.rpartition(":")
    named = Named.of(stream) if stream else None
    return (named, ShardId(shard)) if named else (None, ShardId(key))


def key_of(named: Named | None, shard: str) -> str:
    """The key of a shard's row."""
    return named.key(shard) if named else str(shard)


def no_lease_table(keys: Iterable[str]) -> UsageError:
    """The error for a table without a key that names a shard of a Kinesis data stream."""
    first, *_ = some = sorted(keys)
    if any(_OF_DYNAMODB.search(key) for key in some):
        return UsageError(
            f"row {first!r} is a lease of a shard of a DynamoDB stream: the table of an "
            "application of the DynamoDB Streams Kinesis Adapter, which synchronises by rules of "
            "its own and is not judged here",
            "name the lease table of an application of a Kinesis data stream: kcl://TABLE",
        )
    return UsageError(
        f"row {first!r} is no lease of a Kinesis shard: this is not a KCL lease table "
        "of a Kinesis data stream, or another program writes to it",
        "name the application's lease table: kcl://TABLE",
    )
