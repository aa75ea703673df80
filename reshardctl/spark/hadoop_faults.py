"""Errors of Hadoop's file systems, in words for an operator.

Names of exceptions: org.apache.hadoop.security, hdfs.protocol and hdfs.server.namenode of Hadoop
3.5, whose NameNode raises each of them in tests/spark/test_hdfs.py; that of a standby, which comes
without its name, was seen by hand.
"""

from __future__ import annotations

import re
from typing import Any

from reshardctl.errors import CannotTell, Refused, ReshardError, UsageError

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
