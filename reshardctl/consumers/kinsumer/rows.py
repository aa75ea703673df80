"""Parses the rows of the three tables, keeps every anomaly, and judges each row by the lineage.

Attributes: checkpointRecord, clientRecord and shardCacheRecord of twitchscience/kinsumer 9a48088
and snowplow-devops/kinsumer v1.7.0, which are the same.

Attributes are read as the AWS SDK for Go reads them into the library's structs. aws-sdk-go
dynamodbattribute.UnmarshalMap and aws-sdk-go-v2 attributevalue.UnmarshalMap: NULL and absent are a
nil pointer or an empty value, a number goes into a string as its text (run on both releases, Nov
2026), any other mismatch is an error that fails the whole row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.consumers.kinsumer.releases import App
from reshardctl.consumers.kinsumer.spec import CACHE, CHECKPOINTS, CLIENTS, LEADER, METADATA
from reshardctl.consumers.sequence_numbers import NumberKind, classify, furthest
from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Anomaly,
    AnomalyKind,
    Attributes,
    Cut,
    Image,
    ShardId,
    at_number,
    at_time,
    is_number,
    short,
)
from reshardctl.model.cuts import ARRIVAL_SLACK

_INTEGER = re.compile(r"-?\d{1,19}\Z", re.ASCII)


class MistypedError(Exception):
    """An attribute that does not fit its field; the text names it."""


def text(item: Attributes, name: str) -> str | None:
    """A *string."""
    if name not in item:
        return None
    ((kind, body),) = item[name].items()
    if kind == "NULL":
        return None
    if kind not in ("S", "N"):
        raise MistypedError(f"{name} is of type {kind}, not a string")
    return str(body)


def integer(item: Attributes, name: str) -> int | None:
    """An *int64."""
    if name not in item:
        return None
    ((kind, body),) = item[name].items()
    if kind == "NULL":
        return None
    if kind != "N" or not _INTEGER.match(str(body)):
        raise MistypedError(f"{name} is of type {kind}, not a whole number")
    return int(body)


def texts(item: Attributes, name: str) -> tuple[str, ...]:
    """A []string: a list, or a string set."""
    ((kind, body),) = item.get(name, {"NULL": True}).items()
    if kind == "NULL":
        return ()
    if kind == "SS":
        return tuple(body)
    if kind != "L":
        raise MistypedError(f"{name} is of type {kind}, not a list")
    return tuple(text({name: member}, name) or "" for member in body)


LATEST = "LATEST"
NOT_BEGUN = "not begun"
"""How a row without a number is shown: its shard is read from the application's start on."""

_SHARD = re.compile(r"shardId-\d{12,}\Z", re.ASCII)
_TEXTS = ("SequenceNumber", "OwnerID", "OwnerName", "LastUpdateRFC", "FinishedRFC")
_NUMBERS = ("LastUpdate", "Finished")


class Row(Struct, frozen=True):
    """One shard's checkpoint.

    number: `None` for not begun (absent, NULL or ""); LATEST is a position of its own. finished,
    updated: Unix nanoseconds. mistyped: attributes that make the whole row unreadable.
    """

    shard: ShardId
    image: Image
    number: str | None
    updated: int
    owner: str | None
    finished: int | None
    mistyped: tuple[str, ...] = ()

    @property
    def understood(self) -> bool:
        """Whether the position is none, LATEST or a number."""
        return self.number in (None, LATEST) or is_number(self.number or "")

    @property
    def set_aside(self) -> bool:
        """Whether a bootstrap, not a reader, marked the shard as finished.

        Such a mark is the row's last change, while the library releases the row after it (release
        in checkpoints.go).
        """
        if self.finished is None or self.owner is not None:
            return False
        return self.number is None or self.finished == self.updated


class Cache(Struct, frozen=True):
    """The ShardCache row. broken: what makes it unreadable, "" if nothing does."""

    image: Image
    shards: tuple[str, ...]
    broken: str = ""


class Tables(Struct, frozen=True):
    """The three tables of one application."""

    rows: Mapping[ShardId, Row]
    cache: Cache | None
    others: tuple[Image, ...]
    """Clients, the leader, and rows of nobody."""
    anomalies: tuple[Anomaly, ...]
    forked: bool
    """Whether something in them is written by Snowplow's fork only."""

    def shards(self, lineage: Lineage) -> list[ShardId]:
        """Every shard with a row and every listed one, the unlisted ones first."""
        return [*(shard for shard in self.rows if shard not in lineage), *lineage]

    @property
    def unreadable(self) -> dict[ShardId, str]:
        """Rows that make the leader's rounds fail for all shards (loadCheckpoints): their names.

        It reads every row of the table, also one whose key is no shard's.
        """
        broken = {row.shard: short(row.shard) for row in self.rows.values() if row.mistyped}
        rows = {_shard(i): i for i in self.others if i.key.startswith(CHECKPOINTS)}
        return broken | {s: repr(s) for s, i in rows.items() if _row(s, i).mistyped}


