"""Reads JSON strictly: every error names the file, the path in it and the reason.

If the file is another one than the command takes, the error says what it is and which command takes
it. Files and documents of reshardctl name their schema; a journal begins with its header, a CSV
file of positions with the names of its columns, and a configuration has tables of its own.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn, TypeVar

from reshardctl.errors import UsageError
from reshardctl.model.times import parse_instant

Item = TypeVar("Item")

MOST_SECONDS = 2**53
"""What a float holds to the second."""
FIRST_MOMENT, LAST_MOMENT = -62_135_596_800, 253_402_300_800
"""The years 1 and 10000 in Unix seconds, between which times can be shown."""


class JsonPath(NamedTuple):
    """The file and the path of a value, for messages: a chain, spelled out only when needed."""

    file: str
    inside: JsonPath | None = None
    member: str | int = ""
    next: str = ""
    """What to do about any error in this file."""

    def __truediv__(self, member: str | int) -> JsonPath:
        return JsonPath(self.file, self, member, self.next)

    @property
    def path(self) -> str:
        """The path from the outermost value, "" for that itself."""
        if self.inside is None:
            return ""
        before = self.inside.path
        if isinstance(self.member, int):
            return f"{before}[{self.member}]"
        return f"{before}.{self.member}" if before else self.member

    def wrong(self, why: str, way_out: str = "") -> NoReturn:
        """Raises UsageError: file, path and reason, and what to do."""
        place = f"{self.file}: {self.path}" if self.path else self.file
        raise UsageError(f"{place}: {why}", way_out or self.next) from None


def parse(source: str | bytes, json_path: JsonPath) -> Any:
    """Reads JSON of any shape. UsageError for text that is none, NaN, or a member given twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            names = [name for name, _ in pairs]
            json_path.wrong(
                f"member {next(n for n in names if names.count(n) > 1)!r} is given twice"
            )
        return members

    def constant(name: str) -> NoReturn:
        json_path.wrong(f"{name} is no JSON")

    try:
        return json.loads(source, object_pairs_hook=once, parse_constant=constant)
    except RecursionError:
        json_path.wrong("nested too deep")
    except (ValueError, UnicodeDecodeError) as error:
        json_path.wrong(f"not JSON: {error}")


def members(value: object, names: Iterable[str], json_path: JsonPath) -> dict[str, Any]:
    """An object with exactly these members."""
    found, wanted = mapping(value, json_path), set(names)
    if missing := wanted - found.keys():
        json_path.wrong(f"{', '.join(sorted(missing))} missing")
    if unknown := found.keys() - wanted:
        json_path.wrong(f"unknown member {sorted(unknown)[0]!r}")
    return found


def string(value: object, json_path: JsonPath) -> str:
    """A string."""
    if not isinstance(value, str):
        json_path.wrong(f"not a string but {named(value)}")
    return value


def integer(value: object, json_path: JsonPath) -> int:
    """A whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        json_path.wrong(f"not a whole number but {named(value)}")
    return value


def seconds(value: object, json_path: JsonPath) -> float:
    """A number of seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        json_path.wrong("not a number of seconds")
    if not abs(value) < MOST_SECONDS:
        json_path.wrong("too many seconds for a time or a duration")
    return float(value)


def moment(value: object, json_path: JsonPath) -> float:
    """A time in Unix seconds, of the years 1 to 9999."""
    at = seconds(value, json_path)
    if not FIRST_MOMENT <= at < LAST_MOMENT:
        json_path.wrong("not a time of the years 1 to 9999")
    return at


def moment_or_none(value: object, json_path: JsonPath) -> float | None:
    """A time, or null."""
    return None if value is None else moment(value, json_path)


def written_moment(value: object, json_path: JsonPath) -> float:
    """A time that is spelled as people write one, in Unix seconds."""
    text = string(value, json_path)
    try:
        return parse_instant(text)
    except UsageError as error:
        json_path.wrong(error.what, error.next)


def boolean(value: object, json_path: JsonPath) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        json_path.wrong(f"not true or false but {named(value)}")
    return value


