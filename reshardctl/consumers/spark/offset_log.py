"""Offset logs, `offsets/<batch>`, and commit logs, `commits/<batch>`.

An offset log is a version, a line of metadata, and a line for each source. Version 1 names sources
by their order; version 2 (Spark 4.2.0 and later) by an id before the first colon, in any order
(OffsetSeqLog; runs on Spark 3.3.4 to 4.3.0). A source without an offset is `-`. Spark takes any of
the three line breaks (OffsetSeqLog.deserialize reads with scala.io.Source.getLines; run with CRLF,
November 2026). Lines that are not replaced stay byte for byte.

The second line has watermark, time, and settings that identify Spark's release. The settings grow
from release to release (OffsetSeqMetadata.relevantSQLConfs; checkpoints of runs on Spark 3.3.4,
3.5.9, 4.0.5, 4.1.4, 4.2.1 and 4.3.0). Every batch has those of the release that planned it. The
line is always copied: an empty one crashes the query after its sink got the batch (run on 3.5.9 and
4.1.4).

A commit log is a version and a line of JSON. Version 2 comes with
`spark.sql.streaming.stateStore.checkpointFormatVersion=2` (Spark 4.0 and later) and adds
stateUniqueIds (CommitLog; runs on Spark 3.3.4 to 4.3.0). Which malformed files Spark reads: 25
texts on Spark 3.5.9, 4.0.5 and 4.3.0 (runs, November 2026).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import add

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.codec.strict import JsonPath, named, parse
from reshardctl.consumers.spark.spark_json import (
    Malformed,
    long_of,
    members_of,
    texts_of,
    version_of,
)
from reshardctl.errors import UsageError
from reshardctl.model.files import AlikeText, outline

NO_OFFSET = "-"

_KEPT = 1024
"""Logs that stay cached: a plan reads one checkpoint repeatedly."""
_BREAK = re.compile(r"(\r\n|\r|\n)")


class SourceLine(Struct, frozen=True):
    """One source's line.

    The line is a part of the log's text and no copy of it: a checkpoint's logs may have 144 MB.

    Attributes:
        name: Its index in version 1, its id in version 2.
        within: The text that holds the offset, from `start` up to `end` or its own end.
    """

    name: str
    within: str | AlikeText
    start: int = 0
    end: int | None = None

    @property
    def text(self) -> str:
        """Its offset, copied."""
        return self.within[self.start : self.end]

    @property
    def is_offset(self) -> bool:
        """Whether the source has an offset (not `-`)."""
        end = self.start + len(NO_OFFSET) + 1
        if self.end is not None:
            end = min(self.end, end)
        return self.within[self.start : end] != NO_OFFSET


class OffsetLog(Struct, frozen=True):
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
        if (line := self.line(source)) is None:
            raise KeyError(source)
        return line.text

    @property
    def names(self) -> list[str]:
        """The names of its sources, in order."""
        return [line.name for line in self.lines]

    def line(self, source: str) -> SourceLine | None:
        """A source's line, `None` for a source that the log does not name."""
        return next((line for line in self.lines if line.name == source), None)

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
def parse_offset_log(text: str | AlikeText) -> OffsetLog:
    """Read a log; raises Malformed for a text that is no offset log of version 1 or 2."""
    if not text:
        raise Malformed("it is empty")
    places, breaks = _lines(outline(text))
    tail = breaks.pop() if len(places) > 1 and places[-1] == (len(text), len(text)) else ""
    if tail:
        places.pop()
    head, *rest = places
    version = version_of(text[slice(*head)])
    if not rest:
        raise Malformed("it ends after its first line")
    metadata, *sources = rest
    if not sources:
        raise Malformed("it names no source")
    unusual = tuple(breaks) if any(line_break != "\n" for line_break in breaks) else ()
    lines = tuple(_sources(version, text, sources))
    return OffsetLog(version, text[slice(*metadata)], lines, tail, unusual)


def _lines(text: str) -> tuple[list[tuple[int, int]], list[str]]:
    """Start and end of each line, and the breaks between them."""
    places, breaks, start = [], [], 0
    for end, line_break in _breaks(text):
        places.append((start, end))
        breaks.append(line_break)
        start = end + len(line_break)
    return [*places, (start, len(text))], breaks


def _breaks(text: str) -> Iterator[tuple[int, str]]:
    """Each break, with its place."""
    if "\r" in text:
        yield from ((match.start(), match[0]) for match in _BREAK.finditer(text))
        return
    at = text.find("\n")  # several times faster than the expression
    while at >= 0:
        yield at, "\n"
        at = text.find("\n", at + 1)


