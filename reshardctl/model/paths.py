"""Paths as Spark spells them: of this machine, or with the scheme of a file system in front."""

from __future__ import annotations

import re

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")


def on_this_machine(path: str) -> str | None:
    """The path without `file:` or `file://`; `None` if it has another scheme.

    A scheme is followed by one slash or by three where no host is named: Hadoop takes `hdfs:///x`,
    and spells it `hdfs:/x` (org.apache.hadoop.fs.Path.toString).
    """
    match = _SCHEME.match(path)
    if match is None:
        return path.removeprefix("file:")
    return path.removeprefix("file:").removeprefix("//") if match[1] == "file" else None
