"""Reads a journal from its bytes: every line is checked, and only the last may be torn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from reshardctl.codec.strict import (
    JOURNAL,
    JsonPath,
    integer,
    members,
    or_another_kind,
    parse,
    string,
)
from reshardctl.errors import UsageError
from reshardctl.journal.file import FileLog
from reshardctl.journal.log import Log, Where
from reshardctl.journal.records import (
    Header,
    Intent,
    Records,
    Run,
    header_of,
    intent_of,
    steps_of,
    texts_of,
)
from reshardctl.model import Step

FIRST = "0" * 64
"""The checksum that the first record is chained to."""
_WAYS = (
    "reshardctl undo --list   # the journals of this machine; if this one is damaged, name the "
    "plan's file instead: reshardctl undo PLAN"
)
_SUM = b',"sum":"'
_TAIL = len(_SUM) + 64 + len(b'"}')


class Line(NamedTuple):
    """A record of a journal."""

    kind: str
    body: Any
    location: JsonPath


def sealed(body: bytes, chain: str) -> tuple[bytes, str]:
    """A record's line with its newline, and its checksum over the previous checksum and the text.

    body: the record's JSON object. The checksum (SHA-256) goes in as its last member, so that it
    covers bytes and not what a parser makes of them.
    """
    total = sha256(chain.encode() + body).hexdigest()
    return body[:-1] + _SUM + total.encode() + b'"}\n', total


def read(location: Path | Log) -> Records:
    """Reads a whole journal.

    UsageError, naming the line and the reason, if it is absent, is no journal, is of another
    version or is damaged anywhere but in its last record.
    """
    log = FileLog(location) if isinstance(location, Path) else location
    return parsed(log.read(), log.where)


def parsed(content: bytes, path: Where) -> Records:
    """Reads a whole journal from its bytes. path: for messages."""
    with or_another_kind(content, str(path), "a journal", JOURNAL):
        return _parsed(content, path)


def _parsed(content: bytes, path: Where) -> Records:
    whole, torn = _split(content)
    lines, chain = _checked(whole, path)
    if not lines:
        raise UsageError(
            f"{path} has no complete record" + (f" ({torn})" if torn else "")
            + ": either the fix ended before its first write, or the file was truncated and the "
            "previous values of the rows are lost",
            "see the rows with reshardctl inspect; if the file was truncated, restore it first",
        )
    if lines[0].kind != "header":
        lines[0].location.wrong("a journal begins with its header")
    header = header_of(lines[0].body, lines[0].location)
    fix, undo = _runs(header, lines[1:])
    size = sum(map(len, whole))
    return Records(path, header, fix, undo, torn, len(lines), size, chain)


def _split(content: bytes) -> tuple[list[bytes], str]:
    *whole, rest = content.split(b"\n")
    torn = f"the last record is incomplete: {len(rest)} bytes without a line end" if rest else ""
    return [part + b"\n" for part in whole], torn


def _checked(whole: list[bytes], path: Where) -> tuple[list[Line], str]:
    lines, chain = [], FIRST
    for number, raw in enumerate(whole):
        json_path = JsonPath(f"{path}, line {number + 1}", next=_WAYS)
        text, tail = raw[: -_TAIL - 1], raw[-_TAIL - 1 :]
        if not tail.startswith(_SUM) or not tail.endswith(b'"}\n'):
            json_path.wrong("not a record of a journal")
        body = text + b"}"
        line, chain = sealed(body, chain)
        if line != raw:
            json_path.wrong("its checksum does not match: the journal was changed or damaged here")
        lines.append(_line(parse(body, json_path), number, json_path))
    return lines, chain


def _line(value: object, number: int, json_path: JsonPath) -> Line:
    record = members(value, ("seq", "kind", "body"), json_path)
    if integer(record["seq"], json_path / "seq") != number:
        json_path.wrong(f"record {record['seq']} where {number} belongs")
    return Line(string(record["kind"], json_path / "kind"), record["body"], json_path)


def merged(whole: Step, part: Step) -> Step:
    """A step with the writes of a later attempt, which may be only a part of it, put in."""
    later = {write.key: write for write in part.writes}
    return replace(whole, writes=tuple(later.get(w.key, w) for w in whole.writes))


class _Course:
    """Collects the records of one run."""

    def __init__(self, steps: tuple[Step, ...]) -> None:
        self.steps = steps
        self.intents: dict[int, Intent] = {}
        self.applied: set[int] = set()
        self.outcome = ""
        self.why = ""
        self.texts: Mapping[str, str] = {}

    def run(self) -> Run:
        return Run(
            self.steps, self.intents, frozenset(self.applied), self.outcome, self.why, self.texts
        )

    def take(self, line: Line) -> None:
        match line.kind:
            case "intent":
                self._intent(line.body, line.location)
            case "landed":
                self._land(line.body, line.location)
            case "texts":
                self.texts = texts_of(line.body, line.location)
            case "verified" | "failed" | "undone":
                self._end(line)
            case "nothing":  # its intents came to nothing: another fix may have written the same
                self._end(line)
                self.intents = {}
            case _:
                line.location.wrong(f"unknown record {line.kind!r}")

    def _intent(self, body: object, json_path: JsonPath) -> None:
        intent = intent_of(body, json_path)
        self._known(intent.index, json_path)
        known = {write.key for write in self.steps[intent.index].writes}
        if not {write.key for write in intent.step.writes} <= known:
            json_path.wrong(f"an intent for other rows than step {intent.index} writes")
        whole = self.intents.get(intent.index)
        step = merged(whole.step if whole else self.steps[intent.index], intent.step)
        self.intents[intent.index] = replace(intent, step=step)
        self.outcome = self.why = ""

    def _land(self, body: object, json_path: JsonPath) -> None:
        record = members(body, ("step",), json_path)
        index = integer(record["step"], json_path / "step")
        self._known(index, json_path)
        if index not in self.intents:
            json_path.wrong(f"step {index} was written without an intent")
        self.applied.add(index)

    def _end(self, line: Line) -> None:
        record = members(line.body, ("why",), line.location)
        self.why = string(record["why"], line.location / "why")
        self.outcome = line.kind

    def _known(self, index: int, json_path: JsonPath) -> None:
        if not 0 <= index < len(self.steps):
            (json_path / "step").wrong(f"there is no step {index}")


def _runs(header: Header, lines: list[Line]) -> tuple[Run, Run | None]:
    courses = [_Course(header.steps)]
    for line in lines:
        if line.kind == "undo":
            if len(courses) > 1:
                line.location.wrong("a second undo")
            record = members(line.body, ("steps",), line.location)
            courses.append(_Course(steps_of(record["steps"], line.location / "steps")))
            continue
        course = courses[-1]
        course.take(line)
        if line.kind == "nothing" and len(courses) > 1:
            courses.pop()  # an undo that was refused: the fix is as it was
    runs = [course.run() for course in courses]
    return runs[0], runs[1] if len(runs) > 1 else None
