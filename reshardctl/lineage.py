"""The DAG of a stream's shards: parents, children, frontier, coverage of the hash space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reshardctl.model import HASH_SPACE, Shard, ShardId, Stream, index_of, time_of


@dataclass(frozen=True, slots=True)
class Breach:
    """A listing that cannot be true of a settled stream. `code` is the rule's."""

    code: str
    name: str
    shards: tuple[ShardId, ...]
    why: str


class Lineage:
    """All listed shards of one stream. Iterates over ids, parents before children."""

    def __init__(self, stream: Stream, shards: Iterable[Shard]) -> None:
        self.stream = stream
        self._shards = {s.id: s for s in sorted(shards, key=lambda s: _order(s.id))}
        self._children: dict[ShardId, list[ShardId]] = {}
        for shard in self._shards.values():
            for parent in shard.parents:
                self._children.setdefault(parent, []).append(shard.id)

    def __len__(self) -> int:
        return len(self._shards)

    def __iter__(self) -> Iterator[ShardId]:
        return iter(self._shards)

    def __contains__(self, shard: object) -> bool:
        return shard in self._shards

    def __getitem__(self, shard: ShardId) -> Shard:
        return self._shards[shard]

    def parents(self, shard: ShardId) -> tuple[ShardId, ...]:
        """Its listed parents; a shard that is not listed has none."""
        if shard not in self._shards:
            return ()
        return tuple(p for p in self._shards[shard].parents if p in self._shards)

    def children(self, shard: ShardId) -> tuple[ShardId, ...]:
        """Listed children in id order, of listed and of unlisted shards alike."""
        return tuple(self._children.get(shard, ()))

    def ancestors(self, shard: ShardId) -> set[ShardId]:
        """All listed ancestors."""
        return self._reach(shard, self.parents)

    def descendants(self, shard: ShardId) -> set[ShardId]:
        """All listed descendants."""
        return self._reach(shard, self.children)

    def open_shards(self) -> Iterator[ShardId]:
        """Ids of the open shards."""
        return (s.id for s in self._shards.values() if s.open)

    def roots(self) -> Iterator[ShardId]:
        """Listed shards without a listed parent: what is open at the trim horizon."""
        return (s for s in self._shards if not self.parents(s))

    def opened_at(self, shard: ShardId) -> float | None:
        """Unix second in which the shard opened, from its StartingSequenceNumber."""
        return time_of(self._shards[shard].start)

    def closed_at(self, shard: ShardId) -> float | None:
        """Unix second in which it closed, from its EndingSequenceNumber; `None` while open.

        Where that cannot be decoded (emulators), the children's start is taken.
        """
        end = self._shards[shard].end
        if end is None:
            return None
        return time_of(end) or min(
            (t for c in self.children(shard) if (t := self.opened_at(c)) is not None),
            default=None,
        )

    def newest_index(self) -> int:
        """The highest shard index listed; a higher one is of a shard not born yet. -1 if none."""
        return max((i for s in self._shards if (i := index_of(s)) is not None), default=-1)

    def breaches(self) -> list[Breach]:
        """Every way in which the listing contradicts itself; empty for a settled stream."""
        return [*_holes(self), *_open_parents(self), *_childless(self)]

    def _reach(self, shard: ShardId, step: object) -> set[ShardId]:
        seen: set[ShardId] = set()
        todo = [*step(shard)]  # type: ignore[operator]
        while todo:
            if (one := todo.pop()) not in seen:
                seen.add(one)
                todo += step(one)  # type: ignore[operator]
        return seen


def _order(shard: ShardId) -> tuple[int, str]:
    index = index_of(shard)
    return (-1 if index is None else index, shard)


def uncovered(ranges: Iterable[tuple[int, int]], lo: int, hi: int) -> list[tuple[int, int]]:
    """What of [lo, hi] the inclusive ranges leave open, in order. Overlaps are fine."""
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


def _holes(lineage: Lineage) -> Iterator[Breach]:
    spans = sorted((lineage[s].hash_start, lineage[s].hash_end, s) for s in lineage.open_shards())
    if gaps := uncovered(((a, b) for a, b, _ in spans), 0, HASH_SPACE - 1):
        why = "no open shard has the hash keys " + ", ".join(f"{a}–{b}" for a, b in gaps[:3])
        yield Breach("RSH103", "hash-range-hole", (), why)
    twice = tuple(b[2] for a, b in zip(spans, spans[1:]) if b[0] <= a[1])
    if twice:
        yield Breach("RSH103", "hash-range-hole", twice, "open shards share hash keys")


def _open_parents(lineage: Lineage) -> Iterator[Breach]:
    found = tuple(s for s in lineage.open_shards() if lineage.children(s))
    if found:
        yield Breach("RSH104", "open-parent", found, "listed as open although a child is listed")


def _childless(lineage: Lineage) -> Iterator[Breach]:
    found = tuple(s for s in lineage if not lineage[s].open and not _covered(lineage, s))
    if found:
        why = "closed, but its listed children do not cover its hash keys"
        yield Breach("RSH105", "closed-without-children", found, why)


def _covered(lineage: Lineage, shard: ShardId) -> bool:
    one = lineage[shard]
    ranges = ((lineage[c].hash_start, lineage[c].hash_end) for c in lineage.children(shard))
    return not uncovered(ranges, one.hash_start, one.hash_end)