def array(value: object, json_path: JsonPath) -> list[Any]:
    """A list."""
    if not isinstance(value, list):
        json_path.wrong(f"not a list but {named(value)}")
    return value


def list_of(
    value: object, json_path: JsonPath, read: Callable[[Any, JsonPath], Item]
) -> tuple[Item, ...]:
    """A list, each item as `read` reads it."""
    return tuple(read(item, json_path / n) for n, item in enumerate(array(value, json_path)))


def mapping(value: object, json_path: JsonPath) -> dict[str, Any]:
    """An object, whatever its members are called."""
    if not isinstance(value, dict):
        json_path.wrong(f"not an object but {named(value)}")
    return value


def mapping_of(
    value: object, json_path: JsonPath, read: Callable[[Any, JsonPath], Item]
) -> dict[str, Item]:
    """An object, each member as `read` reads it."""
    found = mapping(value, json_path)
    return {name: read(member, json_path / name) for name, member in found.items()}


def strings(value: object, json_path: JsonPath) -> dict[str, str]:
    """An object whose members are all strings."""
    return mapping_of(value, json_path, string)


def named(value: object) -> str:
    """The JSON type of a value, for a message."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")


class FileKind(NamedTuple):
    """what: as a message names it. next: the command that takes the file, called {}."""

    what: str
    next: str


PLAN, PLANS, SNAPSHOT, POSITIONS = "plan", "plans", "snapshot", "positions"
REPORT, ROUNDUP, JOURNAL, CONFIGURATION = "report", "roundup", "journal-of-a-fix", "toml"
_APPLY = "apply it: reshardctl fix --plan {}"
_COMPARE = "compare with it: reshardctl inspect CONSUMER --stream STREAM --baseline {}"
KINDS = {
    PLAN: FileKind("a saved plan", _APPLY),
    PLANS: FileKind("saved plans of several consumers", _APPLY),
    SNAPSHOT: FileKind("a snapshot", "look into it: reshardctl inspect snapshot:{}"),
    POSITIONS: FileKind(
        "a file of positions",
        "move shards there: reshardctl fix CONSUMER --stream STREAM --positions {}",
    ),
    REPORT: FileKind("a report", _COMPARE),
    ROUNDUP: FileKind("a report on several consumers", _COMPARE),
    JOURNAL: FileKind(
        "a journal", "finish its fix: reshardctl fix --resume {}, or undo it: reshardctl undo {}"
    ),
    CONFIGURATION: FileKind("a configuration", "use it: reshardctl inspect --config {}"),
}
_SCHEMA = re.compile(r"reshardctl/([a-z]+)/\d+\Z", re.ASCII)
_COLUMNS = b"shard,kind,number,"
_TABLES = re.compile(rb"^\[(streams|consumers)\b", re.MULTILINE)


@contextmanager
def or_another_kind(source: str | bytes, name: str, wanted: str, *kinds: str) -> Iterator[None]:
    """A UsageError of the body says what the file is, if it is of none of these kinds.

    wanted: what the file should be, with its article. name: the file.
    """
    try:
        yield
    except UsageError:
        kind = kind_of(source.encode() if isinstance(source, str) else source)
        if kind not in KINDS or kind in kinds:
            raise
        what, command = KINDS[kind]
        way_out = command.replace("{}", shlex.quote(name))
        raise UsageError(f"{name} is {what}, not {wanted}", way_out) from None


def kind_of(source: bytes) -> str:
    """The kind of a file by its content, "" for one that reshardctl does not know."""
    first, _, _ = source.partition(b"\n")
    header = _json(first)
    if isinstance(header, dict) and header.get("kind") == "header" and "seq" in header:
        return JOURNAL
    if first.startswith(_COLUMNS):
        return POSITIONS
    if _TABLES.search(source):
        return CONFIGURATION
    body = _json(source)
    schema = body.get("schema") if isinstance(body, dict) else None
    match = _SCHEMA.match(schema) if isinstance(schema, str) else None
    return match[1] if match else ""


def _json(source: bytes) -> object:
    try:
        return json.loads(source)
    except (ValueError, RecursionError):
        return None
