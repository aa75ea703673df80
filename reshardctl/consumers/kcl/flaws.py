"""Attributes of a lease that some release of KCL cannot read.

Sources: DynamoDBLeaseSerializer and DynamoUtils of 2.2.11, 2.7.2, 3.1.3 and 3.5.1, LeaseSerializer
and KinesisClientLeaseSerializer of 1.13.3 and 1.15.3, HashKeyRangeForLease; run attribute by
attribute on 1.15.3, 2.7.2, 3.1.3 and 3.5.1 (tests/unit/consumers/kcl_attribute_types.toml).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from reshardctl.consumers.kcl.table import Named
from reshardctl.model import Attributes, ShardId

COUNTER, SWITCHES, CHECKPOINT = "leaseCounter", "ownerSwitchesSinceCheckpoint", "checkpoint"
SUB = "checkpointSubSequenceNumber"
PARENTS, CHILDREN = "parentShardId", "childShardIds"
HASH_START, HASH_END = "startingHashKey", "endingHashKey"
PENDING, PENDING_SUB = "pendingCheckpoint", "pendingCheckpointSubSequenceNumber"
PENDING_STATE = "pendingCheckpointState"
THROUGHPUT, OLD_OWNER, KIND = "throughputKBps", "checkpointOwner", "entityType"
STREAM_NAME, SHARD_NAME = "streamName", "shardId"

LEASE = "LEASE"
_LEAST, _MOST = -(2**63), 2**63 - 1
LAST_COUNTER = _MOST
"""KCL 3.x has DynamoDB add one to it where it assigns a lease, and cannot read the row then."""
COUNTER_WITH_ROOM = 2**62
"""No lease comes so far by renewals; after the last Long, Java's next one is negative, and that of
DynamoDB's ADD is none."""
_INTEGER = re.compile(r"[+-]?\d{1,1000}\Z", re.ASCII)
"""What Java's BigInteger and Long read, up to a length that no row and no hash key has."""


class Flaw(Struct, frozen=True):
    """An attribute that keeps a release that reads it from making a lease; why follows its name."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.name} {self.why}"


def flaws(item: Attributes, named: Named | None, shard: ShardId) -> tuple[Flaw, ...]:
    """Every flaw of one row. named: the stream in the key, of a multi-stream table."""
    return (
        *_of_kind(item), *_of_numbers(item), *_of_names(item, named, shard), *_of_hashes(item),
        *_of_others(item),
    )


def unnamed(item: Attributes) -> tuple[Flaw, ...]:
    """The missing ones of the two attributes that name a stream and a shard."""
    missing = (name for name in (STREAM_NAME, SHARD_NAME) if text(item, name) is None)
    return tuple(Flaw(name, "is missing") for name in missing)


def number(item: Attributes, name: str) -> int | None:
    """A whole number of 64 bits, `None` where there is none."""
    return _long(item.get(name, {}).get("N"))


def meant(item: Attributes, name: str) -> int | None:
    """The same, or a number that a round trip through a file turned into a string."""
    value = item.get(name, {})
    return _long(value.get("N", value.get("S")))


def text(item: Attributes, name: str) -> str | None:
    """A string that is not empty, `None` where there is none."""
    value = item.get(name, {}).get("S")
    return value if isinstance(value, str) and value else None


def hash_range(item: Attributes) -> tuple[int, int] | None:
    """Both hash keys, as KCL reads them; `None` where one is missing or they are no range."""
    low, high = text(item, HASH_START), text(item, HASH_END)
    if low is None or high is None or not (_INTEGER.match(low) and _INTEGER.match(high)):
        return None
    return (int(low), int(high)) if int(low) < int(high) else None


def _long(value: object) -> int | None:
    if not isinstance(value, str) or not _INTEGER.match(value):
        return None
    return integer if _LEAST <= (integer := int(value)) <= _MOST else None


def _of_kind(item: Attributes) -> Iterator[Flaw]:
    if "S" in item.get(KIND, {}) and item[KIND]["S"] != LEASE:
        yield Flaw(KIND, f"is {item[KIND]['S']}")


def _of_numbers(item: Attributes) -> Iterator[Flaw]:
    for name in (COUNTER, SWITCHES):
        if number(item, name) is None:
            yield Flaw(name, _no_number(item, name))
    optional = [SUB, PENDING_SUB] if text(item, PENDING) else [SUB]
    for name in optional:
        if name in item and number(item, name) is None:
            yield Flaw(name, _no_number(item, name))
    if THROUGHPUT in item and "N" not in item[THROUGHPUT]:
        yield Flaw(THROUGHPUT, "is no number")


def _no_number(item: Attributes, name: str) -> str:
    of_type = "N" in item.get(name, {})
    return "is no whole number of 64 bits" if of_type else "is missing or no number"


def _of_names(item: Attributes, named: Named | None, shard: ShardId) -> Iterator[Flaw]:
    """Flaws of the attributes from which KCL reads stream and shard (see table.py), not the key."""
    if named is None:
        return
    if text(item, STREAM_NAME) != named.text:
        yield Flaw(STREAM_NAME, "is missing or not that of its key")
    if text(item, SHARD_NAME) != shard:
        yield Flaw(SHARD_NAME, "is missing or not that of its key")


def _of_hashes(item: Attributes) -> Iterator[Flaw]:
    low, high = text(item, HASH_START), text(item, HASH_END)
    if low is None or high is None:
        return
    wrong = [n for n, value in ((HASH_START, low), (HASH_END, high)) if not _INTEGER.match(value)]
    for name in wrong:
        yield Flaw(name, "is no number")
    if not wrong and int(low) >= int(high):
        yield Flaw(HASH_START, "is not below endingHashKey")


def _of_others(item: Attributes) -> Iterator[Flaw]:
    if PENDING_STATE in item and "B" not in item[PENDING_STATE]:
        yield Flaw(PENDING_STATE, "is not binary")
    if OLD_OWNER in item and text(item, OLD_OWNER) is None:
        yield Flaw(OLD_OWNER, "is no name")
    if "S" not in item.get(CHECKPOINT, {}):
        yield Flaw(CHECKPOINT, "is missing")
    for name in (PARENTS, CHILDREN):
        if name in item and "SS" not in item[name]:
            yield Flaw(name, "is no string set")
