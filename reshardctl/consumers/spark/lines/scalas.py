"""Which Scala version wrote a connector's offset, by the order of its keys."""

from __future__ import annotations

from functools import lru_cache

from reshardctl.consumers.spark.lines import awslabs, qubole, shapes
from reshardctl.consumers.spark.lines.writing import metadata

VERSIONS = ("2.12", "2.13")
_LINES = {"awslabs": awslabs.line, "qubole": qubole.line}


@lru_cache(maxsize=16)
def possible(text: str, connector: str) -> frozenset[str]:
    """The Scala versions whose connector would write this very text; none for another writer's."""
    offset = shapes.read(text)
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