def parse(images: Iterable[Image], known: Mapping[ShardId, Row] | None = None) -> Tables:
    """Read the three tables; raises UsageError where they hold another program's rows.

    known: rows parsed before, which are taken over where the image is the same.
    """
    rows: dict[ShardId, Row] = {}
    cache: Cache | None = None
    others: list[Image] = []
    anomalies: list[Anomaly] = []
    for image in images:
        if image.key == CACHE:
            cache = _cache(image)
        elif image.key.startswith(CHECKPOINTS):
            shard = _shard(image)
            if not _SHARD.match(shard):
                others.append(image)
                anomalies.append(_of_nobody(image))
                continue
            row = known.get(shard) if known else None
            rows[shard] = row if row is not None and row.image is image else _row(shard, image)
        elif image.key.startswith((CLIENTS, METADATA)):
            others.append(image)
            if image.key.startswith(METADATA) and image.key != LEADER:
                why = "kinsumer's metadata table has a Leader and a ShardCache, nothing else"
                anomalies.append(Anomaly(AnomalyKind.FOREIGN_ENTRY, image.key, image.key, why))
        else:
            raise UsageError(
                f"row {image.key!r} is of none of kinsumer's three tables",
                "name the application: kinsumer://APP reads APP_checkpoints, APP_clients and "
                "APP_metadata",
            )
    strange = [image for image in others if image.key.startswith(CHECKPOINTS)]
    if strange and not rows:
        raise UsageError(
            f"row {strange[0].key!r} is no checkpoint of a Kinesis shard, nor is any other: "
            "another program writes to this table",
            "name the application: kinsumer://APP reads APP_checkpoints",
        )
    anomalies += [anomaly for row in rows.values() for anomaly in _anomalies(row)]
    anomalies += _cache_anomalies(cache)
    forked = any(r.image.attributes.get("SequenceNumber") == {"S": ""} for r in rows.values())
    return Tables(rows, cache, tuple(others), tuple(anomalies), forked)


def _shard(image: Image) -> ShardId:
    return ShardId(image.key.removeprefix(CHECKPOINTS))


def _of_nobody(image: Image) -> Anomaly:
    """A row whose Shard is no shard's: the library looks rows up by the shards of the stream."""
    why = "its Shard is no shard of a stream"
    if mistyped := _row(_shard(image), image).mistyped:
        why += f", and the leader's rounds fail on its {', '.join(mistyped)}: delete it"
    return Anomaly(AnomalyKind.FOREIGN_ENTRY, image.key, _shard(image), why)


def _row(shard: ShardId, image: Image) -> Row:
    item = image.attributes
    try:
        return _understood(shard, image, item)
    except MistypedError:
        mistyped = tuple(n for n in (*_TEXTS, *_NUMBERS) if _mistyped(item, n))
        fine = {n: v for n, v in item.items() if n not in mistyped}
        return _understood(shard, image, fine, mistyped)


def _understood(
    shard: ShardId, image: Image, item: Attributes, mistyped: tuple[str, ...] = ()
) -> Row:
    """The row of these attributes; raises MistypedError if one is mistyped."""
    number, owner, *_ = [text(item, name) for name in _TEXTS]
    updated, finished = [integer(item, name) for name in _NUMBERS]
    return Row(shard, image, number or None, updated or 0, owner, finished, mistyped)


def _mistyped(item: Attributes, name: str) -> str:
    try:
        integer(item, name) if name in _NUMBERS else text(item, name)
    except MistypedError as error:
        return str(error)
    return ""


def _cache(image: Image) -> Cache:
    try:
        integer(image.attributes, "LastUpdate")
        text(image.attributes, "LastUpdateRFC")
        return Cache(image, texts(image.attributes, "ShardIDs"))
    except MistypedError as error:
        return Cache(image, (), str(error))


