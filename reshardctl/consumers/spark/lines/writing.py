"""JSON as the connectors write it: no spaces, and keys in the order of their Scala version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from json.encoder import encode_basestring_ascii as quoted  # what json.dumps calls for a text

from reshardctl.consumers.spark.lines import order_scala_2_12, order_scala_2_13
from reshardctl.consumers.spark.positions import Position
from reshardctl.model import ShardId

METADATA = "metadata"


def ordered(keys: Sequence[str], scala: str, born: int) -> list[str]:
    """Keys in the order of a map of that Scala version; born: see order_scala_2_13."""
    if scala == "2.12":
        return order_scala_2_12.order(keys)
    if scala == "2.13":
        return order_scala_2_13.order(keys, born)
    raise ValueError(f"no key order is known for Scala {scala}")


def offset(
    stream: str, batch_id: int, shards: Mapping[ShardId, Mapping[str, str]], scala: str
) -> str:
    """A connector's offset: its metadata and every shard, filled in the order of their ids."""
    small, empty = order_scala_2_13.BORN_SMALL, order_scala_2_13.BORN_EMPTY
    parts = {METADATA: metadata(stream, batch_id, scala)}
    inner: list[str] = []
    for shard in sorted(shards):
        inner = inner or ordered(list(shards[shard]), scala, empty)
        parts[shard] = _object(shards[shard], inner)
    names = ordered(list(parts), scala, small)
    return "{" + ",".join(f"{quoted(name)}:{parts[name]}" for name in names) + "}"


def metadata(stream: str, batch_id: int, scala: str) -> str:
    """The metadata of an offset; the order of its two keys shows the Scala version."""
    head = {"batchId": str(batch_id), "streamName": stream}
    return _object(head, ordered(list(head), scala, order_scala_2_13.BORN_SMALL))


def members(position: Position) -> dict[str, str]:
    """What both connectors store of a position, in their order."""
    return {"iteratorType": position.kind, "iteratorPosition": position.value}


def _object(values: Mapping[str, str], names: Sequence[str]) -> str:
    return "{" + ",".join(f"{quoted(n)}:{quoted(values[n])}" for n in names) + "}"
