"""The second line of an offset log: watermark, time, and settings that identify Spark's release.

The settings grow from release to release (OffsetSeqMetadata.relevantSQLConfs; checkpoints of runs
on Spark 3.3.4, 3.5.9, 4.0.5, 4.1.4, 4.2.1 and 4.3.0). Every batch has those of the release that
planned it. The line is always copied: an empty one crashes the query after its sink got the batch
(run on 3.5.9 and 4.1.4).
"""

from __future__ import annotations

import json
import re

from reshardctl.codec.strict import JsonPath, named, parse
from reshardctl.consumers.spark.json4s import long_of, members_of, texts_of
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.errors import UsageError

_MARKS = (
    ("4.3", "spark.sql.dropDuplicates.deterministicKeyOrder.enabled"),
    ("4.3", "spark.sql.streaming.statefulOperator.alwaysNullableOutput.enabled"),
    ("4.2", "spark.sql.streaming.stateStore.rocksdb.mergeOperatorVersion"),
    ("4.2", "spark.sql.streaming.queryEvolution.enableSourceEvolution"),
    ("4.0-4.1", "spark.sql.streaming.stateStore.encodingFormat"),
    ("3", "spark.sql.streaming.multipleWatermarkPolicy"),
)
"""Settings that no earlier release had, newest first; a later release than 4.3 counts as 4.3."""

SCALAS = {"4.3": {"2.13"}, "4.2": {"2.13"}, "4.0-4.1": {"2.13"}}
"""Spark 4 is built for Scala 2.13 only, 3.2 and later for both."""

TIMESTAMP, WATERMARK = "batchTimestampMs", "batchWatermarkMs"


def generation(line: str) -> str:
    """Spark's release as far as the settings tell: "3", "4.0-4.1", "4.2", "4.3", or ""."""
    try:
        conf = texts_of(members_of(line, "line 2"), "conf")
    except Malformed:
        return ""
    return next((release for release, key in _MARKS if key in conf), "")


def flaw(line: str) -> str:
    """Why Spark cannot read the line, "" where it can."""
    if not line.strip():
        return (
            "its second line is empty: a continuous query writes it so, and any other crashes at it"
        )
    return unreadable(line)


def unreadable(line: str) -> str:
    """The same for a log that is read and not continued, whose line may be empty."""
    if not line.strip():
        return ""
    try:
        members = members_of(line, "line 2")
        for name in (TIMESTAMP, WATERMARK):
            long_of(members, name)
        texts_of(members, "conf")
    except Malformed as error:
        return f"its second line is unreadable: {error}"
    return ""


def with_times(line: str, timestamp: int, watermark: int) -> str:
    """The line with other times (Unix milliseconds); raises Malformed for a line without them."""
    return _with(_with(line, TIMESTAMP, timestamp), WATERMARK, watermark)


def _with(line: str, name: str, value: int) -> str:
    wanted = {**_members(line), name: value}
    for match in re.finditer(rf'"{name}"\s*:\s*(-?\d+)', line, re.ASCII):
        changed = line[: match.start(1)] + str(value) + line[match.end(1) :]
        if json.loads(changed) == wanted:
            return changed
    raise Malformed(f"its second line has no {name}")


def _members(line: str) -> dict[str, object]:
    try:
        value = parse(line, JsonPath("line 2", next=""))  # the caller says it
    except UsageError as error:
        raise Malformed(error.what) from None
    if not isinstance(value, dict):
        raise Malformed(f"not an object but {named(value)}")
    return value
