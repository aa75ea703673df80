"""Tells of a fix or an undo of the same rows that was begun on this machine and not finished.

A new fix is not refused for one that was interrupted: its plan is proven on the rows as they are,
and where neither `fix --resume` nor `undo` can go on, both send to a new `fix`. It is refused
beside one that is running. Journals on S3 are not looked at: no report needs permissions for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from reshardctl.commands.planned import usual_directory
from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import (
    INSPECT,
    HalfDone,
    Refused,
    ReshardError,
    StalePlan,
    UndoRefused,
    UsageError,
)
from reshardctl.execution.apply import remaining
from reshardctl.execution.undo import undo_steps
from reshardctl.journal import Header, Log, name_of
from reshardctl.journal.listing import Entry, State, entries, files, unfinished
from reshardctl.journal.log import is_s3, named_after
from reshardctl.model import Image
from reshardctl.planning.restore import Restore
from reshardctl.render.words import elsewhere
from reshardctl.report.report import Interrupted, Report, WayOut


def with_unfinished(report: Report, folder: str | None, words: Sequence[str]) -> Report:
    """The report with a note on each such journal, as a caveat.

    folder: where reshardctl.toml keeps the consumer's journals, besides this machine's directory.
    words: the arguments that name the consumer to other commands.
    """
    reached = elsewhere(words)
    snapshot = report.snapshot
    begun = tuple(_begun(entry, snapshot, reached) for entry in _unfinished(snapshot, folder))
    if not begun:
        return report
    told = tuple(each.note for each in begun)
    return replace(
        report, notes=(*told, *report.notes), caveats=(*told, *report.caveats), interrupted=begun
    )


def require_alone(snapshot: Snapshot, folder: str | None) -> None:
    """Refused while another reshardctl has a journal of these rows open. folder: as above."""
    for entry in _shelf(snapshot, folder):
        if entry.open:
            raise Refused(
                f"{_writing(entry)}; nothing was written",
                f"wait until it has ended, then {INSPECT}",
            )


def _unfinished(snapshot: Snapshot, folder: str | None) -> list[Entry]:
    shelf = _shelf(snapshot, folder)
    return unfinished(shelf, _rows(snapshot), snapshot.locator.spec.volatile_attributes)


def _rows(snapshot: Snapshot) -> dict[str, Image]:
    return {image.key: image for image in snapshot.images}


def _begun(entry: Entry, snapshot: Snapshot, reached: Sequence[str]) -> Interrupted:
    """What was interrupted, how to finish it, and how to take it back, as far as that is possible.

    Over a row that another process has written since, neither writes.
    """
    if entry.open or entry.records is None:
        return Interrupted(_writing(entry))
    name, records = _name(entry), entry.records
    back = ("undo", name, *records.header.undone_with, *reached)
    on = ("fix", "--resume", name, *records.header.resumed_with, *reached)
    undo_begun = entry.state is State.UNDO_BEGUN
    ways, rule = [], Restore.of(snapshot.locator.spec)
    with suppress(HalfDone, StalePlan):
        remaining(records.run.current, snapshot.images, records, rule.volatile_attributes)
        ways.append(WayOut("finishes it", back if undo_begun else on))
    if not undo_begun:
        with suppress(UndoRefused, UsageError):
            undo_steps(records, _rows(snapshot), rule, rule.volatile_attributes)
            ways.append(WayOut("takes it back", back))
    what = f"the {'undo of the ' if undo_begun else ''}fix of {entry.when} was interrupted"
    closed = len(ways) < (1 if undo_begun else 2)
    written = ", and another process has written a row of it since" if closed else ""
    return Interrupted(what + written, tuple(ways))


def _shelf(snapshot: Snapshot, folder: str | None) -> list[Entry]:
    """The journals of the same rows, newest first."""
    logs = [log for log in _logs(folder) if named_after(log.where, snapshot.locator.target)]
    return [
        entry for entry in entries(logs)
        if entry.records is not None and _is_of(entry.records.header, snapshot)
    ]


def _logs(folder: str | None) -> Iterator[Log]:
    """The journals of this machine, and of a folder; none of a directory that cannot be listed."""
    own = [] if not folder or is_s3(folder) else [Path(folder)]
    for directory in dict.fromkeys([usual_directory(), *own]):
        try:
            yield from files(directory)
        except ReshardError:
            continue


def _is_of(header: Header, snapshot: Snapshot) -> bool:
    """Whether a journal is of the same rows: of the store, the stream and the application."""
    try:
        wrote = parse(header.locator)
    except UsageError:
        return False
    own, spec = snapshot.locator, snapshot.locator.spec
    return (
        bool(header.identity)
        and all(snapshot.store.get(name) == value for name, value in header.identity.items())
        and header.stream.get("arn") == snapshot.lineage.stream.arn
        and all(wrote.options.get(name) == own.options.get(name) for name in spec.selectors)
    )


def _name(entry: Entry) -> str:
    usual = isinstance(entry.where, Path) and entry.where.parent == usual_directory()
    return name_of(entry.where) if usual else str(entry.where)


def _writing(entry: Entry) -> str:
    return f"another reshardctl is writing these positions now: journal {_name(entry)}"
