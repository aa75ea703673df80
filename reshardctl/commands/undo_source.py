"""What an undo is asked for: the journal of a fix, or its plan's file where that is lost."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path

from reshardctl.commands.account import Account
from reshardctl.commands.fix_request import USUAL_WATCH
from reshardctl.commands.journals import Journals
from reshardctl.commands.observer import Observer
from reshardctl.commands.stopped import header_of
from reshardctl.errors import UsageError
from reshardctl.execution import plan_file as savedplan
from reshardctl.execution.plan_file import SavedPlan
from reshardctl.execution.ports import Ports
from reshardctl.journal import Header, Log, Records, read, supposed
from reshardctl.journal.listed_journals import State, entries, files
from reshardctl.model.times import instant


@dataclass(frozen=True, slots=True)
class UndoRequest:
    """Which fix to take back, and how."""

    fix: str
    """Its journal: the name or how that begins, a path, or s3://BUCKET/KEY. If the journal is lost:
    the file of its plan."""
    _: KW_ONLY
    account: Account = field(default_factory=Account)
    """How AWS is reached."""
    config: Path | None = None
    """The file of the configured names, if it is not the usual one."""
    dry_run: bool = False
    """Whether to show only what would be put back."""
    assume_stopped: bool = False
    """Whether the consumer is known to be stopped; it is journaled as your word."""
    watch: str = USUAL_WATCH
    """How long the rows are watched for signs of life before anything is written."""
    whole_file: bool = False
    """Whether to put a whole file back that somebody left unreadable since the fix."""
    journal: str | None = None
    """Where to journal the undo, where the fix's own journal is lost."""


@dataclass(frozen=True, slots=True)
class Source:
    """log: the journal, None where it is lost. name: what to call it in a command."""

    plan: SavedPlan
    log: Log | None
    read_records: Records | None
    name: str

    def records(self, ports: Ports) -> Records:
        """What is known of the fix; of a lost journal that every step may be in place."""
        if self.read_records is not None:
            return self.read_records
        header = replace(self.header(ports, ""), when=instant(self.plan.made))
        return supposed(header, Path(self.name))

    def header(self, ports: Ports, watched: str) -> Header:
        """For the new journal of an undo without one."""
        return header_of(self.plan, ports, watched)


def source_of(request: UndoRequest, observer: Observer) -> Source:
    """A plan's file, or anything that names a journal. UsageError for neither."""
    name = request.fix
    if _is_plan(name):
        plan = savedplan.load(Path(name))
        found = _journal_of(plan, request.account)
        if found is None:
            return Source(plan, None, None, name)
        observer.note(f"the journal of this plan is {found.where}: undoing by that")
    else:
        found = Journals(request.account).named(name)
    if request.journal is not None:
        raise UsageError(
            f"--journal goes with a plan whose journal is lost; {found.where} goes on itself",
            "leave --journal out",
        )
    records = read(found)
    plan = savedplan.parsed(records.header.notes.get("saved", ""), str(found.where))
    return Source(plan, found, records, str(found.where))


def _is_plan(name: str) -> bool:
    """Plans are indented, so their first line is a brace alone; a journal's is a whole record."""
    try:
        with Path(name).open("rb") as file:
            return file.read(2) == b"{\n"
    except (OSError, ValueError):
        return False


def _journal_of(plan: SavedPlan, account: Account) -> Log | None:
    """The journal of this plan on this machine, if it is not lost and something of it stands."""
    directory = Journals(account).directory
    digest = plan.digest
    logs = {str(log.where): log for log in files(directory)}
    for entry in entries(logs.values()):
        if entry.records is None or entry.state in (State.NOTHING, State.UNDONE):
            continue
        if entry.records.header.plan == digest:
            return logs[str(entry.where)]
    return None
