"""The contents of a journal as values, their JSON, and back: every line of a journal is checked.

Only the last line may be torn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from reshardctl.codec.strict import (
    JOURNAL,
    JsonPath,
    integer,
    list_of,
    members,
    or_another_kind,
    parse,
    string,
    strings,
)
from reshardctl.codec.values import digest, image_json, step, step_json
from reshardctl.consumers.locator import stop_words
from reshardctl.errors import INSPECT, UsageError, command_line
from reshardctl.journal.file import FileLog
from reshardctl.journal.log import Log, Where
from reshardctl.journal.packed_texts import texts_of
from reshardctl.model import Image, Step, after, keys_of, writes_of

VERSION = 1


class Header(Struct, frozen=True):
    """The subject of a fix. All texts are given by the caller, `when` too.

    plan: its digest. identity: the store's, as read before. stream: ARN, creation time and the
    like. notes: what the operator vouched for (`--assume-stopped`), words to show again.
    """

    plan: str
    locator: str
    identity: Mapping[str, str]
    stream: Mapping[str, str]
    policy: str
    who: str
    when: str
    steps: tuple[Step, ...]
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def resumed_with(self) -> tuple[str, ...]:
        """The options without which `--resume` does not go on with it."""
        return (*(["--bootstrap"] if "bootstrap" in self.notes else []), *self.undone_with)

    @property
    def undone_with(self) -> tuple[str, ...]:
        """The options without which `undo` does not take it back."""
        return stop_words(self.locator)

    def resuming(self, journal: Where) -> str:
        """The command that finishes it."""
        return command_line("reshardctl", "fix", "--resume", str(journal), *self.resumed_with)

    def undoing(self, journal: Where | str) -> str:
        """The command that takes it back."""
        return command_line("reshardctl", "undo", str(journal), *self.undone_with)

    @property
    def before(self) -> list[Image]:
        """The rows that the steps touch, as the plan read them, without absent ones."""
        first: dict[str, Image | None] = {}
        for write in writes_of(self.steps):
            first.setdefault(write.key, write.before)
        return [image for _, image in sorted(first.items()) if image is not None]

    @property
    def after(self) -> list[Image]:
        """The same rows as the plan leaves them."""
        return after(self.before, self.steps)


class Intent(Struct, frozen=True):
    """A step about to be written, its before-images fresh. token: identifies this attempt."""

    index: int
    step: Step
    token: str


class Progress(Struct, frozen=True):
    """How many rows are recorded as written, were begun without a recorded answer, are planned."""

    written: int
    doubtful: int
    planned: int


class Run(Struct, frozen=True):
    """One sequence of steps: the fix itself, or its undo.

    intents: by the step's index; the last one counts. applied: indexes of steps known to be
    written. outcome: "verified", "failed", "nothing" (written), "undone" or "" while it is open;
    why: of a failure.
    texts: the whole texts that held the rows before, if the store keeps many rows in one text.
    """

    steps: tuple[Step, ...]
    intents: Mapping[int, Intent]
    applied: frozenset[int]
    outcome: str = ""
    why: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def current(self) -> list[Step]:
        """Every step with the latest before-images that the journal has."""
        return [
            self.intents[n].step if n in self.intents else step
            for n, step in enumerate(self.steps)
        ]

    @property
    def progress(self) -> Progress:
        """How many rows it has written, by its records alone."""
        open_steps = [step for n, step in enumerate(self.steps) if n not in self.applied]
        begun = [self.steps[n] for n in self.intents.keys() - self.applied]
        doubtful = keys_of(begun) if self.outcome != "nothing" else ()
        every = keys_of(self.steps)
        return Progress(len(every - keys_of(open_steps)), len(doubtful), len(every))


class Records(Struct, frozen=True):
    """A whole journal.

    torn: what is wrong with its last record, "" if it is whole. size, chain: bytes and checksum up
    to the last whole record, where writing continues.
    """

    path: Where
    header: Header
    fix: Run
    undo: Run | None
    torn: str
    count: int
    size: int
    chain: str

    @property
    def run(self) -> Run:
        """The run that `--resume` continues."""
        return self.fix if self.undo is None else self.undo

    @property
    def undoing(self) -> bool:
        """Whether its undo was begun."""
        return self.undo is not None


def supposed(header: Header, where: Where) -> Records:
    """Records made from a plan, for a fix whose journal is lost.

    Every step may have been written, and only the rows tell.
    """
    intents = {n: Intent(n, step, "") for n, step in enumerate(header.steps)}
    run = Run(header.steps, intents, frozenset())
    return Records(where, header, run, None, "", 0, 0, "")


def header_body(header: Header) -> dict[str, Any]:
    """A header as JSON members."""
    return {
        "version": VERSION,
        "plan": header.plan,
        "locator": header.locator,
        "identity": dict(header.identity),
        "stream": dict(header.stream),
        "policy": header.policy,
        "who": header.who,
        "when": header.when,
        "notes": dict(header.notes),
        "steps": [step_json(step) for step in header.steps],
        "before": [image_json(image) for image in header.before],
        "after": [image_json(image) for image in header.after],
    }


def header_of(body: object, json_path: JsonPath) -> Header:
    """The header in a record's JSON members. UsageError for another version."""
    version = body.get("version") if isinstance(body, dict) else None
    if version != VERSION:
        raise UsageError(
            f"{json_path.file}: journal format {version!r} is not known; this reshardctl reads "
            f"format {VERSION}",
            "use the release of reshardctl that wrote it",
        )
    names = ("plan", "locator", "identity", "stream", "policy", "who", "when", "notes")
    record = members(body, ("version", "steps", "before", "after", *names), json_path)
    header = Header(
        plan=string(record["plan"], json_path / "plan"),
        locator=string(record["locator"], json_path / "locator"),
        identity=strings(record["identity"], json_path / "identity"),
        stream=strings(record["stream"], json_path / "stream"),
        policy=string(record["policy"], json_path / "policy"),
        who=string(record["who"], json_path / "who"),
        when=string(record["when"], json_path / "when"),
        steps=steps_of(record["steps"], json_path / "steps"),
        notes=strings(record["notes"], json_path / "notes"),
    )
    for name, images in (("before", header.before), ("after", header.after)):
        if record[name] != [image_json(image) for image in images]:
            (json_path / name).wrong("does not fit the steps")
    return header


