"""The connectors' own texts: the line of an offset log, and an entry of their log.

Written from KinesisSourceOffset and HDFSMetadataCommitter (qubole/kinesis-sql 8d0f125) and
KinesisV2SourceOffset and its HDFSMetadataCommitter (awslabs v1.4.2, v2.0.0, 0f4c005).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.proof.reference.spark_files import DiedError
from tests.proof.reference.spark_order import ordered

KEYS = {
    "qubole": ("iteratorType", "iteratorPosition"),
    "awslabs": ("iteratorType", "iteratorPosition", "subSequenceNumber", "isLast"),
}


@dataclass(frozen=True, slots=True)
class Position:
    """One ShardInfo. ``value`` is a number, milliseconds, or "". Only awslabs has the last two."""

    shard: str
    kind: str
    value: str = ""
    sub: int = -1
    last: bool = True

    @property
    def ended(self) -> bool:
        """Whether it is SHARD_END."""
        return self.kind == "SHARD_END"

    def of(self, family: str) -> dict[str, str]:
        """The values of an offset line: all of them texts."""
        whole = {
            "iteratorType": self.kind,
            "iteratorPosition": self.value,
            "subSequenceNumber": str(self.sub),
            "isLast": str(self.last).lower(),
        }
        return {key: whole[key] for key in KEYS[family]}


@dataclass(frozen=True, slots=True)
class Offset:
    """One offset of a connector: START positions of the connector's own batch."""

    batch: int
    stream: str
    places: dict[str, Position]

    def text(self, family: str, scala: str) -> str:
        """Exactly as the connector writes it, the order of keys included."""
        metadata = {"batchId": str(self.batch), "streamName": self.stream}
        outer: dict[str, dict[str, str]] = {
            "metadata": {key: metadata[key] for key in ordered(metadata, scala, 2)}
        }
        for shard in sorted(self.places):
            inner = self.places[shard].of(family)
            outer[shard] = {key: inner[key] for key in ordered(inner, scala)}
        return _json({key: outer[key] for key in ordered(outer, scala, 1)})


def offset(text: str, family: str) -> Offset:
    """Read an offset line; DiedError where json4s or the connector refuses it."""
    try:
        found = json.loads(text)
        if any(not isinstance(value, str) for part in found.values() for value in part.values()):
            raise DiedError("MappingException: a value is no text")
        metadata = found.pop("metadata")
        places = {shard: _place(shard, part, family) for shard, part in found.items()}
        return Offset(int(metadata["batchId"]), metadata["streamName"], places)
    except (ValueError, KeyError, AttributeError) as error:
        raise DiedError(f"IllegalArgumentException: {error!r}") from error


def _place(shard: str, part: dict[str, str], family: str) -> Position:
    position = Position(shard, part["iteratorType"], part["iteratorPosition"])
    if family == "qubole":
        return position
    if part["isLast"].lower() not in ("true", "false"):
        raise ValueError(part["isLast"])
    last = part["isLast"].lower() == "true"
    return Position(shard, position.kind, position.value, int(part["subSequenceNumber"]), last)


def entry_text(position: Position, family: str) -> str:
    """One file of the connector's log; here the two last values are no texts."""
    whole: dict[str, Any] = {"shardId": position.shard, "iteratorType": position.kind}
    whole["iteratorPosition"] = position.value
    if family == "awslabs":
        whole |= {"subSequenceNumber": position.sub, "isLast": position.last}
    return _json(whole)


def entry(text: str, family: str) -> Position:
    """Read a file of the connector's log; DiedError where json4s refuses it."""
    try:
        found = json.loads(text)
        position = Position(found["shardId"], found["iteratorType"], found["iteratorPosition"])
        if family == "qubole":
            return position
        return Position(
            position.shard,
            position.kind,
            position.value,
            found["subSequenceNumber"],
            found["isLast"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DiedError(f"gave up fetching metadata: {error!r}") from error


def _json(found: object) -> str:
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False)
