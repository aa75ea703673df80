"""Lists journals with their store, their state and their order.

A journal is no longer needed if nothing is left to finish, and it is old.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from reshardctl.errors import ReshardError, UsageError
from reshardctl.journal.file import FileLog, in_use
from reshardctl.journal.log import SUFFIX, Log, Where, name_of
from reshardctl.journal.records import Records, read
from reshardctl.model import Image, keys_of, writes_by_row
from reshardctl.model.times import duration, parse_instant
from reshardctl.model.write_state import WriteState, write_states, wrote_later


class State(StrEnum):
    """How far the fix of a journal got, and its undo."""

    NOTHING = "nothing written"
    HALF_DONE = "half done"
    APPLIED = "applied and verified"
    UNDO_BEGUN = "undo begun"
    UNDONE = "undone"
    UNREADABLE = "unreadable"


class Entry(Struct, frozen=True):
    """A journal in a listing.

    records: None if it is unreadable; `why` is the reason. open: another reshardctl has it open for
    writing right now.
    """

    where: Where
    state: State
    records: Records | None
    why: str = ""
    open: bool = False

    @property
    def name(self) -> str:
        """The name that `undo` and `--resume` accept."""
        return name_of(self.where)

    @property
    def when(self) -> str:
        """When the fix began: UTC, ISO 8601; "" if that cannot be read."""
        return "" if self.records is None else self.records.header.when

    @property
    def keys(self) -> frozenset[str]:
        """The rows that the fix writes."""
        steps = () if self.records is None else self.records.header.steps
        return frozenset(keys_of(steps))

    @property
    def in_place(self) -> bool:
        """Whether something that the fix wrote may still be in place."""
        return self.state in (State.APPLIED, State.HALF_DONE, State.UNDO_BEGUN)


def state_of(records: Records) -> State:
    """How far a journal's fix, or its undo, got: by the records alone, the rows are not read.

    An undo counts from its first intent. HALF_DONE: a step was about to be written, and nothing
    says that the fix was verified, or that nothing is in place.
    """
    if records.undo is not None:
        return State.UNDONE if records.undo.outcome == "undone" else State.UNDO_BEGUN
    if not records.fix.intents:
        return State.NOTHING
    return State.APPLIED if records.fix.outcome == "verified" else State.HALF_DONE


def files(directory: Path) -> list[Log]:
    """The journals in a directory; none if it does not exist."""
    try:
        paths = sorted(p for p in directory.iterdir() if p.suffix == SUFFIX and p.is_file())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise UsageError(
            f"{directory}: {error.strerror}", "name another with RESHARDCTL_STATE_DIR"
        ) from None
    return [FileLog(path) for path in paths]


def entries(logs: Iterable[Log]) -> list[Entry]:
    """Every journal, newest first; unreadable ones last."""
    entries = [_entry(log) for log in logs]
    return sorted(entries, key=lambda entry: (entry.when, entry.name), reverse=True)


def _entry(log: Log) -> Entry:
    where = log.where
    open_now = isinstance(where, Path) and in_use(where)
    try:
        records = read(log)
    except ReshardError as error:
        return Entry(where, State.UNREADABLE, None, error.what, open_now)
    return Entry(where, state_of(records), records, "", open_now)


def newer(
    shelf: Sequence[Entry], records: Records, keys: Collection[str],
    rows: Mapping[str, Image] | None = None, volatile_attributes: Collection[str] = (),
) -> list[Entry]:
    """The later journals of the same store with some of these rows still in place, newest first.

    They have to be undone before this one. Where a row does not tell which fix wrote it later, the
    times of the journals do. Neither of two that began in the same second is later, and no other
    journal of the same plan is: it is a copy.

    Args:
        shelf: The journals to look at.
        records: Of the journal that they may be later than.
        keys: Rows that it writes.
        rows: The rows as they are now, by key; `None` if they were not read.
        volatile_attributes: Attributes that the consumer changes by itself.
    """
    own = records.header
    chains = writes_by_row(records.fix.current)
    found = []
    for entry in shelf:
        if entry.records is None or not entry.in_place or entry.records.header.plan == own.plan:
            continue
        if entry.records.header.identity != own.identity:
            continue
        by_time = entry.when > own.when
        theirs = writes_by_row(entry.records.fix.current)
        for key in theirs.keys() & chains.keys() & set(keys):
            told = None if rows is None else wrote_later(
                chains[key], theirs[key], rows.get(key), volatile_attributes
            )
            if by_time if told is None else told:
                found.append(entry)
                break
    return found


def unfinished(
    shelf: Sequence[Entry], rows: Mapping[str, Image], volatile_attributes: Collection[str]
) -> list[Entry]:
    """The journals whose fix or undo was begun and not finished, newest first.

    Without those whose rows a newer fix has written and verified since, or all of whose rows
    somebody else has: what they began is no longer in the store.

    Args:
        shelf: All journals of one consumer's rows.
        rows: Its rows as they are now, by key.
        volatile_attributes: Attributes that the consumer changes by itself.
    """
    found = []
    for entry in shelf:
        records = entry.records
        if records is None or entry.state not in (State.HALF_DONE, State.UNDO_BEGUN):
            continue
        steps = [records.run.intents[n].step for n in sorted(records.run.intents)]
        now = {key: rows.get(key) for key in keys_of(steps)}
        states = {state for row in write_states(steps, now, volatile_attributes) for state in row}
        later = newer(shelf, records, entry.keys, rows, volatile_attributes)
        replaced = any(other.state is State.APPLIED for other in later)
        if states != {WriteState.CONFLICT} and not replaced:
            found.append(entry)
    return found


NEEDED = {
    State.HALF_DONE: "half done: finish it with fix --resume, or undo it",
    State.UNDO_BEGUN: "its undo has begun: finish that with undo",
    State.UNREADABLE: "unreadable, so nothing tells whether it is needed",
}
"""Why journals of a state are kept, however old they are."""


def needed(entry: Entry, now: float, older_than: float) -> str:
    """Why a journal is kept; "" if it may be deleted.

    Args:
        entry: The journal as it is now.
        now: Unix seconds.
        older_than: Seconds since its fix began from which on a journal may be deleted.
    """
    if entry.open:
        return "being written now"
    if why := NEEDED.get(entry.state):
        return why
    try:
        began = parse_instant(entry.when)
    except UsageError:
        return "when it began cannot be read, so nothing tells how old it is"
    if now - began < older_than:
        return f"younger than {duration(older_than)}"
    return ""
