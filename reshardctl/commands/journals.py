"""The journals that a command can name: this machine's, files, and objects on S3.

`undo --prune` deletes old journals of fixes with which nothing is left to do.
"""

from __future__ import annotations

import shlex
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import MISSING, dataclass, field
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.codec.argv import option, words
from reshardctl.commands.connect import bucket_client, wait
from reshardctl.commands.connect import now as clock
from reshardctl.commands.planned import note_plan, usual_directory
from reshardctl.commands.requests import Account
from reshardctl.consumers.locator import parse
from reshardctl.errors import HalfDone, NotConfirmed, ReshardError, UsageError
from reshardctl.exit import Exit
from reshardctl.journal import Header, Journal, Log, Records, S3Object, new_name, parsed, read
from reshardctl.journal.file import FileLog, check_folder, check_new
from reshardctl.journal.listing import Entry, entries, files, needed, newer, state_of
from reshardctl.journal.log import SUFFIX, Where, is_s3, name_of, placed, s3_object
from reshardctl.journal.s3 import S3Log, listed
from reshardctl.model import Image
from reshardctl.model.times import parse_seconds
from reshardctl.render.content.journals import Kept, Listing, Pruning
from reshardctl.render.words import command

MAYBE = "reshardctl undo --list   # the journals of this machine"


def typed(where: Where) -> str:
    """What names a journal in a command: its name alone, where `Journals.named` finds it so."""
    usual = isinstance(where, Path) and where.parent == usual_directory()
    return name_of(where) if usual else str(where)


