"""The journals that a command can name: this machine's, files, and objects on S3."""

from __future__ import annotations

import os
import shlex
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reshardctl.commands.account import Account
from reshardctl.commands.connect import bucket_client, wait
from reshardctl.consumers import locator as locators
from reshardctl.errors import ReshardError, UsageError
from reshardctl.journal import Header, Journal, Log, Records, S3Object, new_name, state_dir
from reshardctl.journal.bucket import listed
from reshardctl.journal.file import FileLog
from reshardctl.journal.listed_journals import Entry, entries, files, younger
from reshardctl.journal.place import SUFFIX, is_s3, name_of, placed, s3_object
from reshardctl.journal.s3 import S3Log
from reshardctl.render.journals import Listing

MAYBE = "reshardctl undo --list   # the journals of this machine"


@dataclass(frozen=True, slots=True)
class Journals:
    """account: how S3 is reached; nothing of it is called for a journal in a file."""

    account: Account

    @property
    def directory(self) -> Path:
        """Where this machine's are."""
        return state_dir(os.environ, Path.home())

    def named(self, text: str) -> Log:
        """The journal that an operator names: `s3://…`, a path, a name, or how one begins."""
        if is_s3(text):
            return self._object(_with_key(text))
        if "/" in text or Path(text).is_file():
            return FileLog(Path(text))
        logs = files(self.directory)
        wanted = text.removesuffix(SUFFIX)
        found = [log for log in logs if name_of(log.where) == wanted]
        found = found or [log for log in logs if name_of(log.where).startswith(wanted)]
        if len(found) == 1:
            return found[0]
        if not found:
            raise UsageError(
                f"cannot read journal {text}: No such file, and no journal in {self.directory} "
                f"begins so", MAYBE,
            )
        names = ", ".join(sorted(name_of(log.where) for log in found)[-3:])
        raise UsageError(
            f"{len(found)} journals in {self.directory} begin with {text!r}: {names}",
            "give more of the name",
        )

    def new(self, place: str | None, header: Header) -> Log:
        """Where a new journal goes: `--journal`, or a name of its own in the usual directory."""
        table = locators.parse(header.locator).target
        name = new_name(header.when, table, header.plan)
        if place is None:
            return FileLog(self.directory / f"{name}{SUFFIX}")
        if is_s3(place):
            return self._object(placed(place, name))
        if place.endswith("/") or Path(place).is_dir():
            return FileLog(Path(place) / f"{name}{SUFFIX}")
        return FileLog(Path(place))

    def check(self, place: str | None) -> None:
        """UsageError for a `--journal` that is no place on S3, before anything is called."""
        if place is not None and is_s3(place):
            s3_object(place)

    def listing(self, place: str | None) -> Listing:
        """The journals of a place, of this machine's directory without one."""
        if place is not None and is_s3(place):
            return self._on_s3(s3_object(place))
        directory = self.directory if place is None else Path(place)
        if place is not None and not directory.is_dir():
            raise UsageError(f"{place} is no directory", "reshardctl undo --list")
        return Listing(str(directory), entries(files(directory)), place is None)

    def beside(self, records: Records) -> list[Entry]:
        """The other journals of the place that this one is in."""
        if isinstance(records.path, S3Object):
            folder, _, _ = records.path.key.rpartition("/")
            return list(self._on_s3(S3Object(records.path.bucket, folder)).entries)
        own = files(records.path.parent)
        usual = [] if records.path.parent == self.directory else files(self.directory)
        return entries([*own, *usual])

    def word_for(self, entry: Entry) -> str:
        """The shortest text by which a command finds it."""
        usual = isinstance(entry.where, Path) and entry.where.parent == self.directory
        return entry.name if usual else shlex.quote(str(entry.where))

    def later(self, records: Records, keys: Sequence[str]) -> list[Entry]:
        """Journals that wrote these rows after this one and still stand, newest first; [] when
        that cannot be looked at."""
        try:
            return younger(self.beside(records), records, keys)
        except ReshardError:
            return []

    def _on_s3(self, prefix: S3Object) -> Listing:
        client = self._client(prefix)
        keys = listed(client, prefix, wait)
        logs = [
            S3Log(client, S3Object(prefix.bucket, key), wait, "")
            for key in keys if key.endswith(SUFFIX)
        ]
        return Listing(str(prefix), entries(logs), False)

    def _object(self, where: S3Object) -> S3Log:
        return S3Log(self._client(where), where, wait, uuid.uuid4().hex)

    def _client(self, where: S3Object) -> object:
        return bucket_client(self.account, str(where))


def _with_key(text: str) -> S3Object:
    found = s3_object(text)
    if not found.key or found.key.endswith("/"):
        raise UsageError(f"{text} names no journal", f"reshardctl undo --list {text}")
    return found


@contextmanager
def kept_if_used(log: Log, header: Header) -> Iterator[Journal]:
    """A new journal that goes again if no write was ever begun: there is nothing to undo in it."""
    with Journal.create(log, header) as journal:
        try:
            yield journal
        except ReshardError:
            if not journal.begun:
                journal.discard()
            raise

