"""Commit logs, `commits/<batch>`: a version and a line of JSON.

Version 2 comes with `spark.sql.streaming.stateStore.checkpointFormatVersion=2` (Spark 4.0 and
later) and adds stateUniqueIds (CommitLog; runs on Spark 3.3.4 to 4.3.0). Which malformed files
Spark reads: 25 texts on Spark 3.5.9, 4.0.5 and 4.3.0 (runs, November 2026).
"""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.consumers.spark.json4s import long_of, members_of
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.version_marker import version_of


@dataclass(frozen=True, slots=True)
class CommitLog:
    """A commit.

    watermark: nextBatchWatermarkMs, milliseconds since 1970, 0 for none. state_ids: whether it
    names versions of the state. source: the whole file.
    """

    version: int
    watermark: int
    state_ids: bool
    source: str


def parse_commit_log(text: str) -> CommitLog:
    """Read a commit; raises Malformed if Spark cannot, UsageError if a newer Spark wrote it."""
    if not text:
        raise Malformed("it is empty")
    head, *rest = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    version = version_of(head.strip())
    members = members_of(rest[0], "line 2") if rest else {}
    watermark = long_of(members, "nextBatchWatermarkMs")
    return CommitLog(version, watermark, bool(members.get("stateUniqueIds")), text)
