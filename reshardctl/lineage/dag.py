"""`Lineage`: the shards of one stream, how they descend from each other, and what contradicts it.

In plain dictionaries by shard id: 20,000 shards, AWS's largest default quota, take 13 MB
(`scripts/bench lineage`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from hashlib import sha256
from operator import attrgetter
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.model import (
    HASH_SPACE,
    Decoded,
    Shard,
    ShardId,
    Stream,
    decode,
    in_birth_order,
    index_of,
    is_number,
    time_of,
)
from reshardctl.model.memo import Memo
from reshardctl.model.phrases import listed

RawShard = Mapping[str, Any]
"""One element of `Shards` as ListShards writes it in JSON."""

Family = tuple[ShardId, ...]
Children = Mapping[ShardId, Family]

_HASH_KEY_DIGITS = 40
_TEXTS = attrgetter("id", "parent", "adjacent", "hash_start", "hash_end", "start", "end")


def shard_of(raw: RawShard) -> Shard:
    """A shard as ListShards writes it. KeyError, TypeError or ValueError if it is malformed."""
    keys, numbers = raw["HashKeyRange"], raw["SequenceNumberRange"]
    texts = (
        raw["ShardId"], raw.get("ParentShardId") or "", raw.get("AdjacentParentShardId") or "",
        keys["StartingHashKey"], keys["EndingHashKey"],
        numbers["StartingSequenceNumber"], numbers.get("EndingSequenceNumber") or "",
    )
    "".join(texts)  # TypeError for what is no text
    return shard_of_texts(*texts)


def shard_of_texts(
    shard: str, parent: str, adjacent: str, low: str, high: str, start: str, end: str
) -> Shard:
    """A shard of what ListShards writes, "" for what is absent. ValueError if a key is no hash key.

    low, high: first and last hash key. start, end: its sequence numbers.
    """
    keys = low + high
    if not (keys.isascii() and keys.isdigit()) or max(len(low), len(high)) > _HASH_KEY_DIGITS:
        raise ValueError(f"no hash keys: {low!r} to {high!r}")
    return Shard(
        ShardId(shard), ShardId(parent) if parent else None,
        ShardId(adjacent) if adjacent else None, int(low), int(high), start, end or None,
    )


class Life(NamedTuple):
    """What a shard's StartingSequenceNumber and EndingSequenceNumber say, decoded once.

    first, last: the numbers. opened, closed: Unix seconds, see `Lineage.opened_at` and `closed_at`.
    epochs: those in which the shard began and ended, as far as the numbers can be decoded.
    """

    first: int | None
    last: int | None
    opened: int | None
    closed: int | None
    epochs: tuple[int, ...]


class _Lives(dict[ShardId, Life]):
    """The lives of listed shards, each found when it is first asked for. KeyError for others."""

    def __init__(self, listed: Mapping[ShardId, Shard], children: Children) -> None:
        super().__init__()
        self._listed, self._children = listed, children

    def __missing__(self, shard: ShardId) -> Life:
        end = self._listed[shard].end
        first, began = _read(self._listed[shard].start)
        last, ended = _read(end)
        closed = None if ended is None else ended.time
        if end is not None and ended is None:
            below = (time_of(self._listed[c].start) for c in self._children.get(shard, ()))
            closed = min((second for second in below if second is not None), default=None)
        self[shard] = life = Life(
            first, last, None if began is None else began.time, closed,
            (*([began.epoch] if began else ()), *([ended.epoch] if ended else ())),
        )
        return life


class Lineage:
    """All listed shards of one stream. Iterates over ids, parents before children.

    KeyError for a shard that is not listed, except where a method says otherwise. memo: what pure
    functions of this lineage answered, as of its time.
    """

    def __init__(self, stream: Stream, shards: Iterable[Shard]) -> None:
        """For a shard that was listed twice, the last one counts."""
        named = {shard.id: shard for shard in shards}
        self.stream = stream
        self._shards = listed = {shard: named[shard] for shard in in_birth_order(named)}
        self._opened = tuple(shard.id for shard in listed.values() if shard.end is None)
        self._link()
        self._lives = _Lives(listed, self._children)
        self.memo = Memo()
        self.taken: Mapping[int, bool] = {}
        self.foreign_epochs: frozenset[int] = frozenset()

    @classmethod
    def from_pages(cls, stream: Stream, pages: Iterable[Sequence[RawShard]]) -> Lineage:
        """Reads pages of ListShards as its JSON has them, one at a time.

        KeyError, TypeError or ValueError if one is malformed.
        """
        return cls(stream, (shard_of(raw) for page in pages for raw in page))

    def _link(self) -> None:
        """Finds parents and children by id, and the order of iteration, in one pass."""
        listed = self._shards
        self._parents = parents = dict[ShardId, Family]()
        self._unlisted_parents = dict[ShardId, Family]()
        children: dict[ShardId, list[ShardId]] = {}
        first: ShardId | None = None
        second: ShardId | None = None
        family: Family = ()
        absent: Family = ()
        in_order = True
        for name, shard in listed.items():
            if shard.parent != first or shard.adjacent != second:
                first, second = shard.parent, shard.adjacent
                # Siblings follow one another and share their tuple.
                family = tuple([one for one in shard.parents if one in listed])
                absent = tuple([one for one in shard.parents if one not in listed])
                in_order = in_order and all(map(parents.__contains__, family))
            parents[name] = family
            if absent:
                self._unlisted_parents[name] = absent
            if first:
                children.setdefault(first, []).append(name)
            if second and second != first:
                children.setdefault(second, []).append(name)
        self._children = {parent: tuple(born) for parent, born in children.items()}
        self._order = None if in_order else _parents_first(parents)

    def as_of(
        self, now: float, taken: Mapping[int, bool] | None = None, born: Iterable[int] = (),
    ) -> Lineage:
        """The same lineage, as of that time (Unix seconds).

        Args:
            now: The time.
            taken: Sequence number → whether Kinesis takes it in the shard that it names, for
                numbers that Kinesis was asked about; `None` to keep what is known.
            born: Epochs in which other streams are known to have given out numbers.
        """
        told = self.taken if taken is None else taken
        foreign = self.foreign_epochs if taken is None else _foreign_epochs(told, born)
        known = (self.stream.as_of, self.taken, self.foreign_epochs)
        if known == (now, told, foreign):
            return self
        new = copy(self)
        new.stream = replace(self.stream, as_of=now)
        new.taken, new.foreign_epochs = told, foreign
        new.memo = Memo()
        return new

    def __len__(self) -> int:
        return len(self._shards)

    def __iter__(self) -> Iterator[ShardId]:
        return iter(self._order or self._shards)

    def __reversed__(self) -> Iterator[ShardId]:
        return reversed(self._order or self._shards)

    def __contains__(self, shard: object) -> bool:
        return shard in self._shards

    def __getitem__(self, shard: ShardId) -> Shard:
        return self._shards[shard]

    def parents(self, shard: ShardId) -> Family:
        """The shard's listed parents; a shard that is not listed has none."""
        return self._parents.get(shard, ())

    def first_parent(self, shard: ShardId) -> ShardId | None:
        """ParentShardId of the listing, listed or not; `None` for a shard without a parent."""
        return self._shards[shard].parent

    def children(self, shard: ShardId) -> Family:
        """Listed children in id order, of listed and of unlisted shards alike."""
        return self._children.get(shard, ())

    def ancestors(self, *shards: ShardId) -> set[ShardId]:
        """All listed ancestors of these shards."""
        return _reached(shards, self._parents)

    def descendants(self, *shards: ShardId) -> set[ShardId]:
        """All listed descendants of these shards."""
        return _reached(shards, self._children)

    def related(self, shards: Iterable[ShardId]) -> set[ShardId]:
        """The shards themselves, their ancestors and descendants, and the parents of all of these.

        A proof about the positions of `shards` depends on the positions of these.
        """
        own = tuple(shards)
        near = {*own, *self.ancestors(*own), *self.descendants(*own)}
        return near | {p for shard in near if shard in self for p in self[shard].parents}

    def open_shards(self) -> Iterator[ShardId]:
        """Ids of the open shards, in id order."""
        return iter(self._opened)

    def open_count(self) -> int:
        """The number of open shards."""
        return len(self._opened)

    def is_open(self, shard: ShardId) -> bool:
        """Whether the shard is open."""
        return self._shards[shard].end is None

    def life(self, shard: ShardId) -> Life | None:
        """First and last number and second of a shard; `None` for one that is not listed."""
        return self._lives[shard] if shard in self._shards else None

    def first_number(self, shard: ShardId) -> int | None:
        """The shard's StartingSequenceNumber; see `last_number`."""
        return self._lives[shard].first

    def last_number(self, shard: ShardId) -> int | None:
        """The shard's EndingSequenceNumber; `None` while it is open, and for what is no number."""
        return self._lives[shard].last

    def unlisted_parents(self, shard: ShardId) -> Family:
        """The parents that the listing names of the shard and does not list; mostly none."""
        return self._unlisted_parents.get(shard, ())

    def roots(self) -> Iterator[ShardId]:
        """Listed shards without a listed parent, which are readable at the trim horizon."""
        return (shard for shard in self if not self._parents[shard])

    def opened_at(self, shard: ShardId) -> float | None:
        """Unix second in which the shard opened, from its StartingSequenceNumber."""
        return self._lives[shard].opened

    def closed_at(self, shard: ShardId) -> float | None:
        """Unix second in which the shard closed, from its EndingSequenceNumber; `None` while open.

        If that cannot be decoded (emulators), the first start of a child is taken.
        """
        return self._lives[shard].closed

    def newest_index(self) -> int:
        """The highest shard index listed, -1 if none; a higher one does not exist yet."""
        last = index_of(next(reversed(self._shards), ""))  # ids without a number come first
        return -1 if last is None else last

    def breaches(self) -> list[Breach]:
        """Every way in which the listing contradicts itself; none for a stream at rest."""
        return breaches(self._shards, self._children)

    def digest(self) -> bytes:
        """SHA-256 of the listing: equal for equal listings, within one release of this program."""
        return sha256(repr([*map(_TEXTS, self._shards.values())]).encode()).digest()


