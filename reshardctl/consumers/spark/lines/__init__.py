"""How each source spells its offsets; which of them wrote one, by its shape, and with which Scala.

The order of a connector's keys shows its Scala version. Each source has a file with its reader and
its writer.
"""

from __future__ import annotations

from functools import lru_cache

from reshardctl.consumers.spark.lines import at_once, awslabs, databricks, lineage, qubole
from reshardctl.consumers.spark.lines.connectors import METADATA, load, metadata, recognised
from reshardctl.consumers.spark.positions import SourceOffset
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.model.files import AlikeText

_KEPT = 256
"""Offsets that stay cached: a plan reads one checkpoint repeatedly."""


@lru_cache(maxsize=_KEPT)
def read(text: str | AlikeText, start: int = 0, end: int | None = None) -> SourceOffset | None:
    """A Kinesis source's offset, `None` for that of another source.

    start, end: which part of the text it is.
    """
    return at_once.read(text, start, end) or read_slowly(text[start:end])


def read_slowly(text: str) -> SourceOffset | None:
    """The same, whatever the spelling."""
    try:
        value = load(text)
    except Malformed:
        return None
    if databricks.recognised(value):
        return databricks.read(value)
    if lineage.recognised(value):
        return lineage.read(value)
    if not recognised(value):
        return None
    shards = [
        members for name, members in value.items()
        if name != METADATA and isinstance(members, dict)
    ]
    if any(not awslabs.OWN.isdisjoint(shard) for shard in shards):
        return awslabs.read(value)
    offset = qubole.read(value)
    if shards:
        return offset
    return SourceOffset("unknown", offset.stream, offset.batch_id, offset.positions, offset.flaws)


def unread(text: str) -> str:
    """Why a text is no offset of a source that reads Kinesis."""
    return damaged(text) or "it is no offset of a Kinesis source"


def damaged(text: str | AlikeText, start: int = 0, end: int | None = None) -> str:
    """Why a part of a text is no offset of any source that writes JSON, "" where it is one."""
    if read(text, start, end) is not None:
        return ""
    try:
        load(text[start:end])
    except Malformed as error:
        return str(error)
    return ""


VERSIONS = ("2.12", "2.13")
_LINES = {"awslabs": awslabs.line, "qubole": qubole.line}


@lru_cache(maxsize=16)
def possible(text: str, connector: str) -> frozenset[str]:
    """The Scala versions whose connector would write this very text; none for another writer's."""
    offset = read(text)
    if offset is None or connector not in _LINES:
        return frozenset()
    stream, line = offset.stream, _LINES[connector]
    batch = -1 if offset.batch_id is None else offset.batch_id
    return frozenset(
        scala
        for scala in VERSIONS
        if metadata(stream, batch, scala) in text
        and line(stream, batch, offset.positions, scala) == text
    )
