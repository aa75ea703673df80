"""How the tables of each library look from outside: by their keys alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reshardctl.consumers.kcl.keys import split
from reshardctl.model import Image, Stream

Key = tuple[tuple[str, str, str], ...]
"""Kind (HASH, RANGE), name and type of each part of a primary key."""


def _unknown(_row: Image, _stream: Stream) -> bool | None:
    return None


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of table. scheme: of its locator, "" where reshardctl does not read it yet.

    ending: what the library adds to the application's name for this table's.
    names: whether a row's key says that it is this stream's; `None` where it says nothing.
    """

    library: str
    key: Key
    scheme: str = ""
    ending: str = ""
    names: Callable[[Image, Stream], bool | None] = _unknown


def _kcl(row: Image, stream: Stream) -> bool | None:
    """Multi-stream tables have account, stream and creation time in front of the shard."""
    named, _ = split(row.key)
    if named is None:
        return None
    return (named.account, named.name) == (stream.account, stream.name)


def _kinesis_consumer(row: Image, stream: Stream) -> bool | None:
    """`APP-STREAM`, in which both may have a dash: only what ends otherwise is told."""
    namespace = row.attributes.get("namespace", {}).get("S", "")
    return None if str(namespace).endswith(f"-{stream.name}") else False


SHAPES = (
    # KCL: DynamoDBLeaseSerializer, all releases.
    Shape("kcl", (("HASH", "leaseKey", "S"),), "kcl", names=_kcl),
    # twitchscience/kinsumer, CreateRequiredTables: APP_checkpoints.
    Shape("kinsumer", (("HASH", "Shard", "S"),), "kinsumer", "_checkpoints"),
    # harlow/kinesis-consumer, store/ddb.
    Shape(
        "kinesis-consumer", (("HASH", "namespace", "S"), ("RANGE", "shard_id", "S")),
        "kinesis-consumer+ddb",
        names=_kinesis_consumer,
    ),
)


def shape_of(key: Key) -> Shape | None:
    """The kind of table that has such a key, if it is one we know."""
    return next((one for one in SHAPES if one.key == key), None)
