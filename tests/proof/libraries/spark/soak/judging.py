"""What has to be true of everything that a query delivered, whatever befell it; pure.

The rules are those of the README's promise, not of the source: nothing lost, a batch that comes
again has the rows that it had, nothing comes in two batches, order by key, parents first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

SHOWN = 5
"""Examples that a complaint names."""
Place = tuple[str, int]
"""A shard's id and a sequence number."""


@dataclass(frozen=True, slots=True)
class Put:
    """A record as it was put: ``turn`` counts the records of its key from 0."""

    key: str
    turn: int
    due: bool = True
    """Whether it has to be delivered; those that a start at LATEST may pass over are not."""
    past: bool = False
    """Whether it must not be delivered: put before a start at LATEST."""


@dataclass(frozen=True, slots=True)
class Row:
    """A record as it was delivered."""

    shard: str
    number: int
    key: str
    turn: int

    @property
    def place(self) -> Place:
        return self.shard, self.number


@dataclass(frozen=True, slots=True)
class Delivery:
    """What the sink got in one attempt at a batch, in the order in which it came."""

    batch: int
    start: int
    """Which start of the query this was, counted from 0."""
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Truth:
    """What was put, and each shard's parents, unlisted ones too."""

    puts: Mapping[Place, Put]
    parents: Mapping[str, tuple[str, ...]]
    committed: Mapping[int, int] = field(default_factory=dict)
    """The newest committed batch when a start began, by start; -1 for none."""

    def ancestors(self, shard: str) -> set[str]:
        """All shards above this one."""
        found: set[str] = set()
        waiting = [shard]
        while waiting:
            more = set(self.parents.get(waiting.pop(), ())) - found
            found |= more
            waiting += more
        return found


def complaints(truth: Truth, deliveries: Sequence[Delivery]) -> list[str]:
    """Every way in which these deliveries break the promise; empty when they keep it."""
    ordered = sorted(deliveries, key=lambda each: (each.batch, each.start))
    first = {each.batch: each for each in reversed(ordered)}
    batches = [first[batch] for batch in sorted(first)]
    return [
        *_lost(truth, batches),
        *_foreign(truth, ordered),
        *_again(truth, ordered),
        *_twice(batches),
        *_keys(batches),
        *_numbers(batches),
        *_children(truth, batches),
    ]


def _lost(truth: Truth, batches: Sequence[Delivery]) -> Iterator[str]:
    seen = {row.place for each in batches for row in each.rows}
    lost = sorted(place for place, put in truth.puts.items() if put.due and place not in seen)
    if lost:
        yield f"{len(lost)} lost: {_some(lost)}"


def _foreign(truth: Truth, deliveries: Sequence[Delivery]) -> Iterator[str]:
    for each in deliveries:
        for row in each.rows:
            put = truth.puts.get(row.place)
            if put is None or (put.key, put.turn) != (row.key, row.turn):
                yield f"batch {each.batch} has what was never put: {row}"
            elif put.past:
                yield f"batch {each.batch} has what lay before the start at LATEST: {row}"


def _again(truth: Truth, deliveries: Sequence[Delivery]) -> Iterator[str]:
    """A batch may only come again where it was not committed, and then with equal rows."""
    rows: dict[int, list[Row]] = {}
    for each in deliveries:
        if each.batch <= truth.committed.get(each.start, -1):
            yield f"batch {each.batch} came again in start {each.start}, after its commit"
        found = sorted(each.rows, key=lambda row: row.place)
        if rows.setdefault(each.batch, found) != found:
            yield f"batch {each.batch} has {len(found)} rows in start {each.start}, others before"


def _twice(batches: Sequence[Delivery]) -> Iterator[str]:
    where: dict[Place, list[int]] = defaultdict(list)
    for each in batches:
        for row in each.rows:
            where[row.place].append(each.batch)
    doubled = sorted((place, found) for place, found in where.items() if len(found) > 1)
    if doubled:
        yield f"{len(doubled)} doubled: {_some(doubled)}"


def _keys(batches: Sequence[Delivery]) -> Iterator[str]:
    newest: dict[str, int] = {}
    for each in batches:
        for row in each.rows:
            before = newest.get(row.key, -1)
            if row.turn < before:
                yield f"batch {each.batch}: key {row.key} has {row.turn} after {before}"
            newest[row.key] = max(row.turn, before)


def _numbers(batches: Sequence[Delivery]) -> Iterator[str]:
    newest: dict[str, int] = {}
    for each in batches:
        for row in each.rows:
            if row.number < newest.get(row.shard, 0):
                yield f"batch {each.batch}: {row.shard} goes back to {row.number}"
            newest[row.shard] = max(row.number, newest.get(row.shard, 0))


def _children(truth: Truth, batches: Sequence[Delivery]) -> Iterator[str]:
    begun: dict[str, int] = {}
    last: dict[str, int] = {}
    for each in batches:
        for row in each.rows:
            begun.setdefault(row.shard, each.batch)
            last[row.shard] = each.batch
    for shard, batch in begun.items():
        for above in truth.ancestors(shard) & last.keys():
            if batch <= last[above]:
                yield f"{shard} begins in batch {batch}, its ancestor {above} ends in {last[above]}"


def _some(found: Sequence[object]) -> str:
    shown = ", ".join(map(str, found[:SHOWN]))
    return shown + (", ..." if len(found) > SHOWN else "")