def _anomalies(row: Row) -> Iterable[Anomaly]:
    for name in row.mistyped:
        raw, why = str(row.image.attributes[name]), _mistyped(row.image.attributes, name)
        yield Anomaly(AnomalyKind.UNREADABLE, row.image.key, raw, why, row.shard)
    if not row.understood:
        why = "SequenceNumber is neither a number nor LATEST"
        yield Anomaly(AnomalyKind.UNREADABLE, row.image.key, row.number or "", why, row.shard)


def _cache_anomalies(cache: Cache | None) -> Iterable[Anomaly]:
    if cache is not None and cache.broken:
        raw = str(cache.image.attributes.get("ShardIDs"))
        yield Anomaly(AnomalyKind.UNREADABLE, CACHE, raw, f"ShardCache: {cache.broken}")


class PositionKind(Enum):
    """What a row's position means, disregarding the finished mark."""

    UNREAD = "unread"
    """Not begun: the application's start mode decides where it begins."""
    START = "start"
    """The shard's StartingSequenceNumber: from its beginning, whatever the start mode."""
    LATEST = "latest"
    NUMBER = "number"
    AT_END = "at-end"
    """The shard's own EndingSequenceNumber."""
    FOREIGN = "foreign"
    AHEAD = "ahead"
    """Inside the shard's range, but from the future: no record has it."""
    NONSENSE = "nonsense"

    @property
    def of_no_record(self) -> bool:
        """Whether no record of the shard has the number: a mark of an end beside it is no proof."""
        return self in (PositionKind.FOREIGN, PositionKind.AHEAD, PositionKind.NONSENSE)


_OF_NUMBERS = {
    NumberKind.START: PositionKind.START,
    NumberKind.INSIDE: PositionKind.NUMBER,
    NumberKind.AHEAD: PositionKind.AHEAD,
    NumberKind.AT_END: PositionKind.AT_END,
    NumberKind.NOT_A_NUMBER: PositionKind.NONSENSE,
}
"""All others are foreign: refused at every start (runs of both, Nov 2026)."""


def kind_of(lineage: Lineage, row: Row) -> PositionKind:
    """Classify one row."""
    if row.number is None:
        return PositionKind.UNREAD
    if row.number == LATEST:
        return PositionKind.LATEST
    return _OF_NUMBERS.get(classify(lineage, row.shard, row.number), PositionKind.FOREIGN)


def beginning(lineage: Lineage, shard: ShardId, app: App) -> Cut:
    """Where a shard begins that is not begun; by time perhaps at its start or its end."""
    if not app.by_time:
        return START
    opened = lineage.opened_at(shard) if shard in lineage else None
    closed = lineage.closed_at(shard) if shard in lineage else None
    if app.time is not None and opened is not None and opened >= app.time:
        return START
    if app.time is not None and closed is not None and closed + ARRIVAL_SLACK < app.time:
        return DONE
    return at_time(app.time)


def cut_of(lineage: Lineage, row: Row, app: App) -> Cut | None:
    """The cut that a position means, `None` for one that Kinesis refuses."""
    match kind_of(lineage, row):
        case PositionKind.UNREAD:
            return beginning(lineage, row.shard, app)
        case PositionKind.START:
            return START
        case PositionKind.LATEST:
            return furthest(lineage, row.shard)
        case PositionKind.NUMBER | PositionKind.AHEAD:
            return at_number(row.number or "")
        case PositionKind.AT_END:
            return DONE
        case PositionKind.FOREIGN | PositionKind.NONSENSE:
            return None


def ends_elsewhere(lineage: Lineage, row: Row) -> bool:
    """Whether a closed shard is marked as finished at a number that no record of it has."""
    closed = row.shard in lineage and not lineage.is_open(row.shard)
    return row.finished is not None and closed and kind_of(lineage, row).of_no_record


def stored_cut(lineage: Lineage, row: Row, app: App) -> Cut | None:
    """The cut that a row spells, `None` for one that names no place of its shard."""
    ahead = kind_of(lineage, row) is PositionKind.AHEAD
    if row.mistyped or ahead or ends_elsewhere(lineage, row):
        return None
    if row.finished is not None:
        return replace(DONE, text=row.number) if row.number else DONE
    return TIP if row.number == LATEST else cut_of(lineage, row, app)


def asked_first(lineage: Lineage, tables: Tables) -> frozenset[ShardId]:
    """The shards in the ShardCache, else all listed ones (refreshShards in kinsumer.go)."""
    if tables.cache is not None and tables.cache.shards:
        return frozenset(ShardId(shard) for shard in tables.cache.shards)
    return frozenset(lineage)