def _sources(
    version: int, text: str | AlikeText, places: Sequence[tuple[int, int]]
) -> Iterator[SourceLine]:
    seen = set()
    for index, (start, end) in enumerate(places):
        if start == end:
            raise Malformed(f"line {index + 3} is empty")
        if version == 1:
            yield SourceLine(str(index), text, start, end)
            continue
        colon = outline(text).find(":", start, end)
        if colon < 0 or colon == start or colon + 1 == end:
            raise Malformed(f"line {index + 3} is no `source:offset`")
        name = text[start:colon]
        if name in seen:
            raise Malformed(f"it names source {name!r} twice")
        seen.add(name)
        yield SourceLine(name, text, colon + 1, end)


class CommitLog(Struct, frozen=True):
    """A commit.

    watermark: nextBatchWatermarkMs, milliseconds since 1970, 0 for none. state_ids: whether it
    names versions of the state. source: the whole file.
    """

    version: int
    watermark: int
    state_ids: bool
    source: str


def parse_commit_log(text: str) -> CommitLog:
    """Read a commit; raises Malformed if Spark cannot, UsageError if a newer Spark wrote it."""
    if not text:
        raise Malformed("it is empty")
    head, *rest = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    version = version_of(head.strip())
    members = members_of(rest[0], "line 2") if rest else {}
    watermark = long_of(members, "nextBatchWatermarkMs")
    return CommitLog(version, watermark, bool(members.get("stateUniqueIds")), text)


_MARKS = (
    ("4.3", "spark.sql.dropDuplicates.deterministicKeyOrder.enabled"),
    ("4.3", "spark.sql.streaming.statefulOperator.alwaysNullableOutput.enabled"),
    ("4.2", "spark.sql.streaming.stateStore.rocksdb.mergeOperatorVersion"),
    ("4.2", "spark.sql.streaming.queryEvolution.enableSourceEvolution"),
    ("4.0-4.1", "spark.sql.streaming.stateStore.encodingFormat"),
    ("3", "spark.sql.streaming.multipleWatermarkPolicy"),
)
"""Settings that no earlier release had, newest first; a later release than 4.3 counts as 4.3."""

SCALAS = {"4.3": {"2.13"}, "4.2": {"2.13"}, "4.0-4.1": {"2.13"}}
"""Spark 4 is built for Scala 2.13 only, 3.2 and later for both."""

TIMESTAMP, WATERMARK = "batchTimestampMs", "batchWatermarkMs"


def generation(line: str) -> str:
    """Spark's release as far as the settings tell: "3", "4.0-4.1", "4.2", "4.3", or ""."""
    try:
        conf = texts_of(members_of(line, "line 2"), "conf")
    except Malformed:
        return ""
    return next((release for release, key in _MARKS if key in conf), "")


def flaw_of_conf(line: str) -> str:
    """Why Spark cannot read the line, "" where it can."""
    if not line.strip():
        return (
            "its second line is empty: a continuous query writes it so, and any other crashes at it"
        )
    return unreadable(line)


def unreadable(line: str) -> str:
    """The same for a log that is read and not continued, whose line may be empty."""
    if not line.strip():
        return ""
    try:
        members = members_of(line, "line 2")
        for name in (TIMESTAMP, WATERMARK):
            long_of(members, name)
        texts_of(members, "conf")
    except Malformed as error:
        return f"its second line is unreadable: {error}"
    return ""


def with_times(line: str, timestamp: int, watermark: int) -> str:
    """The line with other times (Unix milliseconds); raises Malformed for a line without them."""
    return _with(_with(line, TIMESTAMP, timestamp), WATERMARK, watermark)


def _with(line: str, name: str, value: int) -> str:
    wanted = {**_members(line), name: value}
    for match in re.finditer(rf'"{name}"\s*:\s*(-?\d+)', line, re.ASCII):
        changed = line[: match.start(1)] + str(value) + line[match.end(1) :]
        if json.loads(changed) == wanted:
            return changed
    raise Malformed(f"its second line has no {name}")


def _members(line: str) -> dict[str, object]:
    try:
        value = parse(line, JsonPath("line 2", next=""))  # the caller says it
    except UsageError as error:
        raise Malformed(error.what) from None
    if not isinstance(value, dict):
        raise Malformed(f"not an object but {named(value)}")
    return value
