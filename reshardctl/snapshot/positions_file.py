"""A consumer's positions as a file: JSON, or CSV for a spreadsheet.

Both have one line for each position. CSV does not name the stream; its texts are made harmless for
a spreadsheet and a terminal, JSON has them as they are stored.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reshardctl.codec.values import kind_of, number_of, sub_number_of
from reshardctl.model.times import instant
from reshardctl.planning.as_given import StoredPosition
from reshardctl.render.escape import cell
from reshardctl.render.json_text import compact
from reshardctl.stores.new_file import save_new

VERSION = "reshardctl/positions/1"
COLUMNS = ("shard", "kind", "number", "sub_number", "time", "basis", "stored")


@dataclass(frozen=True, slots=True)
class ExportedPositions:
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
    """Writes a new file, whole or not at all, readable by its owner only."""
    save_new(path, [text], "nothing was saved", "-o")


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
    cut = position.cut
    return {
        "shard": position.shard,
        "kind": None if cut is None else kind_of(cut),
        "number": None if cut is None else number_of(cut),
        "sub_number": None if cut is None else sub_number_of(cut),
        "time": None if position.time is None else instant(position.time),
        "basis": str(position.basis),
        "stored": position.text,
    }
