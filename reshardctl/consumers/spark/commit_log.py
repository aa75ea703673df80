"""Commit logs, `commits/<batch>`: a version and a line of JSON.

Version 2 comes with `spark.sql.streaming.stateStore.checkpointFormatVersion=2` (Spark 4.0 and
later) and adds stateUniqueIds (CommitLog; runs on Spark 3.3.4 to 4.3.0).
"""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.version_marker import version_of
from reshardctl.errors import UsageError
from reshardctl.strict import Place, named, parse


@dataclass(frozen=True, slots=True)
class CommitLog:
    """A commit. watermark: nextBatchWatermarkMs, milliseconds since 1970, 0 for none.

    metadata: the second line, verbatim. state_ids: whether it names versions of the state.
    """

    version: int
    metadata: str
    watermark: int
    state_ids: bool = False
    tail: str = ""

    def text(self) -> str:
        """The whole file."""
        return f"v{self.version}\n{self.metadata}{self.tail}"


def parse_commit_log(text: str) -> CommitLog:
    """Raises Malformed for what is no commit log of version 1 or 2."""
    if not text:
        raise Malformed("it is empty")
    body = text.removesuffix("\n")
    head, *rest = body.split("\n")
    version = version_of(head)
    if len(rest) != 1:
        raise Malformed(f"it has {len(rest) + 1} lines, not two")
    watermark, state_ids = _metadata(rest[0])
    return CommitLog(version, rest[0], watermark, state_ids, text[len(body):])


def _metadata(line: str) -> tuple[int, bool]:
    try:
        value = parse(line, Place("line 2"))
    except UsageError as error:
        raise Malformed(error.what) from None
    if not isinstance(value, dict):
        raise Malformed(f"line 2 is not an object but {named(value)}")
    watermark = value.get("nextBatchWatermarkMs", 0)
    if not isinstance(watermark, int) or isinstance(watermark, bool):
        raise Malformed(f"nextBatchWatermarkMs is not a whole number but {named(watermark)}")
    return watermark, bool(value.get("stateUniqueIds"))
