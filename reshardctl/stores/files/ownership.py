"""Whose a file and the folders above it are, and who may read and write them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from reshardctl.stores.files.blobs import Kept

_MODE = re.compile(r"[0-7]{4}")
_OWNER = re.compile(r"[^:]+:[^:]*")
_IDS = re.compile(r"\d+:\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Ownership:
    """Mode, user and group of a file or a folder: ids on this machine, names on HDFS."""

    mode: int
    user: str
    group: str

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """That of an existing file of this machine."""
        return cls(stat.S_IMODE(status.st_mode), str(status.st_uid), str(status.st_gid))

    @classmethod
    def read(cls, key: str, kept: Kept) -> Self:
        """Reads what `kept` gave. ValueError for anything else."""
        mode, owner = str(kept.get("mode")), str(kept.get("owner"))
        if not _MODE.fullmatch(mode) or not _OWNER.fullmatch(owner):
            raise ValueError(f"{key}: {dict(kept)} is no mode and owner")
        user, _, group = owner.partition(":")
        return cls(int(mode, 8), user, group)

    @property
    def ids(self) -> tuple[int, int]:
        """User and group of this machine. ValueError for names."""
        if not _IDS.fullmatch(f"{self.user}:{self.group}"):
            raise ValueError(f"{self.user}:{self.group} are no ids of a user and a group")
        return int(self.user), int(self.group)

    @property
    def kept(self) -> Kept:
        """As `chmod` and `chown` take it."""
        return {"mode": f"{self.mode:04o}", "owner": f"{self.user}:{self.group}"}


@dataclass(frozen=True, slots=True)
class Place:
    """Whose a file is, and the folders that go when it is the last one in them.

    folders: innermost first, up to the root and without it; () if each is like the one above it.
    """

    file: Ownership
    folders: tuple[Ownership, ...] = ()

    @classmethod
    def read(cls, key: str, kept: Kept) -> Self:
        """Reads what `kept` gave. ValueError for anything else."""
        file = Ownership.read(key, kept)
        if "folders" not in kept:
            return cls(file)
        found: Any = kept["folders"]
        each = found if isinstance(found, list) else []
        if len(each) != key.count("/") or not all(isinstance(one, dict) for one in each):
            raise ValueError(f"{key}: {found} are not its folders")
        return cls(file, tuple(Ownership.read(key, folder) for folder in each))

    @property
    def kept(self) -> Kept:
        """As JSON."""
        folders = {"folders": [dict(folder.kept) for folder in self.folders]}
        return {**self.file.kept, **(folders if self.folders else {})}


def unlike(folders: Sequence[Ownership]) -> tuple[Ownership, ...]:
    """Folders without the last of them, the root; none if each is like the one above it."""
    return tuple(folders[:-1]) if len(set(folders)) > 1 else ()


def folders_of(root: Path, folder: Path) -> tuple[Ownership, ...]:
    """The folders of a file of this machine, as `Place` has them; none if one has gone."""
    above = [folder, *folder.parents]
    with suppress(OSError, ValueError):
        within = above[: above.index(root) + 1]
        return unlike([Ownership.of(each.stat()) for each in within])
    return ()
