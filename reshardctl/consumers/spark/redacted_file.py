"""Redacts a checkpoint's file: it is judged as before, but identifies nobody.

Spark's own words, batch ids, shard ids, positions, times and the settings that Spark itself records
are kept.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable

from msgspec.structs import replace

from reshardctl.consumers.spark.files import HASH, PREFIX, RANGE, VALUE, checksum, holds, is_row
from reshardctl.consumers.spark.lines import damaged, lineage, read
from reshardctl.consumers.spark.offset_log import (
    NO_OFFSET,
    TIMESTAMP,
    WATERMARK,
    SourceLine,
    parse_offset_log,
)
from reshardctl.consumers.spark.positions import PLAIN
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.model import AttributeValue, Image

Name = Callable[[str], str]
"""A text → the name that replaces it."""

ELSEWHERE = '{"redacted":true}'
"""Replaces the offset of a source that does not read Kinesis."""
QUERY = '{"id":"00000000-0000-0000-0000-000000000000"}'
_OWN = PLAIN | {"shard-source", "shard-commit", "_metadata", "delta", "snapshot", "0"} | {
    PREFIX.rstrip("/")
}
OWN = (HASH, RANGE, VALUE)
STORED_WITH = ("stored_with", "crc_stored_with")
"""Mode and owner of a file on disk, headers of an object on S3."""
_KEPT = re.compile(r"(\d+|shardId-\d+|\.\d+\.[0-9a-f-]+(\.TID\d+)?\.tmp|)\Z", re.ASCII)
_SETTINGS = frozenset({f"spark.sql.{name}" for name in (
    "dropDuplicates.deterministicKeyOrder.enabled", "function.protobufExtensions.enabled",
    "optimizer.pruneFiltersCanPruneStreamingSubplan", "shuffle.partitions",
    "streaming.aggregation.stateFormatVersion",
    "streaming.flatMapGroupsWithState.stateFormatVersion", "streaming.join.stateFormatVersion",
    "streaming.multipleWatermarkPolicy", "streaming.queryEvolution.enableSourceEvolution",
    "streaming.stateStore.compression.codec", "streaming.stateStore.encodingFormat",
    "streaming.stateStore.providerClass", "streaming.stateStore.rocksdb.formatVersion",
    "streaming.stateStore.rocksdb.mergeOperatorVersion", "streaming.stateStore.rowChecksum.enabled",
    "streaming.statefulOperator.alwaysNullableOutput.enabled",
    "streaming.statefulOperator.useStrictDistribution",
)})
"""Those that Spark 3.3 to 4.3 wrote into an offset log (OffsetSeqMetadata.relevantSQLConfs)."""
_VALUE = re.compile(
    r"(true|false|[0-9]{1,9}|min|max|lz4|lzf|snappy|zstd|unsaferow|avro|org\.apache\.spark\.[\w.]+)\Z",
    re.ASCII,
)
_PLACE = re.compile(
    r"(-?[0-9.]*|true|false|[0-9TZ:.+-]{10,40}|shardId-[0-9]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\Z",
    re.ASCII,
)
"""A number, a time, a shard or a random id in an entry of the connector or of Spark."""
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
"""A text in JSON, as it is spelled."""


def redact(image: Image, name: Name) -> Image:
    """The file without names in path or text, or its owner.

    A checksum is renewed if right, else blank.
    """
    if is_row(image):
        return _row(image, name)
    values: dict[str, AttributeValue] = {
        attribute: {"B": ""} if "B" in value else value
        for attribute, value in image.attributes.items() if attribute not in STORED_WITH
    }
    if "text" in values:
        before = str(values["text"]["S"])
        then = _text(image.key, before, name)
        values["text"] = {"S": then}
        crc = image.attributes.get("crc", {}).get("B")
        if crc and holds(before.encode(), base64.b64decode(crc)):
            values["crc"] = {"B": base64.b64encode(checksum(then.encode())).decode()}
    return Image("/".join(_part(part, name) for part in image.key.split("/")), values)


def _row(row: Image, name: Name) -> Image:
    """A row of a log in a table: batch, shard and position are kept, other attributes are not."""
    values = {attribute: value for attribute, value in row.attributes.items() if attribute in OWN}
    text = str(values.get(VALUE, {}).get("S", ""))
    if text and not _plain(text):
        values[VALUE] = {"S": name(text)}
    for attribute in (HASH, RANGE):
        if "S" in values.get(attribute, {}):
            values[attribute] = {"S": _part(str(values[attribute]["S"]), name)}
    return Image("/".join(_part(part, name) for part in row.key.split("/")), values)


def _part(part: str, name: Name) -> str:
    return part if part in _OWN or _KEPT.match(part) else name(part)


def _text(key: str, text: str, name: Name) -> str:
    folder, *rest = key.split("/")
    if key == "metadata":
        return QUERY
    if folder == "commits" or (folder == "sources" and rest[-1].startswith("shardId-")):
        return _unnamed(text, name) if _plain(text) else name(text)
    if folder != "offsets":
        return name(text)
    try:
        log = parse_offset_log(text)
    except Malformed:
        return name(text)
    lines = tuple(
        SourceLine(_part(line.name, name), _offset(line.text, name)) for line in log.lines
    )
    metadata = _metadata(log.metadata, name)
    return replace(log, metadata=metadata, lines=lines).text()


_ENTRY = frozenset({
    "shardId", "iteratorType", "iteratorPosition", "subSequenceNumber", "isLast",
    "nextBatchWatermarkMs", "stateUniqueIds",
})

_WORDS = PLAIN | _ENTRY | lineage.MEMBERS | lineage.MARK | {
    "streamName", "batchId", "shard", "firstSeqNum", "lastSeqNum", "closed", "msBehindLatest",
    "lastRecordSeqNum",
}


def _plain(text: str) -> bool:
    """Whether the text holds only what Spark and the connectors write there themselves."""
    body = text.rpartition("\n")[2]
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.keys() <= _ENTRY


def _unnamed(text: str, name: Name, stream: str = "") -> str:
    """JSON with a name for every text that is neither a place nor a word of a connector's."""
    def shown(spelled: re.Match[str]) -> str:
        value = json.loads(spelled[0], strict=False)
        own = value in _WORDS or _PLACE.match(value)
        return spelled[0] if own and (value != stream or not stream) else json.dumps(name(value))

    return _TEXT.sub(shown, text)


def _offset(text: str, name: Name) -> str:
    offset = read(text) if text != NO_OFFSET else None
    if offset is None:
        return text if text == NO_OFFSET else name(text) if damaged(text) else ELSEWHERE
    return _unnamed(text, name, offset.stream)


def _metadata(line: str, name: Name) -> str:
    """The settings, except for classes of the operator's own."""
    try:
        members = json.loads(line)
    except (ValueError, RecursionError):
        return name(line) if line else ""
    if not isinstance(members, dict):
        return name(line)
    conf = members.get("conf")
    if isinstance(conf, dict):
        conf = {
            key if key in _SETTINGS else name(key):
            value if key in _SETTINGS and _VALUE.match(str(value)) else name(str(value))
            for key, value in conf.items()
        }
    known = {
        key: conf if key == "conf" and isinstance(conf, dict) else _plain_value(members[key], name)
        for key in (WATERMARK, TIMESTAMP, "conf") if key in members
    }
    return json.dumps(known, separators=(",", ":"))


def _plain_value(value: object, name: Name) -> object:
    """A number, or what is no text and no value of several."""
    return value if value is None or isinstance(value, int | float) else name(str(value))
