"""A consumer's positions as a file: JSON, or CSV for a spreadsheet; written and read.

Both have one line for each position. CSV does not name the stream; its texts are made harmless for
a spreadsheet and a terminal, JSON has them as they are stored.

An operator gives positions by such a file, a snapshot, or options. Every error names the file and
its line or entry, and the reason.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from reshardctl.codec.strict import JsonPath, array, members, parse, string, written_moment
from reshardctl.codec.values import (
    AFTER,
    AT,
    AT_TIMESTAMP,
    KINDS,
    SHARD_END,
    cut_of,
    kind_of,
    number_of,
    sub_number_of,
)
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import UsageError
from reshardctl.model import Basis, Cut, ShardId, is_number, shard_named, short
from reshardctl.model.phrases import did_you_mean
from reshardctl.model.times import instant, parse_instant
from reshardctl.planning.as_given import StoredPosition, stored_positions
from reshardctl.planning.policy import GivenPosition, GivenPositions
from reshardctl.render.escape import cell, compact
from reshardctl.report.report import RepairOptions, case_of
from reshardctl.stores.given_file import content
from reshardctl.stores.named_file import save_private

VERSION = "reshardctl/positions/1"
COLUMNS = ("shard", "kind", "number", "sub_number", "time", "basis", "stored")


class ExportedPositions(Struct, frozen=True):
    """The positions of one consumer. taken, created: Unix seconds; arn: the stream's."""

    locator: str
    arn: str
    created: float
    taken: float
    positions: tuple[StoredPosition, ...]


def json_text(exported: ExportedPositions) -> str:
    """The JSON document."""
    return "".join(_json_lines(exported))


def csv_text(exported: ExportedPositions) -> str:
    """The same positions as CSV, with a head of `COLUMNS`."""
    table = io.StringIO()
    writer = csv.DictWriter(table, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: cell(value) if isinstance(value, str) else value for name, value in entry.items()}
        for entry in map(_entry, exported.positions)
    )
    return table.getvalue()


def save(text: str, path: Path) -> None:
    """Writes a new file, whole or not at all, readable by its owner only; or a pipe."""
    save_private(path, [text], "nothing was saved", "-o")


def _json_lines(exported: ExportedPositions) -> Iterator[str]:
    head = {
        "schema": VERSION, "taken": instant(exported.taken), "consumer": exported.locator,
        "stream": {"arn": exported.arn, "created": instant(exported.created)},
    }
    yield "{"
    for name, value in head.items():
        yield f'"{name}": {compact(value)},\n'
    yield '"positions": ['
    for number, position in enumerate(exported.positions):
        yield (",\n" if number else "\n") + compact(_entry(position))
    yield "\n]}\n"


def _entry(position: StoredPosition) -> Mapping[str, Any]:
    return {
        "shard": position.shard,
        **place_of(position.cut),
        "time": None if position.time is None else instant(position.time),
        "basis": str(position.basis),
        "stored": position.text,
    }


def place_of(cut: Cut | None) -> dict[str, Any]:
    """The members that say where a position is."""
    return {
        "kind": None if cut is None else kind_of(cut),
        "number": None if cut is None else number_of(cut),
        "sub_number": None if cut is None else sub_number_of(cut),
    }


WORDS = [kind for kind in KINDS if kind not in (AFTER, AT)]
NEED = "name a snapshot, or make one with reshardctl export CONSUMER --stream STREAM -o FILE"


def positions_in(text: str, name: str) -> GivenPositions:
    """The positions in a file of `export`. name: the file, for messages."""
    if text.lstrip()[:1] == "{":
        return _of_json(text, JsonPath(name, next=NEED))
    try:
        return GivenPositions(once(_of_csv(text, name)), source=name)
    except csv.Error as error:
        raise UsageError(f"{name}: not CSV: {error}", NEED) from None


def position_of_option(text: str) -> GivenPosition:
    """Reads `3=NUMBER`, `3=NUMBER/SUB`, `3=TRIM_HORIZON` or `3=AT_TIMESTAMP:TIME`."""
    where, (name, equals, value) = f"--set {text}", text.partition("=")
    if not (name and equals and value):
        raise UsageError(
            f"{where}: not SHARD=POSITION",
            "e.g. --set 3=TRIM_HORIZON, 3=LATEST, 3=SHARD_END, 3=AT_TIMESTAMP:2026-09-22T09:14:00Z "
            "or 3= and a sequence number",
        )
    if not value[:1].isdecimal() and value.partition(":")[0] not in KINDS:
        raise UsageError(
            f"{where}: {value!r} is no sequence number and no position",
            did_you_mean(value, WORDS, f"positions are {', '.join(WORDS)} and sequence numbers"),
        )
    kind, colon, rest = value.partition(":")
    if kind in KINDS and (kind == AT_TIMESTAMP or not colon):
        entry = {"kind": kind, "time": rest or None}
    else:
        number, slash, sub = value.partition("/")
        entry = {"kind": AFTER, "number": number, "sub_number": sub if slash else None}
    return GivenPosition(where, shard_named(name), cut_in(entry, where))


