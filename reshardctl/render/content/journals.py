"""Journals: listed, shown, and deleted or kept by `undo --prune`; and what `discover` found.

Each for people, for grep, and for programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reshardctl.consumers.sequence_numbers import Origin
from reshardctl.diagnosis.discovery import Confidence, Found, Holding, Table
from reshardctl.model.times import instant
from reshardctl.render.content.report_json import steps_document
from reshardctl.render.content.writes import row_diffs
from reshardctl.render.document import Json
from reshardctl.render.sheet import Part, Sheet
from reshardctl.render.words import LISTED, capital, command, count, elsewhere, sentence

if TYPE_CHECKING:
    from reshardctl.journal.listing import Entry


class Listing(Struct, frozen=True):
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
        if listing.rows and (how_far := _how_far(entry)):
            sheet.line(how_far, indent=2)
        for argv in _commands(listing, entry, elsewhere(sheet.context.suggested_command)):
            sheet.command(argv)
        if listing.rows:
            sheet.blank()
            for line in _rows(entry):
                sheet.whole(line)


def lines(listing: Listing) -> list[str]:
    """One line a journal, or that there is none. Not escaped yet."""
    shown = [] if listing.entries else [f"no journals in {listing.location}"]
    for entry in listing.entries:
        shown.append(f"{entry.name}: {_state(listing, entry)}  {'  '.join(_about(entry))}")
        shown += [*filter(None, [_how_far(entry)]), *_rows(entry)] if listing.rows else ()
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
        "undo_first": [newer.name for newer in _newer(listing, entry)],
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


def _how_far(entry: Entry) -> str:
    """How far the fix got, or its undo if that was begun; "" for a journal that cannot be read."""
    if entry.records is None:
        return ""
    undo = entry.records.undo is not None
    progress = entry.records.run.progress
    doubt = ""
    if progress.doubtful:
        doubt = f", and {count(progress.doubtful, 'row')} begun, of which no answer is recorded"
    what, done = ("undo", "put back") if undo else ("fix", "written")
    return f"{what}: {progress.written} of {count(progress.planned, 'row')} {done}{doubt}"


def _failed(entry: Entry) -> str:
    """Why a fix or an undo stopped, as it was recorded."""
    return "" if entry.records is None else entry.records.run.why


def _state(listing: Listing, entry: Entry) -> str:
    if entry.open:
        return "being written now"
    first = [newer.name for newer in _newer(listing, entry)]
    return f"{entry.state}; undo {first[0]} first" if first else str(entry.state)


def _newer(listing: Listing, entry: Entry) -> list[Entry]:
    if entry.records is None or not entry.in_place:
        return []
    from reshardctl.journal.listing import newer

    return newer([*listing.entries, *listing.others], entry.records, entry.keys)


def _commands(listing: Listing, entry: Entry, reached: Sequence[str]) -> list[list[str]]:
    """What takes it back, or finishes it; nothing where nothing is in place.

    Where a later fix has to be undone first, that alone.
    """
    if not entry.in_place or entry.open:
        return []
    if first := _newer(listing, entry):
        return _commands(listing, first[0], reached)[-1:]
    from reshardctl.journal import S3Object
    from reshardctl.journal.listing import State

    whole = isinstance(entry.where, S3Object) or not listing.usual
    named = str(entry.where) if whole else entry.name
    assert entry.records is not None
    header = entry.records.header
    back = command("undo", named, *header.undone_with, *reached)
    if entry.state is State.HALF_DONE:
        return [command("fix", "--resume", named, *header.resumed_with, *reached), back]
    return [back]


class Kept(Struct, frozen=True):
    """A journal that is kept, and why. failed: it was to be deleted, and could not be."""

    entry: Entry
    why: str
    failed: bool = False


class Pruning(Struct, frozen=True):
    """What is deleted, and what is kept. done: as opposed to what would be deleted."""

    location: str
    deleted: Sequence[Entry]
    kept: Sequence[Kept]
    done: bool


def pruning_text(sheet: Sheet, pruning: Pruning) -> None:
    """Each journal with what becomes of it, then how many were deleted."""
    for line in _each(pruning):
        sheet.line(line)
    if pruning.deleted or pruning.kept:
        sheet.blank()
    sheet.line(_total(pruning))


def pruning_lines(pruning: Pruning) -> list[str]:
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


_NEAR = (Holding.EARLIER, Holding.NOTHING)
"""What the table of a stream that was made again holds, and one that was emptied."""
_COLORS = {Confidence.CERTAIN: "green", Confidence.STRONG: "green", Confidence.POSSIBLE: "yellow"}


def discovered_text(sheet: Sheet, discovery: Found) -> None:
    """A locator a line with its evidence below it; then the rest, and what could not be read."""
    stream = discovery.lineage.stream
    sheet.fields(
        (stream.name, "bold"), stream.region, count(len(discovery.lineage), "shard"),
        f"created {instant(stream.created)}",
    )
    for table in discovery.matching():
        sheet.blank()
        _table(sheet, discovery, table)
    if discovery.unread:
        sheet.blank()
        sheet.line(("Could not be read", "bold"), "; one of these may hold the positions:")
        for name, why in discovery.unread:
            sheet.line(f"{name}: {why}", indent=2)
    _others(sheet, discovery)
    _last(sheet, discovery)


def _table(sheet: Sheet, discovery: Found, table: Table) -> None:
    confidence = table.evidence.confidence
    head: Part = (table.locator or table.name, "bold")
    more: list[Part] = [table.region] if len(discovery.regions) > 1 else []
    if table.evidence.shared:
        more.append(("shared with another stream", "yellow"))
    sheet.fields(head, (str(confidence), _COLORS.get(confidence, "")), *more, indent=2)
    sheet.line(sentence(table.sentence), indent=4)
    if table.unreadable:
        what = f"A table of {table.library.name} that no command can read"
        sheet.line(f"{what}: {table.unreadable}.", indent=4)


def _others(sheet: Sheet, discovery: Found) -> None:
    """Every table that may be this stream's after all, and the first of the other streams'."""
    others = discovery.others()
    if not others:
        return
    near = [table for table in others if table.evidence.holding in _NEAR]
    far = [table for table in others if table.evidence.holding not in _NEAR]
    sheet.blank()
    sheet.line(("Tables without a position of this stream", "bold"), ":")
    for table in (*near, *far[:LISTED]):
        where = f" in {table.region}" if len(discovery.regions) > 1 else ""
        sheet.line(f"{table.locator or table.name}{where}: {table.sentence}", indent=2)
    if len(far) > LISTED:
        sheet.line(f"and {len(far) - LISTED} more; --format json names them", indent=2)


def _last(sheet: Sheet, discovery: Found) -> None:
    stream = discovery.lineage.stream
    sheet.blank()
    where = "in this account and region"
    if discovery.regions != (stream.region,):
        where = f"in this account in {' and '.join(discovery.regions)}"
    sheet.line(f"{count(discovery.looked, 'table')} {where}.")
    for note in discovery.notes:
        sheet.line(sentence(capital(note)))
    if not discovery.matching():
        read = "" if discovery.unread else "All could be read. "
        sheet.line((f"{read}No table is known to hold positions of this stream.", "bold"))
        sheet.line("They may be in another region or account: --table-region, --table-profile.")
    earlier = [t for t in discovery.others() if t.evidence.holding is Holding.EARLIER]
    commands = [table.words for table in (*discovery.matching(), *earlier) if table.words]
    if commands:
        sheet.blank()
    for words in commands:
        sheet.command(command("inspect", *words))


def discovery_document(discovery: Found) -> Json:
    """What was searched and what it holds, without its schema and exit code."""
    stream = discovery.lineage.stream
    return {
        "taken": instant(discovery.now),
        "stream": {
            "name": stream.name, "arn": stream.arn, "created": instant(stream.created),
            "shards": len(discovery.lineage),
        },
        "tables": [_one(table) for table in discovery.matching()],
        "other_streams": [table.name for table in discovery.others()],
        "others": [
            {**_one(table), "holds": table.evidence.holding.value} for table in discovery.others()
        ],
        "unread": [{"table": name, "why": why} for name, why in discovery.unread],
        "looked": discovery.looked, "regions": list(discovery.regions),
        "notes": list(discovery.notes),
    }


def _one(table: Table) -> Json:
    evidence = table.evidence
    streams: dict[str, int] = {}
    for names, numbers in table.streams.items():
        for name in names:
            streams[name] = streams.get(name, 0) + numbers
    return {
        "table": table.name, "region": table.region, "library": table.library.name,
        "locator": table.locator or None,
        "command": " ".join(command("inspect", *table.words)) if table.words else None,
        "confidence": str(evidence.confidence), "why": table.sentence,
        "streams": streams,
        "evidence": {
            "rows": evidence.rows, "rows_of_others": evidence.others,
            "numbers": len(evidence.numbers),
            "fitting": evidence.count(Origin.OWN, Origin.UNPROVEN), "exact": evidence.exact,
            "taken": evidence.taken, "earlier": evidence.count(Origin.EARLIER),
            "elsewhere": evidence.count(Origin.ELSEWHERE),
            "unproven": evidence.count(Origin.UNPROVEN), "known_shards": evidence.known,
            "named": evidence.named,
        },
    }
