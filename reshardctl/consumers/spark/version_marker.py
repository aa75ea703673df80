"""The first line of Spark's logs: `v` and the version of what follows (HDFSMetadataLog)."""

from __future__ import annotations

import re

from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.errors import UsageError

NEWEST = 2
"""Written by Spark 4.2.0 and later in offsets/ and by 4.0 and later in commits/."""
NEWEST_SPARK = "4.3.0"

_MARKER = re.compile(r"v([1-9][0-9]{0,8})\Z", re.ASCII)


def version_of(line: str) -> int:
    """The version in a log's first line.

    Raises Malformed for a line that names none. Raises UsageError for a version that a newer Spark
    wrote: what such a Spark does at its next start is not known.
    """
    match = _MARKER.match(line)
    if match is None:
        raise Malformed(f"its first line is {line[:40]!r}, and only v1 and v2 are known")
    version = int(match[1])
    if version > NEWEST:
        raise UsageError(
            f"the checkpoint was written by a newer Spark than {NEWEST_SPARK}, the newest known to "
            f"this reshardctl: a log of it begins with {line}, and {NEWEST_SPARK} writes v{NEWEST}",
            "use a newer reshardctl",
        )
    return version
