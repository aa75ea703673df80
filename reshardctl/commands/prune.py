"""`undo --prune`: deletes old journals of fixes with which nothing is left to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from reshardctl.commands.account import Account
from reshardctl.commands.connect import now as clock
from reshardctl.commands.journals import Journals
from reshardctl.errors import NotConfirmed, ReshardError, UsageError
from reshardctl.exit import Exit
from reshardctl.journal import Log, parsed
from reshardctl.journal.listing import Entry, entries, needed, state_of
from reshardctl.model.times import parse_seconds
from reshardctl.render.content.journals import Kept, Pruning
from reshardctl.render.words import command


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneRequest:
    """Which journals to delete.

    Attributes:
        place: A directory or `s3://BUCKET/PREFIX`; `None` for this machine's directory.
        older_than: How long ago their fix has begun at least, as `30d`.
        account: How S3 is reached.
        dry_run: Only say what would be deleted.
    """

    place: str | None = None
    older_than: str | None
    account: Account = field(default_factory=Account)
    dry_run: bool = False

    @property
    def accepting(self) -> str:
        """The complete command that does the same without a question."""
        words = [*([self.place] if self.place else []), *self.account.argv()]
        age = ["--older-than", self.older_than or ""]
        return " ".join(command("undo", "--prune", *words, *age, "--yes"))


def always(_wanted: Pruning) -> bool:
    """Consents to every deletion."""
    return True


def prune(request: PruneRequest, confirm: Callable[[Pruning], bool] = always) -> Pruning:
    """Deletes old journals of fixes that were verified, undone or never begun.

    A journal that is half done, whose undo has begun, that cannot be read, or that another process
    has open is kept, with the reason. Each is locked and read again before it is deleted.

    confirm: called with what would be deleted before anything is. Raises UsageError for a request
    that cannot be met, NotConfirmed when nothing was deleted.
    """
    if request.older_than is None:
        raise UsageError(
            "--prune needs an age", "reshardctl undo --prune --older-than 30d --dry-run"
        )
    older_than = parse_seconds(request.older_than, "--older-than")
    now = clock()
    location, logs = Journals(request.account).logs(request.place)
    listed = {entry.where: entry for entry in entries(logs)}
    reasons = {where: needed(entry, now, older_than) for where, entry in listed.items()}
    kept = [Kept(entry, reasons[where]) for where, entry in listed.items() if reasons[where]]
    wanted = Pruning(
        location, [entry for where, entry in listed.items() if not reasons[where]], kept, done=False
    )
    if request.dry_run or not wanted.deleted:
        return replace(wanted, done=not wanted.deleted)
    if not confirm(wanted):
        raise NotConfirmed("not confirmed; nothing was deleted")
    return _deleted(wanted, logs, now, older_than)


def exit_of(pruning: Pruning) -> Exit:
    """UNKNOWN if a journal could not be deleted, FINDINGS for a dry run that has any."""
    if any(each.failed for each in pruning.kept):
        return Exit.UNKNOWN
    return Exit.OK if pruning.done else Exit.FINDINGS


def _deleted(wanted: Pruning, logs: list[Log], now: float, older_than: float) -> Pruning:
    """Deletes each; one that cannot be deleted leaves the others. Ctrl-C leaves the rest."""
    by_place = {log.where: log for log in logs}
    deleted: list[Entry] = []
    kept = list(wanted.kept)
    for index, entry in enumerate(wanted.deleted):
        try:
            why = _delete(by_place[entry.where], now, older_than)
        except KeyboardInterrupt:
            if not deleted:
                raise
            kept += [Kept(rest, "cancelled", failed=True) for rest in wanted.deleted[index:]]
            break
        except ReshardError as error:
            kept.append(Kept(entry, error.what, failed=True))
            continue
        if why:
            kept.append(Kept(entry, why))
        else:
            deleted.append(entry)
    return replace(wanted, deleted=deleted, kept=kept, done=True)


def _delete(log: Log, now: float, older_than: float) -> str:
    """Locks the journal, looks at it again and deletes it; why not, if it is needed after all."""
    content = log.open()
    try:
        records = parsed(content, log.where)
        why = needed(Entry(log.where, state_of(records), records), now, older_than)
        if not why:
            log.delete()
    finally:
        log.close()
    return why
