"""A tree of files as a store. One file per step: no file system has transactions.

At no point, and after no kill, does a checksum lie beside a content of another checksum, nor alone:
Spark refuses to write a file whose orphan checksum exists ("Multiple streaming queries are
concurrently using …"), while a file without one works everywhere (runs on Spark 3.3.4 to 4.3.0). So
the sibling is deleted first and written last; a note in the root tells the next writer what was
being written.

What a selector wants is listed and read until it wants nothing new and nothing changes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from reshardctl.at_once import together
from reshardctl.errors import AnswerLost, CannotTell, Refused
from reshardctl.model import AttributeValue, Create, Delete, Image, Step, Write, changed
from reshardctl.model.files import Select, Series, Wants
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.base import checked as checked_step
from reshardctl.stores.base import holds
from reshardctl.stores.files.blobs import (
    Blob,
    Blobs,
    Entry,
    Kept,
    Moved,
    Wanted,
    checked,
    crc_of,
    image_of,
    joined,
    owner_of,
    seen,
    split,
    written,
)
from reshardctl.stores.files.document import complaints_about
from reshardctl.stores.files.swapping import Unit

ROUNDS = 5
"""How often everything is read anew because something changed meanwhile."""

Look = dict[str, dict[str, AttributeValue]]
"""Folder or file → its attributes in a listing."""


class Reading:
    """One consistent read of a tree."""

    def __init__(self, blobs: Blobs, select: Select) -> None:
        """Touches nothing yet."""
        self._blobs = blobs
        self._select = select

    def consistent(self) -> list[Image]:
        """Everything, in key order, as it was at one moment as far as listings tell."""
        for _ in range(ROUNDS):
            once = _Round(self._blobs, self._select)
            once.go()
            if once.still():
                return [once.images[key] for key in sorted(once.images)]
        raise CannotTell(
            f"{self._blobs.location} changes faster than it can be read",
            "stop what writes there, then run this again",
        )


class _Round:
    def __init__(self, blobs: Blobs, select: Select) -> None:
        self._blobs, self._select = blobs, select
        self.images: dict[str, Image] = {}
        self._listed: dict[str, Look] = {}
        self._orphans: set[str] = set()
        self._read: set[str] = set()

    def go(self) -> None:
        """Lists and reads what is wanted, step by step."""
        while True:
            with complaints_about(self._blobs.location):
                wants = self._select(dict(self.images), frozenset(self._listed))
            folders = sorted(wants.folders - self._listed.keys())
            for folder, look in zip(folders, self._looks(folders), strict=True):
                self._list(folder, look)
            if not self._contents(wants) and not folders:
                return

    def still(self) -> bool:
        """Whether every folder still lists what was read."""
        return self._looks(self._listed) == list(self._listed.values()) and all(
            self._as_listed(key) for key in self._read
        )

    def _as_listed(self, key: str) -> bool:
        """Whether a file was read as the listing of its folder, if there is one, shows it."""
        folder, _ = split(key)
        look = self._listed.get(folder)
        if look is None:
            return True
        image = self.images.get(key)
        has = image.attributes if image is not None else {}
        return all(has.get(name) == value for name, value in look.get(key, {}).items())

    def _list(self, folder: str, look: Look) -> None:
        self._listed[folder] = look
        crcs = {key for key in look if self._owner(key)} if self._blobs.checksums else set()
        for key, attributes in look.items():
            owner = self._owner(key) if key in crcs else None
            if owner is None:
                self.images.setdefault(key, Image(key, attributes))
            elif owner not in look:
                self._orphans.add(owner)

    def _looks(self, folders: Iterable[str]) -> list[Look]:
        return together([partial(self._look, folder) for folder in folders], self._blobs.at_once)

    def _look(self, folder: str) -> Look:
        entries = self._blobs.list(folder)
        return {_key(folder, entry): _said(entry) for entry in entries or ()}

    def _owner(self, key: str) -> str | None:
        folder, name = split(key)
        owner = owner_of(name)
        return None if owner is None else joined(folder, owner)

    def _contents(self, wants: Wants) -> bool:
        """Reads what is wanted and not read yet; returns whether there was any."""
        # Shorter names first: so logs come in the order of their numbers, and are alike.
        files = sorted((wants.files | self._orphans) - self._read, key=lambda key: (len(key), key))
        for key in files:
            self._refuse_unread(key)
        beside = [crc_of(key) for key in files if self._has_crc(key)]
        crcs = dict(self._blobs.each(beside)) if beside else {}
        series = Series()
        for key, blob in self._blobs.each(files) if files else ():
            self._read.add(key)
            image = image_of(key, blob, crcs.pop(crc_of(key), None), series)
            if image is not None:
                self.images[key] = image
            else:
                self.images.pop(key, None)
        return bool(files)

    def _has_crc(self, key: str) -> bool:
        if not self._blobs.checksums:
            return False
        look = self._listed.get(split(key)[0])
        return look is None or crc_of(key) in look

    def _refuse_unread(self, key: str) -> None:
        image = self.images.get(key)
        if image is not None and "unread" in image.attributes:
            raise CannotTell(
                f"cannot read {self._blobs.location}/{key}: {image.attributes['unread']['S']}",
                "put a file in its place",
            )


def _key(folder: str, entry: Entry) -> str:
    key = joined(folder, entry.name)
    return f"{key}/" if entry.folder else key


def _said(entry: Entry) -> dict[str, AttributeValue]:
    if entry.unread:
        return {"unread": {"S": entry.unread}}
    return {} if entry.folder else seen(entry.size, entry.modified)


METADATA = "metadata"
"""The file in which Spark keeps the id of a query: `{"id":"…"}` (StreamMetadata)."""

_UUID = re.compile(r"[0-9a-f]{1,8}(?:-[0-9a-f]{1,4}){3}-[0-9a-f]{1,12}", re.IGNORECASE)
"""What Spark takes for an id (java.util.UUID.fromString). Another text is no identity: the fix that
mends it gives the query one."""


class Tree:
    """The files below a root that a selector wants."""

    max_writes = 1

    def __init__(self, blobs: Blobs, select: Select) -> None:
        """Touches nothing yet."""
        self._blobs = blobs
        self._select = select
        self._seen: Mapping[str, Image] = {}

    def identity(self) -> Mapping[str, str]:
        """Where the tree is, and the id of the Spark query if it has one.

        The id distinguishes the query from another one in the same directory.
        """
        identity = dict(self._blobs.identity())
        if query := self._query():
            identity.pop("inode", None)
            identity["query"] = query
        return identity

    def read(self) -> list[Image]:
        """What the selector wants, and everything else in the folders it lists, in key order.

        CannotTell if it keeps changing, or if a wanted file cannot be read.
        """
        images = Reading(self._blobs, self._select).consistent()
        self._seen = {image.key: image for image in images}
        return images

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named files as they are now."""
        names = list(dict.fromkeys(keys))
        files = self._blobs.read([checked(name) for name in names])
        crcs = self._blobs.read([crc_of(n) for n in names]) if self._blobs.checksums else {}
        return {name: image_of(name, files[name], crcs.get(crc_of(name))) for name in names}

    def write(self, step: Step, token: str) -> WriteResult:  # noqa: ARG002 - see below
        """Makes the one write of the step. A repeat needs no token: it finds what it wrote."""
        (write,) = checked_step(step, self.max_writes)
        with self._blobs.writing():
            self._write_missing_checksums()
            return self._write(write)

    def recover(self) -> None:
        """See `Recovering`."""
        with self._blobs.writing():
            self._write_missing_checksums()

    def _write_missing_checksums(self) -> None:
        """Writes the checksum of a file that a killed process left without one."""
        for note in self._blobs.unfinished():
            unit = Unit.read(note)
            if unit is None:
                continue
            blobs = self._blobs.read([unit.key, crc_of(unit.key)])
            crc = blobs[crc_of(unit.key)]
            known, wanted = unit.checksum(blobs[unit.key], crc)
            if known:
                with suppress(Moved):
                    self._move(crc_of(unit.key), crc, wanted)

    def _write(self, write: Write) -> WriteResult:
        keys = [checked(write.key)]
        if self._blobs.checksums:
            keys.append(crc_of(write.key))
        blobs = self._blobs.read(keys)
        file, crc = blobs[write.key], blobs.get(crc_of(write.key))
        now = image_of(write.key, file, crc)
        wanted = self._wanted(write, now)
        self._refuse_foreign(write)
        if not holds(write, now):
            return WriteResult.CONFLICT
        try:
            self._put(write.key, file, crc, wanted)
        except Moved:
            return WriteResult.CONFLICT
        self._seen = _with(self._seen, write)
        return WriteResult.APPLIED

    def _refuse_foreign(self, write: Write) -> None:
        """Refused for a file that the consumer reads neither before nor after the write.

        The images are those of the last `read`, and of the writes since.
        """
        before = dict(self._seen)
        if write.before is not None:
            before[write.key] = write.before
        for images in (before, _with(before, write)):
            listed = frozenset(key[:-1] for key in images if key.endswith("/"))
            if write.key in self._select(images, listed | {""}).files:
                return
        raise Refused(
            f"cannot write {self._blobs.location}/{write.key}: it is no file that this consumer "
            "reads",
            "the plan or journal is not of this checkpoint: reshardctl undo --show JOURNAL",
        )

    def _wanted(self, write: Write, now: Image | None) -> Wanted:
        """The file and its sibling after the write."""
        change = write.change
        if isinstance(change, Delete):
            return Wanted()
        if isinstance(change, Create):
            wanted = written(write.key, change.attributes)
        else:
            if change.add or not (change.set or change.remove):
                raise ValueError(f"{write.key}: a file cannot be updated so")
            left = changed(now or write.before, write)
            wanted = written(write.key, left.attributes if left else {})
        if wanted.crc is not None and not self._blobs.checksums:
            raise ValueError(f"{write.key}: there are no checksums beside files here")
        return wanted

    def _put(self, key: str, file: Blob | None, crc: Blob | None, wanted: Wanted) -> None:
        if (file.content if file else None) == wanted.content:
            self._move(crc_of(key), crc, wanted.crc, wanted.crc_kept)
            return
        if crc is None and wanted.crc is None:
            self._move(key, file, wanted.content, wanted.kept)
            return
        with self._blobs.together(Unit.of(key, file, crc, wanted.content, wanted.crc).text()):
            self._put_both(key, file, crc, wanted)

    def _put_both(self, key: str, file: Blob | None, crc: Blob | None, wanted: Wanted) -> None:
        beside = crc_of(key)
        early = None if file is not None else wanted.crc  # an orphan's goes first
        if crc is not None and (file is not None or wanted.crc is not None):
            with suppress(AnswerLost):  # the move of the file will tell its outcome
                self._move(beside, crc, early)
            placed = None if early is None else Blob(early, 0, kept=crc.kept)
            try:
                self._move(key, file, wanted.content, wanted.kept)
            except BaseException:
                with suppress(Moved, Refused, CannotTell):
                    self._move(beside, placed, crc.content, crc.kept)
                raise
            crc = placed
        else:
            self._move(key, file, wanted.content, wanted.kept)
        with suppress(Moved, Refused, CannotTell):  # the file is valid without it
            self._move(beside, crc, wanted.crc, wanted.crc_kept)

    def _move(
        self, key: str, was: Blob | None, content: bytes | None, kept: Kept | None = None
    ) -> None:
        """Creates, replaces or deletes a file. kept: what a created one is stored with."""
        if content is None:
            if was is not None:
                self._blobs.delete(key, was)
        elif was is None:
            self._blobs.create(key, content, kept)
        elif was.content != content:
            self._blobs.replace(key, content, was)

    def _query(self) -> str:
        blob = self._blobs.read([METADATA])[METADATA]
        with suppress(ValueError, RecursionError):
            metadata = json.loads(blob.content.decode()) if blob is not None else None
            query = metadata.get("id") if isinstance(metadata, dict) else None
            if isinstance(query, str) and _UUID.fullmatch(query):
                return query
        return ""


def _with(images: Mapping[str, Image], write: Write) -> dict[str, Image]:
    """The images after a write, with the folders that it makes."""
    after = dict(images)
    image = changed(after.pop(write.key, None) or write.before, write)
    if image is not None:
        after[write.key] = image
        parts = write.key.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth]) + "/"
            after.setdefault(folder, Image(folder, {}))
    return after
