"""Lease keys: a bare shard id, or behind it the stream where one table serves several.

`<account>:<stream>:<creation epoch>:<shard>` is MultiStreamLease.getLeaseKey over
StreamIdentifier.serialize of KCL 2.3 to 3.5. Parents and children are bare ids in both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reshardctl.model import ShardId

_SHARD = re.compile(r"shardId-\d{12}\Z", re.ASCII)
_STREAM = re.compile(r"(?P<account>\d+):(?P<name>[^:]+):(?P<epoch>\d+)\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Named:
    """A stream as a multi-stream application names it.

    epoch: what the application was given as the stream's creation time, in seconds; KCL takes it
    as it is and never compares it with Kinesis (StreamIdentifier.multiStreamInstance).
    """

    account: str
    name: str
    epoch: int
    text: str

    @classmethod
    def of(cls, text: str) -> Named | None:
        """Read `account:stream:epoch`, `None` for anything else."""
        found = _STREAM.match(text)
        if found is None or int(found["epoch"]) <= 0:
            return None
        return cls(found["account"], found["name"], int(found["epoch"]), text)

    def key(self, shard: str) -> str:
        """The key of one of its rows."""
        return f"{self.text}:{shard}"


def is_shard(text: str) -> bool:
    """Whether it is a shard id of Kinesis Data Streams."""
    return _SHARD.match(text) is not None


def split(key: str) -> tuple[Named | None, ShardId]:
    """A lease key's stream (`None`: the only one) and shard."""
    stream, _, shard = key.rpartition(":")
    named = Named.of(stream) if stream else None
    return (named, ShardId(shard)) if named else (None, ShardId(key))


def key_of(named: Named | None, shard: str) -> str:
    """The key of a shard's row."""
    return named.key(shard) if named else str(shard)
