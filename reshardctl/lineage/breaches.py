"""The ways in which a listing of shards can contradict itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter

from reshardctl.model import HASH_SPACE, Shard, ShardId
from reshardctl.model.phrases import listed

Children = Mapping[ShardId, tuple[ShardId, ...]]


@dataclass(frozen=True, slots=True)
class Breach:
    """A listing that no stream at rest can have. `code` is the rule's."""

    code: str
    name: str
    shards: tuple[ShardId, ...]
    why: str


def uncovered(ranges: Iterable[tuple[int, int]], lo: int, hi: int) -> list[tuple[int, int]]:
    """The parts of [lo, hi] that the inclusive ranges leave open, in order. Ranges may overlap."""
    gaps, at = [], lo
    for start, end in sorted(ranges):
        if start > at:
            gaps.append((at, min(start - 1, hi)))
        at = max(at, end + 1)
        if at > hi:
            break
    if at <= hi:
        gaps.append((at, hi))
    return gaps


def breaches(shards: Mapping[ShardId, Shard], children: Children) -> list[Breach]:
    """Every breach; none for a stream at rest. shards: all that are listed, in id order."""
    opened = [shard for shard in shards.values() if shard.end is None]
    return [*_holes(opened), *_open_parents(opened, children), *_childless(shards, children)]


def _holes(opened: list[Shard]) -> Iterator[Breach]:
    ranges = ((shard.hash_start, shard.hash_end) for shard in opened)
    if gaps := uncovered(ranges, 0, HASH_SPACE - 1):
        named = listed(gaps, 3, lambda gap: f"{gap[0]}–{gap[1]}")
        yield Breach("RSH103", "hash-range-hole", (), f"no open shard has the hash keys {named}")
    twice = _overlapping(opened)
    if names := tuple(shard.id for shard in opened if shard.id in twice):
        yield Breach("RSH103", "hash-range-hole", names, "open shards share hash keys")


def _overlapping(opened: list[Shard]) -> set[ShardId]:
    """The shards that share keys with another one."""
    shared: set[ShardId] = set()
    widest: Shard | None = None
    for shard in sorted(opened, key=attrgetter("hash_start", "hash_end")):
        if widest is not None and shard.hash_start <= widest.hash_end:
            shared |= {widest.id, shard.id}
        if widest is None or shard.hash_end > widest.hash_end:
            widest = shard
    return shared


def _open_parents(opened: list[Shard], children: Children) -> Iterator[Breach]:
    if shards := tuple(shard.id for shard in opened if shard.id in children):
        yield Breach("RSH104", "open-parent", shards, "listed as open although a child is listed")


def _childless(shards: Mapping[ShardId, Shard], children: Children) -> Iterator[Breach]:
    closed = (shard for shard in shards.values() if shard.end is not None)
    names = tuple(
        shard.id for shard in closed
        if not _covered(shard, [shards[child] for child in children.get(shard.id, ())])
    )
    if names:
        why = "closed, but its listed children do not cover its hash keys"
        yield Breach("RSH105", "closed-without-children", names, why)


def _covered(shard: Shard, children: list[Shard]) -> bool:
    at = shard.hash_start
    for child in children:  # the lower one of a split is listed first
        if child.hash_start <= at <= child.hash_end:
            at = child.hash_end + 1
    ranges = ((child.hash_start, child.hash_end) for child in children)
    return at > shard.hash_end or not uncovered(ranges, shard.hash_start, shard.hash_end)
