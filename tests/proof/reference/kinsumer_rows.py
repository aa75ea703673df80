"""The rows of kinsumer's three tables, as its AWS SDK reads them and as the library writes them.

checkpoints.go, clients.go and leader.go of twitchscience/kinsumer 9a48088 (aws-sdk-go v1) and of
snowplow-devops/kinsumer v1.6.0 and v1.7.0 (v2, the same in these three files).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

Item = dict[str, Any]
"""One DynamoDB item in DynamoDB JSON."""

NULL = {"NULL": True}


class UnmarshalError(Exception):
    """UnmarshalTypeError: an attribute has another type than the field of the Go struct."""


@dataclass(slots=True)
class Checkpoint:
    """checkpointRecord; None is a nil pointer."""

    shard: str
    number: str | None = None
    updated: int = 0
    owner: str | None = None
    finished: int | None = None


def checkpoint_of(item: Item) -> Checkpoint:
    """UnmarshalMap into checkpointRecord."""
    for name in ("OwnerName", "LastUpdateRFC", "FinishedRFC"):
        text(item, name)
    return Checkpoint(
        text(item, "Shard") or "", text(item, "SequenceNumber"), integer(item, "LastUpdate") or 0,
        text(item, "OwnerID"), integer(item, "Finished"),
    )


def row_of(record: Checkpoint, name: str, now: float) -> Item:
    """MarshalMap of checkpointRecord: nil pointers become NULL, unknown attributes are gone."""
    done = record.finished
    return {
        "Shard": {"S": record.shard},
        "SequenceNumber": NULL if record.number is None else {"S": record.number},
        "LastUpdate": {"N": str(record.updated)},
        "LastUpdateRFC": {"S": rfc(now)},
        "OwnerName": NULL if record.owner is None else {"S": name},
        "OwnerID": NULL if record.owner is None else {"S": record.owner},
        "Finished": NULL if done is None else {"N": str(done)},
        "FinishedRFC": NULL if done is None else {"S": rfc(done / 1e9)},
    }


def cached(item: Item | None) -> tuple[list[str], int]:
    """shardCacheRecord: ids and LastUpdate. A missing row reads as an empty record."""
    if item is None:
        return [], 0
    text(item, "LastUpdateRFC")
    return strings(item, "ShardIDs"), integer(item, "LastUpdate") or 0


def text(item: Item, name: str) -> str | None:
    """A string field: a number is taken as its text, NULL as nil."""
    ((kind, body),) = item.get(name, NULL).items()
    if kind == "NULL":
        return None
    if kind not in ("S", "N"):
        raise UnmarshalError(f"{name}: {kind} into a string")
    return str(body)


def integer(item: Item, name: str) -> int | None:
    """An int64 field."""
    ((kind, body),) = item.get(name, NULL).items()
    if kind == "NULL":
        return None
    # decodeNumber of both SDKs: strconv.ParseInt(n, 10, 64), whose error is the item's.
    if kind != "N" or not str(body).lstrip("-").isdigit() or not -(2**63) <= int(body) < 2**63:
        raise UnmarshalError(f"{name}: {kind} {body!r} into an int64")
    return int(body)


def strings(item: Item, name: str) -> list[str]:
    """A []string field: a list or a string set."""
    ((kind, body),) = item.get(name, NULL).items()
    if kind == "NULL":
        return []
    if kind == "SS":
        return list(body)
    if kind != "L":
        raise UnmarshalError(f"{name}: {kind} into a []string")
    return [text({name: one}, name) or "" for one in body]


def rfc(seconds: float) -> str:
    """time.RFC1123Z in UTC."""
    return format_datetime(datetime.fromtimestamp(int(seconds), UTC))


def nanos(seconds: float) -> int:
    """UnixNano."""
    return int(seconds * 1_000_000_000)
