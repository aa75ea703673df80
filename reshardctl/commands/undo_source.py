"""The source of an undo: the journal of a fix, or its plan's file if that is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.codec.argv import option, words
from reshardctl.commands.journals import Journals, typed
from reshardctl.commands.observer import Observer
from reshardctl.commands.requests import Account
from reshardctl.commands.write import header_of
from reshardctl.commands.write_requests import USUAL_WATCH
from reshardctl.consumers.locator import Locator
from reshardctl.consumers.registry import consumer_of
from reshardctl.errors import ReshardError, UsageError, command_line
from reshardctl.execution.plan_file import SavedPlan, load
from reshardctl.execution.proof import plan_of
from reshardctl.journal import Header, Log, Records, read, supposed
from reshardctl.journal.listing import State, entries, files
from reshardctl.model import ShardId, Step, short
from reshardctl.model.times import instant
from reshardctl.planning.restore import RestoreRule, steps_back
from reshardctl.render.words import command
from reshardctl.snapshot import Ports
from reshardctl.snapshot.positions import position_of_option
from reshardctl.stores.given_file import content


@dataclass(frozen=True, slots=True)
class UndoRequest:
    """Which fix to undo, and how."""

    fix: str
    """Its journal: the name or the start of it, a path, or s3://BUCKET/KEY; or, if the journal is
    lost, the file of its plan."""
    _: KW_ONLY
    account: Account = field(default_factory=Account)
    """How AWS is reached."""
    config: Path | None = None
    """The configuration file, if it is not the usual one."""
    watch: str | None = option("--watch")
    """How long to watch the rows for signs of life before anything is written; by default what
    reshardctl.toml says of the consumer, or `30s`."""
    journal: str | None = option("--journal")
    """Where to journal the undo, if the fix's own journal is lost."""
    dry_run: bool = option("--dry-run", False)
    """Whether only to show what would be restored."""
    assume_stopped: bool = option("--assume-stopped", False)
    """Whether the consumer is known to be stopped; the journal records it as your word."""
    whole_file: bool = option("--whole-file", False)
    """Whether to restore a whole file that has become unreadable since the fix."""

    @property
    def patience(self) -> str:
        """How long to watch before a write."""
        return self.watch or USUAL_WATCH

    def accepting(self, locator: Locator) -> str:
        """The complete command that does the same without a question."""
        given = words(self)
        stopped = () if self.dry_run or self.assume_stopped else locator.stop_words
        return " ".join(command("undo", self.fix, *given, *stopped, "--yes"))


class Source(Struct, frozen=True):
    """The plan and the journal of a fix.

    log: the journal, None if it is lost. name: what to call it in a command.
    """

    plan: SavedPlan
    log: Log | None
    read_records: Records | None
    name: str

    def records(self, ports: Ports) -> Records:
        """What is known of the fix; if the journal is lost, every step may be in place."""
        if self.read_records is not None:
            return self.read_records
        header = replace(self.header(ports, ""), when=instant(self.plan.made))
        return supposed(header, Path(self.name))

    def steps_back(self, restore: RestoreRule) -> Sequence[Step]:
        """What is put back if the rows are as it says, and nothing is read."""
        known = self.read_records
        if known is None:
            return steps_back(self.plan.steps, restore)
        if known.undo is not None:
            return known.undo.current
        begun = [known.fix.intents[n].step for n in sorted(known.fix.intents)]
        return steps_back(begun, restore)

    def header(self, ports: Ports, watched: str) -> Header:
        """The header of the new journal, for an undo without one."""
        return header_of(self.plan, ports, watched)


def source_of(request: UndoRequest, observer: Observer) -> Source:
    """Reads a plan's file, or anything that names a journal. UsageError for neither."""
    name = request.fix
    if _is_plan(name):
        plan = load(Path(name))
        log = _journal_of(plan, request.account)
        if log is None:
            return Source(plan, None, None, name)
        observer.note(f"the journal of this plan is {log.where}: undoing by that")
    else:
        log = Journals(request.account).named(name)
    if request.journal is not None:
        raise UsageError(
            f"--journal goes with a plan whose journal is lost; {log.where} goes on itself",
            "leave --journal out",
        )
    records = read(log)
    return Source(plan_of(records), log, records, str(log.where))


MOST_SET = 20
"""Shards in one command that is printed: more would fill the screen."""


def back_by_hand(source: Source, locator: Locator, records: Records, account: Account) -> str:
    """How to go back where the consumer has gone on: what the rows were, and a fix that sets them.

    Each shard goes to its position from before the fix; one without a position goes to where the
    fix put it, as no command removes a row that is in use.
    """
    assert source.log is not None
    place, reached = typed(source.log.where), words(account)
    show = command_line("reshardctl", "undo", "--show", place, *reached)
    before = list(_before(locator, records.header).items())
    sets = [word for shard, text in before[:MOST_SET]
            for word in ("--set", f"{short(shard)}={text}")]  # fmt: skip
    if not sets:
        return f"{show}   # the rows before the fix"
    argv = (locator.text, "--stream", source.plan.stream, *reached, *sets, "--dry-run")
    fix = command_line("reshardctl", "fix", *argv)
    part = f", {MOST_SET} of {len(before)} shards" if len(before) > MOST_SET else ""
    return f"{show}   # the rows before the fix. Back by hand{part}: {fix}"


def _before(locator: Locator, header: Header) -> dict[ShardId, str]:
    """The positions, as `fix --set` takes them, to which the shards of the fix would go back."""
    consumer = consumer_of(locator)
    try:
        before, then = (consumer.texts(consumer.parse(rows)) for rows in (
            header.before, header.after
        ))
    except ReshardError:  # rows that do not stand alone
        return {}
    return {
        shard: place for shard, text in {**then, **before}.items()
        if before.get(shard) != then.get(shard) and (place := _settable(shard, text))
    }


def _settable(shard: ShardId, text: str) -> str:
    """The text of a position as `--set` takes it, "" for one that it does not take."""
    try:
        position_of_option(f"{short(shard)}={text}")
    except UsageError:
        return ""
    return text


def _is_plan(name: str) -> bool:
    """Whether the file is a plan, whose first line is a brace; a journal's is a whole record."""
    try:
        return content(Path(name), "").startswith(b"{\n")
    except (UsageError, ValueError):
        return False


def _journal_of(plan: SavedPlan, account: Account) -> Log | None:
    """The journal of this plan on this machine, if it exists and something of it is in place."""
    directory = Journals(account).directory
    logs = {str(log.where): log for log in files(directory)}
    for entry in entries(logs.values()):
        if entry.records is None or entry.state in (State.NOTHING, State.UNDONE):
            continue
        if _is_of(entry.records, plan):
            return logs[str(entry.where)]
    return None


def _is_of(records: Records, plan: SavedPlan) -> bool:
    """Whether a journal is of this plan, whatever the commands that made both were told."""
    header = records.header
    if header.plan == plan.digest:
        return True
    if (header.locator, header.steps) != (plan.locator, plan.steps):
        return False
    try:
        return plan_of(records).unvouched == plan.unvouched
    except UsageError:
        return False
