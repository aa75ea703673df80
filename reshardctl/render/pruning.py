"""Journals that `undo --prune` deletes, and those that it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reshardctl.render.console import Sheet
from reshardctl.render.documents import Json
from reshardctl.render.words import count

if TYPE_CHECKING:
    from reshardctl.journal.listing import Entry

FORMATS = ("text", "concise", "json", "jsonl")
"""Formats that can show a pruning."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A journal that is kept, and why. failed: it was to be deleted, and could not be."""

    entry: Entry
    why: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Pruning:
    """What is deleted, and what is kept. done: as opposed to what would be deleted."""

    location: str
    deleted: Sequence[Entry]
    kept: Sequence[Kept]
    done: bool


def text(sheet: Sheet, pruning: Pruning) -> None:
    """Each journal with what becomes of it, then how many were deleted."""
    for line in _each(pruning):
        sheet.line(line)
    if pruning.deleted or pruning.kept:
        sheet.blank()
    sheet.line(_total(pruning))


def lines(pruning: Pruning) -> list[str]:
    """One line for each journal, and one for all. Not escaped yet."""
    return [*_each(pruning), _total(pruning)]


def pruning_document(pruning: Pruning) -> Json:
    """The document without its schema and exit code."""
    return {
        "location": pruning.location,
        "deleted": [_entry(entry) for entry in pruning.deleted] if pruning.done else [],
        "would_delete": [] if pruning.done else [_entry(entry) for entry in pruning.deleted],
        "kept": [
            {**_entry(kept.entry), "why": kept.why, "failed": kept.failed} for kept in pruning.kept
        ],
    }


def _each(pruning: Pruning) -> list[str]:
    verb = "deleted" if pruning.done else "would delete"
    shown = [f"{verb}: {entry.name}   {entry.state}   {entry.when}" for entry in pruning.deleted]
    for kept in pruning.kept:
        verb = "not deleted" if kept.failed else "kept"
        shown.append(f"{verb}: {kept.entry.name}   {kept.why}")
    return shown


def _total(pruning: Pruning) -> str:
    what = count(len(pruning.deleted), "journal")
    done = f"{what} deleted" if pruning.done else f"{what} to delete. Nothing was deleted"
    return f"{done}, {len(pruning.kept)} kept in {pruning.location}."


def _entry(entry: Entry) -> Json:
    return {
        "name": entry.name, "path": str(entry.where), "state": str(entry.state),
        "when": entry.when or None,
    }
