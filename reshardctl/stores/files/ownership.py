"""Whose a file is, and who may read and write it."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import Self

from reshardctl.stores.files.blobs import Kept

_MODE = re.compile(r"[0-7]{4}")
_OWNER = re.compile(r"[^:]+:[^:]*")
_IDS = re.compile(r"\d+:\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Ownership:
    """The mode of a file, its user and its group: ids on this machine, names on HDFS."""

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
