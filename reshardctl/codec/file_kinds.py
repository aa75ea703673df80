"""What a file is that was named in the place of another one, and which command takes it.

Files and documents of reshardctl name their schema; a journal begins with its header, a CSV file
of positions with the names of its columns, and a configuration has tables of its own.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from reshardctl.errors import UsageError


class FileKind(NamedTuple):
    """what: as a message names it. next: the command that takes the file, called {}."""

    what: str
    next: str


PLAN, PLANS, SNAPSHOT, POSITIONS = "plan", "plans", "snapshot", "positions"
REPORT, ROUNDUP, JOURNAL, CONFIGURATION = "report", "roundup", "journal-of-a-fix", "toml"
_APPLY = "apply it: reshardctl fix --plan {}"
_COMPARE = "compare with it: reshardctl inspect CONSUMER --baseline {}"
KINDS = {
    PLAN: FileKind("a saved plan", _APPLY),
    PLANS: FileKind("saved plans of several consumers", _APPLY),
    SNAPSHOT: FileKind("a snapshot", "look into it: reshardctl inspect snapshot:{}"),
    POSITIONS: FileKind(
        "a file of positions", "move shards there: reshardctl fix CONSUMER --positions {}"
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