class Journals(Struct, frozen=True):
    """Finds and makes journals.

    account: how S3 is reached; not used for a journal in a file.
    """

    account: Account

    @property
    def directory(self) -> Path:
        """The directory of this machine's journals."""
        return usual_directory()

    def named(self, text: str) -> Log:
        """The journal that an operator names: `s3://…`, a path, a name, or the start of one."""
        if is_s3(text):
            return self._object(_with_key(text))
        if "/" in text or Path(text).is_file():
            return FileLog(Path(text))
        logs = files(self.directory)
        wanted = text.removesuffix(SUFFIX)
        matching = [log for log in logs if name_of(log.where) == wanted]
        matching = matching or [log for log in logs if name_of(log.where).startswith(wanted)]
        if len(matching) == 1:
            return matching[0]
        if not matching:
            raise UsageError(
                f"cannot read journal {text}: No such file, and no journal in {self.directory} "
                f"begins so", MAYBE,
            )
        names = ", ".join(sorted(name_of(log.where) for log in matching)[-3:])
        raise UsageError(
            f"{len(matching)} journals in {self.directory} begin with {text!r}: {names}",
            "give more of the name",
        )

    def new(self, journal: str | None, header: Header) -> Log:
        """A new journal's log: `--journal`, or a name of its own in the usual directory."""
        note_plan(header.plan)
        table = parse(header.locator).target
        name = new_name(header.when, table, header.plan)
        if journal is None:
            return FileLog(self.directory / f"{name}{SUFFIX}")
        if is_s3(journal):
            return self._object(placed(journal, name))
        if _is_folder(journal):
            return FileLog(Path(journal) / f"{name}{SUFFIX}")
        return FileLog(Path(journal))

    def check(self, journal: str | None) -> None:
        """UsageError for a `--journal` that cannot be one, before anything is called."""
        if journal is None:
            return
        if is_s3(journal):
            s3_object(journal)
        elif _is_folder(journal):
            check_folder(Path(journal))
        else:
            check_new(Path(journal))

    def check_before_write(self, journal: str | None, origin: str = "") -> None:
        """As `check`, for the usual directory, too, if no journal is named.

        origin: file and line of the configuration that names it.
        """
        try:
            if journal is None:
                check_folder(self.directory)
            else:
                self.check(journal)
        except UsageError as error:
            if not origin:
                raise
            raise UsageError(
                f"{origin}: {error.what}", "change journal = there, or name another with --journal"
            ) from None

    def listing(self, folder: str | None) -> Listing:
        """The journals of a directory or a prefix on S3; `None`: this machine's directory."""
        location, logs = self.logs(folder)
        return Listing(location, entries(logs), folder is None)

    def logs(self, folder: str | None) -> tuple[str, list[Log]]:
        """Where the journals of a folder lie, in words, and the journals. See `listing`."""
        if folder is not None and is_s3(folder):
            prefix = s3_object(folder)
            return str(prefix), self._logs_on_s3(prefix)
        directory = self.directory if folder is None else Path(folder)
        if folder is not None and not directory.is_dir():
            raise UsageError(f"{folder} is no directory", "reshardctl undo --list")
        return str(directory), files(directory)

    def shown(self, text: str | None) -> Listing:
        """One journal with its rows. Raises ReshardError if it is not named or cannot be read."""
        if text is None:
            raise UsageError("--show needs a journal", "reshardctl undo --list   # which there are")
        log = self.named(text)
        records = read(log)
        (entry,) = entries([log])
        others = [each for each in self.beside(records) if each.where != entry.where]
        location, _, _ = str(entry.where).rpartition("/")
        usual = isinstance(entry.where, Path) and entry.where.parent == self.directory
        return Listing(location, [entry], usual, others, rows=True)

    def beside(self, records: Records) -> list[Entry]:
        """The other journals in the place of this one."""
        if isinstance(records.path, S3Object):
            folder, _, _ = records.path.key.rpartition("/")
            return entries(self._logs_on_s3(S3Object(records.path.bucket, folder)))
        own = files(records.path.parent)
        usual = [] if records.path.parent == self.directory else files(self.directory)
        return entries([*own, *usual])

    def undoing(self, entry: Entry) -> str:
        """The command that takes back what a journal has written."""
        assert entry.records is not None
        usual = isinstance(entry.where, Path) and entry.where.parent == self.directory
        return entry.records.header.undoing(entry.name if usual else entry.where)

    def later(
        self, records: Records, keys: Sequence[str], rows: Iterable[Image],
        volatile_attributes: Collection[str],
    ) -> list[Entry]:
        """Later journals of these rows whose writes are still in place, newest first.

        rows: as they are now. [] if no journal can be listed.
        """
        now = {image.key: image for image in rows}
        try:
            return newer(self.beside(records), records, keys, now, volatile_attributes)
        except ReshardError:
            return []

    def _logs_on_s3(self, prefix: S3Object) -> list[Log]:
        client = self._client(prefix)
        keys = listed(client, prefix, wait)
        return [
            S3Log(client, S3Object(prefix.bucket, key), wait, "")
            for key in keys if key.endswith(SUFFIX)
        ]

    def _object(self, where: S3Object) -> S3Log:
        return S3Log(self._client(where), where, wait, uuid.uuid4().hex)

    def _client(self, where: S3Object) -> object:
        return bucket_client(self.account, str(where))


def _is_folder(journal: str) -> bool:
    return journal.endswith("/") or Path(journal).is_dir()


def _with_key(text: str) -> S3Object:
    s3_journal = s3_object(text)
    if not s3_journal.key or s3_journal.key.endswith("/"):
        raise UsageError(f"{text} names no journal", f"reshardctl undo --list {shlex.quote(text)}")
    return s3_journal


@contextmanager
def kept_if_used(log: Log, header: Header) -> Iterator[Journal]:
    """A new journal that is deleted again if no write was begun; else as `recording_refusal`."""
    with Journal.create(log, header) as journal:
        try:
            with recording_refusal(journal):
                yield journal
        except ReshardError:
            if not journal.begun:
                journal.discard()
            raise


@contextmanager
def recording_refusal(journal: Journal) -> Iterator[None]:
    """A context of writes; if all were refused, the journal says that nothing was written.

    What another fix wrote in their place is not this one's to take back.
    """
    try:
        yield
    except HalfDone:
        raise
    except ReshardError as error:
        with suppress(ReshardError):
            journal.nothing_written(error.what)
        raise


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
    account: Account = field(default_factory=Account)
    older_than: str | None = option("--older-than", MISSING)
    dry_run: bool = False

    @property
    def accepting(self) -> str:
        """The complete command that does the same without a question."""
        place = [self.place] if self.place else []
        return " ".join(command("undo", "--prune", *place, *words(self), "--yes"))


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
