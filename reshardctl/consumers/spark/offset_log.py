"""Offset logs, `offsets/<batch>`: a version, a line of metadata, a line for every source.

Version 1 names sources by their order; version 2 (Spark 4.2.0 and later) by an id before the
first colon, in any order (OffsetSeqLog; runs on Spark 3.3.4 to 4.3.0). A source that has no
offset yet is `-`. What is not replaced stays byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.version_marker import version_of

NO_OFFSET = "-"


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One source's line. name: its index in version 1, its id in version 2; text: its offset."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class OffsetLog:
    """An offset log. metadata: its second line, verbatim. tail: what follows the last line, "" as
    Spark writes it."""

    version: int
    metadata: str
    lines: tuple[SourceLine, ...]
    tail: str = ""

    def __getitem__(self, source: str) -> str:
        """A source's offset as text. KeyError for a source that it does not name."""
        for line in self.lines:
            if line.name == source:
                return line.text
        raise KeyError(source)

    def get(self, source: str, otherwise: str) -> str:
        """A source's offset as text, or something else for a source that it does not name."""
        return next((line.text for line in self.lines if line.name == source), otherwise)

    def __contains__(self, source: object) -> bool:
        return any(line.name == source for line in self.lines)

    def replacing(self, source: str, text: str) -> OffsetLog:
        """The same log with another offset for one source. KeyError for one it does not name."""
        if source not in self:
            raise KeyError(source)
        if "\n" in text:
            raise ValueError("an offset is one line")
        lines = (SourceLine(source, text) if one.name == source else one for one in self.lines)
        return replace(self, lines=tuple(lines))

    def text(self) -> str:
        """The whole file."""
        return "\n".join([f"v{self.version}", self.metadata, *self._lines()]) + self.tail

    def _lines(self) -> Iterator[str]:
        for line in self.lines:
            yield line.text if self.version == 1 else f"{line.name}:{line.text}"


def parse_offset_log(text: str) -> OffsetLog:
    """Raises Malformed for what is no offset log of version 1 or 2."""
    if not text:
        raise Malformed("it is empty")
    body = text.removesuffix("\n")
    head, *rest = body.split("\n")
    version = version_of(head)
    if not rest:
        raise Malformed("it ends after its first line")
    metadata, *sources = rest
    if not sources:
        raise Malformed("it names no source")
    tail = text[len(body):]
    return OffsetLog(version, metadata, tuple(_sources(version, sources)), tail)


def _sources(version: int, lines: list[str]) -> Iterator[SourceLine]:
    seen = set()
    for index, line in enumerate(lines):
        if not line:
            raise Malformed(f"line {index + 3} is empty")
        if version == 1:
            yield SourceLine(str(index), line)
            continue
        name, colon, offset = line.partition(":")
        if not colon or not name or not offset:
            raise Malformed(f"line {index + 3} is no `source:offset`")
        if name in seen:
            raise Malformed(f"it names source {name!r} twice")
        seen.add(name)
        yield SourceLine(name, offset)
