"""Gives new files and folders of a Hadoop file system the owner and the mode of their neighbours.

A file that an operator writes would belong to the operator, with the mode of the operator's umask,
and the user of the query could be locked out of it. Only a superuser may give a file to somebody
else (FSDirAttrOp.setOwner of HDFS). File systems without owners say the same of every file.
"""

from __future__ import annotations

from typing import Any

from reshardctl.spark.hadoop_faults import is_denied
from reshardctl.stores.files.faults import foreign
from reshardctl.stores.files.swapping import ours

_READ_WRITE, _ALL = 0o666, 0o1777


class Ownership:
    """Of the files and folders below one root.

    Attributes:
        context: Hadoop's FileContext.
        permission: Its class FsPermission.
    """

    def __init__(self, context: Any, permission: Any) -> None:
        self._context = context
        self._permission = permission

    def neighbour(self, target: Any) -> Any:
        """The status of another file of the folder, or of the folder itself."""
        folder = target.getParent()
        files = {
            str(status.getPath().getName()): status
            for status in self._context.util().listStatus(folder)
            if status.isFile()
        }
        others = sorted((n.startswith("."), n) for n in files if not ours(n))
        return files[others[0][1]] if others else self._context.getFileStatus(folder)

    def make(self, folder: Any, made: list[Any]) -> None:
        """Makes the missing folders, each like its parent. made: receives them, innermost first.

        Raises:
            Refused: One would not belong to the owner of its parent.
        """
        if self._context.util().exists(folder):
            return
        parent = folder.getParent()
        self.make(parent, made)
        like = self._context.getFileStatus(parent)
        self._context.mkdir(folder, self._permission.getDirDefault(), False)
        made.insert(0, folder)
        self._give(folder, like, _ALL, str(folder))

    def give(self, file: Any, like: Any, name: str) -> None:
        """Makes a file's owner, group and mode those of another one.

        file: its path. like: the status of the other one. name: the file's, in messages.

        Raises:
            Refused: It would not belong to the other one's owner.
        """
        self._give(file, like, _READ_WRITE, name)

    def _give(self, path: Any, like: Any, modes: int, name: str) -> None:
        mine = self._context.getFileStatus(path)
        wanted = like.getPermission().toShort() & modes
        if mine.getPermission().toShort() != wanted:
            self._context.setPermission(path, self._permission(f"{wanted:o}"))
        owner, group = like.getOwner(), like.getGroup()
        if (mine.getOwner(), mine.getGroup()) == (owner, group):
            return
        try:
            self._context.setOwner(path, owner, group)
        except Exception as error:
            if not is_denied(error):
                raise
            if mine.getOwner() != owner:
                raise foreign(name, f"user {owner}", "the superuser") from None
