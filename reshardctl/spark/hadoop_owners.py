"""Whose the files and folders of a Hadoop file system are, and how new ones become the same user's.

A file that an operator writes would belong to the operator, with the mode of the operator's umask,
and the user of the query could be locked out of it. Only a superuser may give a file to somebody
else (FSDirAttrOp.setOwner of HDFS). File systems without owners say the same of every file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Self

from reshardctl.spark.hadoop_faults import is_denied
from reshardctl.stores.files.blobs import Kept
from reshardctl.stores.files.faults import foreign
from reshardctl.stores.files.swapping import ours

_MODE = re.compile(r"[0-7]{4}")
_OWNER = re.compile(r"[^:]+:[^:]*")


@dataclass(frozen=True, slots=True)
class Owned:
    """The mode of a file or a folder, and the names of its user and its group."""

    mode: int
    user: str
    group: str

    @classmethod
    def of(cls, status: Any) -> Self:
        """That of an existing one, by its FileStatus."""
        mode = status.getPermission().toShort()
        return cls(mode, str(status.getOwner()), str(status.getGroup()))

    @classmethod
    def read(cls, key: str, kept: Kept) -> Self:
        """Reads what `kept` gave. ValueError for anything else."""
        mode, owner = str(kept.get("mode")), str(kept.get("owner"))
        if not _MODE.fullmatch(mode) or not _OWNER.fullmatch(owner):
            raise ValueError(f"{key}: {dict(kept)} is no mode and owner")
        user, _, group = owner.partition(":")
        return cls(int(mode, 8), user, group)

    @property
    def kept(self) -> Kept:
        """As `hadoop fs -chmod` and `-chown` take it."""
        return {"mode": f"{self.mode:04o}", "owner": f"{self.user}:{self.group}"}


class Owners:
    """Of the files and folders below one root."""

    def __init__(self, context: Any, permission: Any) -> None:
        """context: Hadoop's FileContext. permission: its class FsPermission."""
        self._context = context
        self._permission = permission

    def neighbour(self, target: Any) -> Owned:
        """That of another file of the folder, or of the folder itself; nothing is executable."""
        folder = target.getParent()
        files = {
            str(status.getPath().getName()): status
            for status in self._context.util().listStatus(folder)
            if status.isFile()
        }
        others = sorted((name.startswith("."), name) for name in files if not ours(name))
        status = files[others[0][1]] if others else self._context.getFileStatus(folder)
        like = Owned.of(status)
        return replace(like, mode=like.mode & 0o666)

    def make(self, folder: Any, made: list[Any]) -> None:
        """Makes the missing folders, each like its parent. made: receives them, innermost first.

        Raises:
            Refused: One would not belong to the owner of its parent.
        """
        if self._context.util().exists(folder):
            return
        parent = folder.getParent()
        self.make(parent, made)
        self._context.mkdir(folder, self._permission.getDirDefault(), False)
        made.insert(0, folder)
        self.give(folder, Owned.of(self._context.getFileStatus(parent)), str(folder))

    def give(self, path: Any, wanted: Owned, name: str) -> None:
        """Gives a file or a folder a mode, a user and a group. name: in messages.

        Raises:
            Refused: It would belong to another user.
        """
        mine = Owned.of(self._context.getFileStatus(path))
        if mine.mode != wanted.mode:
            self._context.setPermission(path, self._permission(f"{wanted.mode:o}"))
        if (mine.user, mine.group) == (wanted.user, wanted.group):
            return
        try:
            self._context.setOwner(path, wanted.user, wanted.group)
        except Exception as error:
            if not is_denied(error):
                raise
            if mine.user != wanted.user:
                raise foreign(name, f"user {wanted.user}", "the superuser") from None