def _parents_first(parents: Mapping[ShardId, Family]) -> list[ShardId]:
    """For the ids of an emulator. Kinesis counts up, and an inspection starts without networkx."""
    from reshardctl.lineage.explore import ordered

    return ordered(parents)


def _read(text: str | None) -> tuple[int | None, Decoded | None]:
    """A number, and its fields if it has the form that Kinesis accepts."""
    if text is None or not text.isdecimal():
        return None, None
    number = int(text)
    return number, decode(number) if is_number(text) else None


def _foreign_epochs(taken: Mapping[int, bool], born: Iterable[int]) -> frozenset[int]:
    """The epochs of other streams' numbers: of refused ones, without those of taken ones."""
    refused = _epochs(number for number, told in taken.items() if not told)
    return (refused | set(born)) - _epochs(number for number, told in taken.items() if told)


def _epochs(numbers: Iterable[int]) -> frozenset[int]:
    """The epochs of sequence numbers."""
    return frozenset(fields.epoch for n in numbers if (fields := decode(n)) is not None)


def _reached(shards: Iterable[ShardId], step: Mapping[ShardId, Family]) -> set[ShardId]:
    """All shards that repeated steps lead to, each visited once."""
    seen: set[ShardId] = set()
    todo = list(shards)
    while todo:
        for near in step.get(todo.pop(), ()):
            if near not in seen:
                seen.add(near)
                todo.append(near)
    return seen


class Breach(Struct, frozen=True):
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
    ranges = ((child.hash_start, child.hash_end) for child in children)
    return not uncovered(ranges, shard.hash_start, shard.hash_end)
