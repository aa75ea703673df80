"""Whose the files and folders of a Hadoop file system are, and how new ones become the same user's.

A file that an operator writes would belong to the operator, with the mode of the operator's umask,
and the user of the query could be locked out of it. Only a superuser may give a file to somebody
else (FSDirAttrOp.setOwner of HDFS). File systems without owners say the same of every file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reshardctl.spark.hadoop_faults import is_denied
from reshardctl.stores.files.swapping import ours
from reshardctl.stores.files.system import Ownership, foreign, unlike


def owned(status: Any) -> Ownership:
    """Whose a file or a folder is, and its mode, by its FileStatus."""
    mode = status.getPermission().toShort()
    return Ownership(mode, str(status.getOwner()), str(status.getGroup()))


class Owners:
    """Of the files and folders below one root."""

    def __init__(self, context: Any, permission: Any) -> None:
        """context: Hadoop's FileContext. permission: its class FsPermission."""
        self._context = context
        self._permission = permission

    def neighbour(self, target: Any) -> Ownership:
        """That of another file of the folder, or of the folder itself; nothing is executable."""
        folder = target.getParent()
        files = {
            str(status.getPath().getName()): status
            for status in self._context.util().listStatus(folder)
            if status.isFile()
        }
        others = sorted((name.startswith("."), name) for name in files if not ours(name))
        status = files[others[0][1]] if others else self._context.getFileStatus(folder)
        like = owned(status)
        return replace(like, mode=like.mode & 0o666)

    def above(self, folder: Any, depth: int) -> tuple[Ownership, ...]:
        """The folders of a file, as `Place` has them. depth: of the innermost, below the root."""
        found = []
        for _ in range(depth + 1):
            found.append(owned(self._context.getFileStatus(folder)))
            folder = folder.getParent()
        return unlike(found)

    def make(self, folder: Any, made: list[Any], owns: Sequence[Ownership] = ()) -> None:
        """Makes the missing folders. made: receives them, innermost first.

        owns: whose they are, innermost first; without it, each is like its parent.

        Raises:
            Refused: One would belong to another user.
        """
        if self._context.util().exists(folder):
            return
        parent = folder.getParent()
        self.make(parent, made, owns[1:])
        self._context.mkdir(folder, self._permission.getDirDefault(), False)
        made.insert(0, folder)
        own = owns[0] if owns else owned(self._context.getFileStatus(parent))
        self.give(folder, own, str(folder))

    def give(self, path: Any, wanted: Ownership, name: str) -> None:
        """Gives a file or a folder a mode, a user and a group. name: in messages.

        Raises:
            Refused: It would belong to another user.
        """
        mine = owned(self._context.getFileStatus(path))
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