def once(positions: Iterator[GivenPosition]) -> tuple[GivenPosition, ...]:
    """The positions. UsageError for a shard that is given twice."""
    by_shard: dict[ShardId, GivenPosition] = {}
    for position in positions:
        earlier = by_shard.setdefault(position.shard, position)
        if earlier is not position:
            shard = f"shard {short(position.shard)}"
            here, first = (each.where.removesuffix(f": {shard}") for each in (position, earlier))
            raise UsageError(
                f"{here}: {shard} is given twice, first in {first}", "leave one of them out"
            )
    return tuple(by_shard.values())


def text_of(path: Path) -> str:
    """The file's text. UsageError if it cannot be read."""
    try:
        return content(path, NEED).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not a text in UTF-8", NEED) from None


def _of_json(text: str, path: JsonPath) -> GivenPositions:
    body = parse(text, path)
    schema = body.get("schema")
    if schema != VERSION:
        raise UsageError(f"{path.file}: a {schema!r}, and {VERSION!r} is needed", NEED)
    file = members(body, ("schema", "taken", "consumer", "stream", "positions"), path)
    stream = members(file["stream"], ("arn", "created"), path / "stream")
    entries = array(file["positions"], path / "positions")
    return GivenPositions(
        once(_json_entry(entry, path / "positions" / n) for n, entry in enumerate(entries)),
        arn=string(stream["arn"], path / "stream" / "arn"),
        created=written_moment(stream["created"], path / "stream" / "created"),
        source=path.file,
    )


def _json_entry(value: object, path: JsonPath) -> GivenPosition:
    where = f"{path.file}: {path.path}"
    entry = members(value, COLUMNS, path)
    for name in ("kind", "number", "time", "basis", "stored"):
        if entry[name] is not None:
            string(entry[name], path / name)
    sub = entry["sub_number"]
    if sub is not None and (isinstance(sub, bool) or not isinstance(sub, int)):
        (path / "sub_number").wrong("not a whole number")
    shard = string(entry["shard"], path / "shard")
    return _position({**entry, "sub_number": None if sub is None else str(sub)}, shard, where)


def _of_csv(text: str, name: str) -> Iterator[GivenPosition]:
    table = csv.DictReader(io.StringIO(text))
    if missing := {"shard", "kind"} - set(table.fieldnames or ()):
        raise UsageError(f"{name}: line 1: no column {sorted(missing)[0]!r}", NEED)
    if unknown := set(table.fieldnames or ()) - set(COLUMNS):
        raise UsageError(
            f"{name}: line 1: no such column: {sorted(unknown)[0]!r}",
            f"the columns are {', '.join(COLUMNS)}",
        )
    for row in table:
        where = f"{name}: line {table.line_num}"
        if None in row or None in row.values():
            raise UsageError(f"{where}: not as many values as line 1 has columns", NEED)
        yield _position({column: row[column] or None for column in row}, row["shard"], where)


def _position(entry: Mapping[str, Any], shard: str, where: str) -> GivenPosition:
    basis = entry.get("basis") or Basis.STORED.value
    if basis not in set(Basis):
        raise UsageError(f"{where}: no basis is called {basis!r}", f"it is {', '.join(Basis)}")
    if not shard:
        raise UsageError(f"{where}: no shard is named", "give its number or its id")
    given = shard_named(shard)
    named = f"{where}: shard {short(given)}"
    return GivenPosition(named, given, cut_in(entry, named), Basis(basis), entry.get("stored"))


def cut_in(entry: Mapping[str, Any], where: str) -> Cut | None:
    """The cut that an entry means, `None` for an entry without a kind."""
    kind, number, time = entry["kind"], entry.get("number"), entry.get("time")
    if kind is None:
        return None
    if kind not in KINDS:
        raise UsageError(f"{where}: no kind is called {kind!r}", f"there are {', '.join(KINDS)}")
    if number is not None and kind not in (AFTER, AT, SHARD_END):
        raise UsageError(
            f"{where}: {kind} and a sequence number: one of both is meant",
            f"leave number empty, or write {AFTER} in kind",
        )
    if number is None and kind in (AFTER, AT):
        raise UsageError(f"{where}: {kind} without a sequence number", "give one")
    if number is not None and not is_number(number):
        raise UsageError(
            f"{where}: {number!r} is no sequence number",
            "it is a whole number of 56 digits; a spreadsheet keeps them as text only",
        )
    sub = entry.get("sub_number") or "0"
    if not (sub.isascii() and sub.isdecimal()) or len(sub) > 9:
        raise UsageError(f"{where}: {sub!r} is no sub-sequence number", "it is a whole number")
    try:
        at = parse_instant(time) if kind == AT_TIMESTAMP and time is not None else None
    except UsageError as error:
        raise UsageError(f"{where}: {error.what}", error.next) from None
    return cut_of(kind, number, int(sub), at)


def exported_of(snapshot: Snapshot) -> ExportedPositions:
    """The positions in a snapshot."""
    stream, case = snapshot.lineage.stream, case_of(snapshot, RepairOptions())
    return ExportedPositions(
        snapshot.locator.text, stream.arn, stream.created, snapshot.now,
        tuple(stored_positions(case)),
    )
