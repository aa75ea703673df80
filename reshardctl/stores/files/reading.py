"""Lists and reads what a selector wants, until it wants nothing new and nothing changes."""

from __future__ import annotations

from reshardctl.errors import CannotTell
from reshardctl.model import AttributeValue, Image
from reshardctl.model.files import Select, Series, Wants
from reshardctl.stores.complaints import complaints_about
from reshardctl.stores.files.blobs import Blobs, Entry, joined, split
from reshardctl.stores.files.images import crc_of, image_of, owner_of, seen

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
            folders = wants.folders - self._listed.keys()
            for folder in sorted(folders):
                self._list(folder)
            if not self._contents(wants) and not folders:
                return

    def still(self) -> bool:
        """Whether every folder still lists what was read."""
        return all(self._look(folder) == was for folder, was in self._listed.items()) and all(
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

    def _list(self, folder: str) -> None:
        look = self._look(folder)
        self._listed[folder] = look
        crcs = {key for key in look if self._owner(key)} if self._blobs.checksums else set()
        for key, attributes in look.items():
            owner = self._owner(key) if key in crcs else None
            if owner is None:
                self.images.setdefault(key, Image(key, attributes))
            elif owner not in look:
                self._orphans.add(owner)

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
