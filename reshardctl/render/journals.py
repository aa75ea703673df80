"""A list of journals: for people, for grep, and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reshardctl.render.console import Sheet
from reshardctl.render.documents import Json, steps_document
from reshardctl.render.row_diffs import row_diffs
from reshardctl.render.words import command, count, elsewhere

if TYPE_CHECKING:
    from reshardctl.journal.listing import Entry

FORMATS = ("text", "concise", "json", "jsonl")
"""Formats that can list journals."""
SHOWING = ("text", "concise", "json", "jsonl")
"""Formats that can show one with its rows."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Journals of one place.

    location: the directory or the prefix. usual: whether a journal in it is named without it.
    others: journals there that are not shown. rows: whether the rows of each are shown, as they
    were before the fix and as it left them.
    """

    location: str
    entries: Sequence[Entry]
    usual: bool
    others: Sequence[Entry] = ()
    rows: bool = False


def text(sheet: Sheet, listing: Listing) -> None:
    """Name and state, what it is about, and the command that takes it back."""
    if not listing.entries:
        sheet.line(f"No journals in {listing.location}.")
        return
    if not listing.rows:
        sheet.line(f"{count(len(listing.entries), 'journal')} in {listing.location}, newest first")
    for entry in listing.entries:
        sheet.blank()
        sheet.fields((entry.name, "bold"), _state(listing, entry))
        sheet.fields(*_about(entry), indent=2)
        for argv in _commands(listing, entry, elsewhere(sheet.context.suggested_command)):
            sheet.command(argv)
        if listing.rows:
            sheet.blank()
            for line in _rows(entry):
                sheet.whole(line)


def lines(listing: Listing) -> list[str]:
    """One line a journal. Not escaped yet."""
    shown: list[str] = []
    for entry in listing.entries:
        shown.append(f"{entry.name}: {_state(listing, entry)}  {'  '.join(_about(entry))}")
        shown += _rows(entry) if listing.rows else ()
    return shown


def journals_document(listing: Listing) -> Json:
    """The list without its schema and exit code."""
    return {
        "location": listing.location,
        "journals": [_journal(listing, entry) for entry in listing.entries],
    }


def journal_document(listing: Listing) -> Json:
    """The one journal that is shown, and what its fix writes."""
    (entry,) = listing.entries
    steps = () if entry.records is None else entry.records.header.steps
    return {
        "location": listing.location, "journal": _journal(listing, entry),
        "steps": steps_document(steps),
    }


def _journal(listing: Listing, entry: Entry) -> Json:
    """An entry. Facts of a journal that cannot be read are null."""
    header = None if entry.records is None else entry.records.header
    return {
        "name": entry.name,
        "path": str(entry.where),
        "state": str(entry.state),
        "open": entry.open,
        "why": entry.why or _failed(entry),
        "when": None if header is None else header.when,
        "locator": None if header is None else header.locator,
        "stream": None if header is None else header.stream.get("arn"),
        "policy": None if header is None else header.policy,
        "plan": None if header is None else header.plan,
        "who": None if header is None else header.who,
        "rows": sorted(entry.keys),
        "undo_first": [younger.name for younger in _younger(listing, entry)],
    }


def _rows(entry: Entry) -> list[str]:
    """The rows before the fix and after it, as a unified diff."""
    return [] if entry.records is None else list(row_diffs(entry.records.header.steps))


def _about(entry: Entry) -> list[str]:
    if entry.records is None:
        return [entry.why]
    header = entry.records.header
    stream = header.stream.get("arn", "").rpartition("/")[2]
    facts = [header.when, header.locator, stream, header.policy, count(len(entry.keys), "row")]
    return [*facts, failed] if (failed := _failed(entry)) else facts


def _failed(entry: Entry) -> str:
    """Why a fix or an undo stopped, as it was recorded."""
    return "" if entry.records is None else entry.records.run.why


def _state(listing: Listing, entry: Entry) -> str:
    if entry.open:
        return "being written now"
    first = [younger.name for younger in _younger(listing, entry)]
    return f"{entry.state}; undo {first[0]} first" if first else str(entry.state)


def _younger(listing: Listing, entry: Entry) -> list[Entry]:
    if entry.records is None or not entry.in_place:
        return []
    from reshardctl.journal.listing import younger

    return younger([*listing.entries, *listing.others], entry.records, entry.keys)


def _commands(listing: Listing, entry: Entry, reached: Sequence[str]) -> list[list[str]]:
    """What takes it back, or finishes it; nothing where nothing is in place."""
    if not entry.in_place or entry.open:
        return []
    from reshardctl.journal import S3Object
    from reshardctl.journal.listing import State

    whole = isinstance(entry.where, S3Object) or not listing.usual
    named = str(entry.where) if whole else entry.name
    back = command("undo", named, *reached)
    if entry.state is State.HALF_DONE:
        return [command("fix", "--resume", named, *reached), back]
    return [back]
