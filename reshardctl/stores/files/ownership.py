"""Whose a file is, and who may read and write it."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import Self

from reshardctl.stores.files.blobs import Kept

_MODE = re.compile(r"[0-7]{4}")
_OWNER = re.compile(r"\d+:\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Ownership:
    """The mode of a file, and the ids of its user and group."""

    mode: int
    user: int
    group: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """That of an existing file."""
        return cls(stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid)

    @classmethod
    def read(cls, key: str, kept: Kept) -> Self:
        """Reads what `kept` gave. ValueError for anything else."""
        mode, owner = str(kept.get("mode")), str(kept.get("owner"))
        if not _MODE.fullmatch(mode) or not _OWNER.fullmatch(owner):
            raise ValueError(f"{key}: {dict(kept)} is no mode and owner")
        user, _, group = owner.partition(":")
        return cls(int(mode, 8), int(user), int(group))

    @property
    def kept(self) -> Kept:
        """As `chmod` and `chown` take it."""
        return {"mode": f"{self.mode:04o}", "owner": f"{self.user}:{self.group}"}
