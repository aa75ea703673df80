"""Whose the files and folders of a Hadoop file system are, and how new ones become the same user's.

A file that an operator writes would belong to the operator, with the mode of the operator's umask,
and the user of the query could be locked out of it. Only a superuser may give a file to somebody
else (FSDirAttrOp.setOwner of HDFS). File systems without owners say the same of every file.

Errors of these file systems are put into words for an operator. Names of exceptions:
org.apache.hadoop.security, hdfs.protocol and hdfs.server.namenode of Hadoop 3.5, whose NameNode
raises each of them in tests/unit/spark/test_hdfs.py; that of a standby, which comes without its
name, was seen by hand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from reshardctl.errors import CannotTell, Refused, ReshardError, UsageError
from reshardctl.stores.files.swapping import ours
from reshardctl.stores.files.system import Ownership, foreign, unlike

_OWNER = re.compile(r'inode="[^"]*":([^:\s]+):')
_CLIENT = "export HADOOP_CONF_DIR=…   # the folder of the cluster's core-site.xml and hdfs-site.xml"
_STEPS = {
    "UnknownHostException": _CLIENT,
    "Incomplete HDFS URI": _CLIENT,
    "not supported in state standby": "name the nameservice and not one NameNode: hdfs://NAMESERVICE/PATH",
    "ConnectException": "hdfs getconf -confKey fs.defaultFS   # is this the NameNode's address?",
    "SafeModeException": "hdfs dfsadmin -safemode get   # run this again when it is OFF",
    "QuotaExceededException": "make room, then run this again",
}


def next_step(message: str) -> str:
    """What to do about an error, "" if that is not known. message: with the exception's name."""
    if "Permission denied" in message:
        owner = _OWNER.search(message)
        return f"run this as {f'user {owner[1]}' if owner else 'the user whose files they are'}"
    return next((step for name, step in _STEPS.items() if name in message), "")


def unread(error: Exception, name: str) -> ReshardError:
    """The error of a read that failed."""
    message = _message_of(error)
    what = f"cannot read {name}: {message}"
    if kind_of(error) == "UnsupportedFileSystemException" or "ClassNotFound" in message:
        return UsageError(what, "put its connector into spark.jars.packages of spark-defaults.conf")
    return CannotTell(what, next_step(message))


def refused(error: Exception, name: str) -> Refused:
    """The error of a write of which nothing is in place."""
    message = _message_of(error)
    return Refused(f"cannot write {name}: {message}", next_step(message))


def is_denied(error: Exception) -> bool:
    """Whether the user lacks a permission."""
    return kind_of(error) == "AccessControlException"


def kind_of(error: Exception) -> str:
    """The simple name of the Java exception."""
    java = _java_of(error)
    return "" if java is None else str(java.getClass().getSimpleName())


def _message_of(error: Exception) -> str:
    """The exception's name and the first line of its message."""
    java = _java_of(error)
    if java is None:
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    return f"{kind_of(error)}: {str(java.getMessage()).partition(chr(10))[0]}"


def _java_of(error: Exception) -> Any:
    """The Java exception of py4j's error, or of what PySpark makes of that beside a session."""
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)


def owned(status: Any) -> Ownership:
    """Whose a file or a folder is, and its mode, by its FileStatus."""
    mode = status.getPermission().toShort()
    return Ownership(mode, str(status.getOwner()), str(status.getGroup()))


class Owners:
    """Of the files and folders below one root."""

    def __init__(self, context: Any, permissions: Any) -> None:
        """context: Hadoop's FileContext. permissions: its package `fs.permission`."""
        self._context = context
        self._permissions = permissions
        self._permission = permissions.FsPermission

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

    def let_in(self, path: Any, like: Any) -> None:
        """Gives a file the access control list of another one, if that has one."""
        status = self._context.getFileStatus(like)
        if status.hasAcl():
            entries = self._context.getAclStatus(like).getEntries()
            whole = self._permissions.AclUtil.getAclFromPermAndEntries(
                status.getPermission(), entries
            )
            self._context.setAcl(path, whole)

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