def intent_body(intent: Intent) -> dict[str, Any]:
    """An intent as JSON members."""
    return {
        "step": intent.index,
        "token": intent.token,
        "writes": step_json(intent.step),
    }


def intent_of(body: object, json_path: JsonPath) -> Intent:
    """The intent in a record's JSON members."""
    record = members(body, ("step", "token", "writes"), json_path)
    return Intent(
        index=integer(record["step"], json_path / "step"),
        step=step(record["writes"], json_path / "writes"),
        token=string(record["token"], json_path / "token"),
    )


def steps_of(value: object, json_path: JsonPath) -> tuple[Step, ...]:
    """Steps from JSON."""
    return list_of(value, json_path, step)


def tokens(seed: str) -> Iterator[str]:
    """Tokens for the steps of one run, at most 36 characters each; seed: any checksum."""
    number = 0
    while True:
        yield digest([seed, number])[:32]
        number += 1


FIRST = "0" * 64
"""The checksum that the first record is chained to."""
_WAYS = (
    "reshardctl undo --list   # the journals of this machine; if this one is damaged, name the "
    "plan's file instead: reshardctl undo PLAN"
)
_BEGINNING = b'{"body":{"after":['
"""How the header's record begins, whose members are sorted."""
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
    if _SUM not in content and not content.startswith(_BEGINNING[: len(content)]):
        raise UsageError(f"{path} is no journal of reshardctl", _WAYS)
    whole, torn = _split(content)
    lines, chain = _checked(whole, path)
    if not lines:
        raise UsageError(
            f"{path} has no complete record" + (f" ({torn})" if torn else "")
            + ": either the fix ended before its first write, or the file was truncated and the "
            "previous values of the rows are lost",
            f"{INSPECT}; if the file was truncated, restore it first",
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
