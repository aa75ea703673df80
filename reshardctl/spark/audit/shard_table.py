"""The shards of a stream as a small table to which a sink's rows are assigned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reshardctl.lineage import Lineage
from reshardctl.model import HASH_SPACE, Shard, ShardId, decode, index_of, shard_id

DIGITS = 56
"""Digits of every number of layout v2 and v1: 186 bits, of which the first is set."""
_LATER = "~"
"""Sorts after every number."""
_PREFIX = 2 << 184
LOWEST, BEYOND = str(_PREFIX), str(3 << 184)
"""All decodable numbers are between them (model/shards.py)."""
_HASH_DIGITS = len(str(HASH_SPACE - 1))
LEAST, MOST = "0".zfill(_HASH_DIGITS), str(HASH_SPACE - 1)
"""The first and the last hash key."""


@dataclass(frozen=True, slots=True)
class KnownShard:
    """A shard that is listed, or that a listed one names as its parent.

    number: its index, `None` if its id has another form. low, beyond: texts of one width; every
    record's number is at least `low` and less than `beyond`. least, most: its hash keys, padded
    alike. opened, closed: Unix seconds.
    """

    id: ShardId
    number: int | None
    low: str
    beyond: str
    least: str = ""
    most: str = ""
    opened: float | None = None
    closed: float | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """All shards; a shard's index in `shards` is its `at` in frames.

    width: digits to which numbers are padded. decodable: whether numbers name their shard; an
    emulator's may not. floor: no number of this incarnation is less. newest: the highest listed
    index. Indices count up without a gap, so each below it was a shard's: for one that is neither
    listed nor named any more, `at` is its index after the others.
    """

    shards: tuple[KnownShard, ...]
    width: int
    decodable: bool
    floor: str
    newest: int

    def id(self, at: int) -> ShardId:
        """The shard at an index."""
        count = len(self.shards)
        return self.shards[at].id if at < count else shard_id(at - count)

    def head(self, at: int) -> str:
        """The first digits of a listed shard's first number."""
        return self.shards[at].low[: self.width - 36]


def known(lineage: Lineage) -> Known:
    """The listed shards in the lineage's order, then the unlisted ones that they name."""
    listed = [lineage[shard] for shard in lineage]
    width = max([DIGITS, *(len(n) for shard in listed for n in (shard.start, shard.end or ""))])
    decodable = all(_says_its_shard(shard) for shard in listed)
    floor = _floor(lineage, listed, decodable).zfill(width)
    shards = [_known(lineage, shard, width, decodable) for shard in listed]
    shards += _unlisted(lineage, listed, width, floor)
    return Known(tuple(shards), width, decodable, floor, lineage.newest_index())


def _says_its_shard(shard: Shard) -> bool:
    number = decode(shard.start)
    return number is not None and number.index is not None and number.shard == index_of(shard.id)


def _floor(lineage: Lineage, listed: list[Shard], decodable: bool) -> str:
    """The least number; a root's first is 3 s older than StreamCreationTimestamp (recorded)."""
    if not decodable:
        return min((shard.start for shard in listed), key=int, default="0")
    epochs = [number.epoch for shard in listed if (number := decode(shard.start))]
    return str(_PREFIX | min([int(lineage.stream.created) - 3, *epochs]) << 148)


def _known(lineage: Lineage, shard: Shard, width: int, decodable: bool) -> KnownShard:
    beyond = _LATER
    if shard.end is not None:
        # No record has the EndingSequenceNumber; an emulator's may be the last record's.
        beyond = shard.end.zfill(width) + ("" if decodable else _LATER)
    return KnownShard(
        shard.id, index_of(shard.id), shard.start.zfill(width), beyond,
        _padded(shard.hash_start), _padded(shard.hash_end),
        lineage.opened_at(shard.id), lineage.closed_at(shard.id),
    )  # fmt: skip


def _unlisted(
    lineage: Lineage, listed: list[Shard], width: int, floor: str
) -> Iterator[KnownShard]:
    """Expired parents, which ended before their first child began."""
    children: dict[ShardId, list[Shard]] = {}
    for shard in listed:
        for parent in shard.parents:
            if parent not in lineage:
                children.setdefault(parent, []).append(shard)
    for parent in sorted(children):
        first = min(children[parent], key=lambda shard: int(shard.start))
        yield KnownShard(
            parent, index_of(parent), floor, first.start.zfill(width),
            _padded(min(shard.hash_start for shard in children[parent])),
            _padded(max(shard.hash_end for shard in children[parent])),
            None, lineage.opened_at(first.id),
        )  # fmt: skip


def _padded(hash_key: int) -> str:
    return str(hash_key).zfill(_HASH_DIGITS)
