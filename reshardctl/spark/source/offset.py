"""The offset: what a checkpoint holds of this source, and nothing else is kept between runs.

PySpark stores `json.dumps` of it:

    {"shards": {"shardId-000000000000": {"seq": "4966…", "end": false, "tip": 1795219201.0},
                "shardId-000000000001": {"seq": "", "end": true}},
     "stream": "orders", "created": 1795219200.0, "retention": 86400}

seq: the number of the last record of the batch, "" where none has been met. end: whether the
batch reads (or a batch before it has read) the shard to its end. from: Unix seconds, where the
shard begins by time as long as no record of it has been met. tip: Unix seconds; as of then
nothing that is unread lay after `seq`. created: the stream's creation, Unix seconds. retention:
seconds for which the stream kept its records when the batch was planned.

A finished shard stays as a mark while it is listed, or while a child of it is not in the offset.
Positions that were written by hand may lack "stream", "created", "retention", "from" and "tip".

It decides which shards the next batch reads: a child one batch after all its parents. The
partitions of one batch run in no order, so a child is never in the batch that ends its parent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, decode, index_of, is_number

_KEYS = ("seq", "end", "from", "tip")
_MEMBERS = ("shards", "stream", "created", "retention")
NEXT = "reshardctl inspect spark:CHECKPOINT --stream STREAM"


class OffsetPosition(Struct, frozen=True):
    """Where a batch ended in one shard; the keys of the same names (`since` is "from")."""

    seq: str = ""
    end: bool = False
    since: float | None = None
    tip: float | None = None

    def reached(self, seq: str) -> OffsetPosition:
        """The position after a record: a start by time is past, and later records are unknown."""
        return replace(self, seq=seq, since=None, tip=None)


class Offset(Struct, frozen=True):
    """All positions. stream: "", created and retention: `None` if the offset does not have them."""

    shards: Mapping[ShardId, OffsetPosition]
    stream: str = ""
    created: float | None = None
    retention: float | None = None

    @property
    def initial(self) -> bool:
        """Whether this is the offset before the first batch, which is never stored."""
        return not self.shards


def written(offset: Offset) -> dict[str, Any]:
    """The dictionary that PySpark stores: shards sorted, keys always in one order."""
    shards = {shard: _entry(offset.shards[shard]) for shard in sorted(offset.shards)}
    stored: dict[str, Any] = {"shards": shards, "stream": offset.stream}
    if offset.created is not None:
        stored["created"] = offset.created
    if offset.retention is not None:
        stored["retention"] = offset.retention
    return stored


def _entry(position: OffsetPosition) -> dict[str, Any]:
    entry: dict[str, Any] = {"seq": position.seq, "end": position.end}
    if position.since is not None:
        entry["from"] = position.since
    if position.tip is not None:
        entry["tip"] = position.tip
    return entry


def read(value: object) -> Offset:
    """Read an offset; raises UsageError that names the wrong shard and key."""
    if not isinstance(value, Mapping) or not isinstance(value.get("shards"), Mapping):
        raise _wrong('it has no object "shards"')
    _known(value, _MEMBERS, "")
    stream = value.get("stream", "")
    if not isinstance(stream, str):
        raise _wrong('"stream" is no text')
    created = _seconds(value.get("created"), '"created"')
    shards = {ShardId(name): _place(name, entry) for name, entry in value["shards"].items()}
    return Offset(shards, stream, created, _seconds(value.get("retention"), '"retention"'))


def _place(shard: str, entry: object) -> OffsetPosition:
    if index_of(shard) is None:
        raise _wrong(f"{shard!r} is no shard id")
    if not isinstance(entry, Mapping):
        raise _wrong(f"{shard} is no object")
    _known(entry, _KEYS, f"{shard}: ")
    seq, end = entry.get("seq"), entry.get("end")
    if not isinstance(seq, str):
        raise _wrong(f'{shard}: "seq" is {_kind(seq)}, not a text')
    if not isinstance(end, bool):
        raise _wrong(f'{shard}: "end" is {_kind(end)}, neither true nor false')
    _own_number(shard, seq)
    since = _seconds(entry.get("from"), f'{shard}: "from"')
    return OffsetPosition(seq, end, since, _seconds(entry.get("tip"), f'{shard}: "tip"'))


def _own_number(shard: str, seq: str) -> None:
    if not seq:
        return
    if not is_number(seq):
        raise _wrong(f'{shard}: "seq" {seq[:60]!r} is no sequence number')
    decoded = decode(seq)
    if decoded is None:
        return
    if decoded.shard != index_of(shard):
        raise _wrong(f'{shard}: "seq" {seq} is a number of shard {decoded.shard}')
    if decoded.is_end:
        raise _wrong(
            f'{shard}: "seq" {seq} is the EndingSequenceNumber, which no record has; '
            'a shard that is read to its end has "end": true'
        )


def _known(value: Mapping[str, object], keys: tuple[str, ...], where: str) -> None:
    for key in value:
        if key not in keys:
            raise _wrong(f'{where}unknown key "{key}" (known: {", ".join(keys)})')


def _seconds(value: object, what: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e11:
        raise _wrong(f"{what} is no time in Unix seconds")
    return value


def _kind(value: object) -> str:
    return "absent" if value is None else type(value).__name__


def _wrong(why: str) -> UsageError:
    return UsageError(f"the offset in the checkpoint cannot be read: {why}", NEXT)


def entrants(lineage: Lineage, places: Mapping[ShardId, OffsetPosition]) -> list[ShardId]:
    """Listed shards without a position that may start, parents first.

    A listed ancestor of a shard in the offset has been read, with a mark or without. An unlisted
    parent without a mark has ended: nothing of it is left to wait for.
    """
    had = processed(lineage, places)

    def over(parent: ShardId) -> bool:
        if (position := places.get(parent)) is not None:
            return position.end
        return parent in had or parent not in lineage

    return [
        shard
        for shard in lineage
        if shard not in places
        and shard not in had
        and all(map(over, lineage[shard].parents))
    ]


def entry(
    lineage: Lineage, places: Mapping[ShardId, OffsetPosition], shard: ShardId
) -> OffsetPosition:
    """Where an entering shard begins: at its start, or at a parent's start time.

    That is the time of a parent of which no record has been read, if it is later.
    """
    parents = [position for s in lineage[shard].parents if (position := places.get(s)) is not None]
    since = max((p.since for p in parents if p.since is not None), default=None)
    born = lineage.opened_at(shard)
    if since is None or (born is not None and born >= since):
        return OffsetPosition()
    return OffsetPosition(since=since)


def processed(lineage: Lineage, places: Mapping[ShardId, OffsetPosition]) -> set[ShardId]:
    """Listed ancestors of the shards in the offset."""
    return lineage.ancestors(*places)


def kept(
    lineage: Lineage, places: Mapping[ShardId, OffsetPosition]
) -> dict[ShardId, OffsetPosition]:
    """The positions without marks of finished shards that are not needed any more.

    A mark is needed while its shard is listed, so that the shard is not taken for a new one, and
    while a child is not in the offset, so that the child's parent is known to have ended.
    """
    return {
        shard: position for shard, position in places.items() if _needed(lineage, places, shard)
    }


def _needed(lineage: Lineage, places: Mapping[ShardId, OffsetPosition], shard: ShardId) -> bool:
    if not places[shard].end or shard in lineage:
        return True
    return any(child not in places for child in lineage.children(shard))


def unlisted_parents(
    lineage: Lineage, places: Mapping[ShardId, OffsetPosition], entering: Collection[ShardId]
) -> Iterator[tuple[ShardId, ShardId]]:
    """Pairs of an entering shard and an unlisted parent that has no mark."""
    for shard in entering:
        for parent in lineage[shard].parents:
            if parent not in lineage and parent not in places:
                yield shard, parent
