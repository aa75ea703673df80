"""Offset logs, `offsets/<batch>`: a version, a line of metadata, a line for each source.

Version 1 names sources by their order; version 2 (Spark 4.2.0 and later) by an id before the first
colon, in any order (OffsetSeqLog; runs on Spark 3.3.4 to 4.3.0). A source without an offset is `-`.
Spark takes any of the three line breaks (OffsetSeqLog.deserialize reads with
scala.io.Source.getLines; run with CRLF, November 2026). Lines that are not replaced stay byte for
byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import add

from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.version_marker import version_of

NO_OFFSET = "-"

_KEPT = 1024
"""Logs that stay cached: a plan reads one checkpoint repeatedly."""
_BREAK = re.compile(r"(\r\n|\r|\n)")


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One source's line. name: its index in version 1, its id in version 2; text: its offset."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class OffsetLog:
    """An offset log.

    metadata: its second line, verbatim. tail: what follows the last line, "" as Spark writes it.
    breaks: what separates the lines, empty as Spark writes it.
    """

    version: int
    metadata: str
    lines: tuple[SourceLine, ...]
    tail: str = ""
    breaks: tuple[str, ...] = ()

    def __getitem__(self, source: str) -> str:
        """A source's offset as text; raises KeyError for a source that the log does not name."""
        for line in self.lines:
            if line.name == source:
                return line.text
        raise KeyError(source)

    def get(self, source: str, otherwise: str) -> str:
        """A source's offset as text, or `otherwise` for a source that the log does not name."""
        return next((line.text for line in self.lines if line.name == source), otherwise)

    def __contains__(self, source: object) -> bool:
        return any(line.name == source for line in self.lines)

    def replacing(self, source: str, text: str) -> OffsetLog:
        """The log with another offset for one source; raises KeyError for one it does not name."""
        if source not in self:
            raise KeyError(source)
        if _BREAK.search(text):
            raise ValueError("an offset is one line")
        new = SourceLine(source, text)
        lines = tuple(new if old.name == source else old for old in self.lines)
        return replace(self, lines=lines)

    def text(self) -> str:
        """The whole file."""
        lines = [f"v{self.version}", self.metadata, *self._lines()]
        breaks = self.breaks or ("\n",) * (len(lines) - 1)
        return "".join(map(add, lines, (*breaks, self.tail)))

    def _lines(self) -> Iterator[str]:
        for line in self.lines:
            yield line.text if self.version == 1 else f"{line.name}:{line.text}"


@lru_cache(maxsize=_KEPT)
def parse_offset_log(text: str) -> OffsetLog:
    """Read a log; raises Malformed for a text that is no offset log of version 1 or 2."""
    if not text:
        raise Malformed("it is empty")
    parts = _BREAK.split(text) if "\r" in text else _split_at_newlines(text)
    tail = parts[-2] if len(parts) > 1 and not parts[-1] else ""
    if tail:
        del parts[-2:]
    head, *rest = parts[::2]
    version = version_of(head)
    if not rest:
        raise Malformed("it ends after its first line")
    metadata, *sources = rest
    if not sources:
        raise Malformed("it names no source")
    breaks = tuple(parts[1::2])
    unusual = breaks if any(line_break != "\n" for line_break in breaks) else ()
    return OffsetLog(version, metadata, tuple(_sources(version, sources)), tail, unusual)


def _split_at_newlines(text: str) -> list[str]:
    """What `_BREAK` would give, several times sooner."""
    parts = ["\n"] * (2 * text.count("\n") + 1)
    parts[::2] = text.split("\n")
    return parts


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
