"""Streams that live while a query reads them: records, splits, merges, time; all by number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from reshardctl.testing.fake import FakeKinesis
from reshardctl.testing.service import Settings
from reshardctl.testing.topology import load_topology
from tests.unit.spark.source.drive import NAME, Crash, Query, Row

CREATED = 1_795_232_267


def topology(roots: int, hours: int = 24) -> dict[str, Any]:
    """So many shards without a record."""
    shards = [
        {"id": n, "range": [f"{n}/{roots}", f"{n + 1}/{roots}"], "open": 0} for n in range(roots)
    ]
    return {"name": NAME, "created": CREATED, "retention_hours": hours, "now": 60, "shards": shards}


class Living:
    """A stream and what was put into it, in the order in which it was put."""

    def __init__(self, roots: int, hours: int = 24, settings: Settings | None = None) -> None:
        self.fake: FakeKinesis = load_topology(topology(roots, hours), settings=settings)
        self.client = self.fake.client()
        self.put_into: dict[str, list[str]] = defaultdict(list)
        self.arrived: dict[str, float] = {}
        self._count = 0

    @property
    def stream(self) -> Any:
        return self.fake.stream(NAME)

    def open_numbers(self) -> list[int]:
        """Open shards by their place in the hash space."""
        shards = [s for s in self.stream.shards.values() if s.closed is None]
        return [s.number for s in sorted(shards, key=lambda s: s.low)]

    def put(self, place: int, count: int = 1) -> None:
        """Records into the shard at this place among the open ones, a tenth of a second apart."""
        numbers = self.open_numbers()
        number = numbers[place % len(numbers)]
        for _ in range(count):
            data = f"r{self._count}"
            self.arrived[data] = self.fake.clock.now()
            self.fake.put(NAME, number, data)
            self.fake.clock.advance(0.1)
            self.put_into[f"shardId-{number:012d}"].append(data)
            self._count += 1

    def scale(self, count: int) -> None:
        """UpdateShardCount, which may make shards that live for a moment."""
        self.client.update_shard_count(
            StreamName=NAME, TargetShardCount=count, ScalingType="UNIFORM_SCALING"
        )
        self.fake.settle()

    def split(self, place: int) -> None:
        numbers = self.open_numbers()
        shard = self.stream.shards[numbers[place % len(numbers)]]
        if shard.high - shard.low < 8:
            return
        self.client.split_shard(
            StreamName=NAME, ShardToSplit=shard.id,
            NewStartingHashKey=str((shard.low + shard.high) // 2 + 1),
        )
        self.fake.settle()

    def merge(self, place: int) -> None:
        numbers = self.open_numbers()
        if len(numbers) < 2:
            return
        at = place % (len(numbers) - 1)
        one, other = (self.stream.shards[n].id for n in numbers[at : at + 2])
        self.client.merge_shards(StreamName=NAME, ShardToMerge=one, AdjacentShardToMerge=other)
        self.fake.settle()

    def recreate(self, shards: int = 1, pause: float = 100) -> None:
        """The stream is deleted, and after a pause made anew."""
        self.client.delete_stream(StreamName=NAME)
        self.fake.settle()
        self.fake.clock.advance(pause)
        self.client.create_stream(StreamName=NAME, ShardCount=shards)
        self.fake.settle()

    def raise_retention(self, hours: int) -> None:
        self.client.increase_stream_retention_period(StreamName=NAME, RetentionPeriodHours=hours)

    def all(self) -> list[str]:
        """Everything that was put, sorted."""
        return sorted(one for data in self.put_into.values() for one in data)


Step = tuple[str, int, int]
"""What is done, where or how often, and how much of it."""


def steps(text: str) -> Iterator[Step]:
    """Those of a history that is written down, as `put 0 2, split 0, wait 25h, stop`."""
    for words in text.split(", "):
        what, *given = words.split()
        numbers = [int(n[:-1]) * 3600 if n.endswith("h") else int(n) for n in given]
        place, count, *_ = (0, *numbers, 0) if what == "wait" else (*numbers, 0, 0)
        yield what, place, count


def play(living: Living, query: Query, history: Iterable[Step]) -> None:
    """die: in the batch that is due. crash: behind a record more, in a batch if there is one."""
    for what, place, count in history:
        match what:
            case "put":
                living.put(place, count)
            case "split":
                living.split(place)
            case "merge":
                living.merge(place)
            case "trim":
                living.fake.trim_shard(NAME, place)
            case "raise":
                living.raise_retention(place or min(living.stream.retention_hours + 24, 168))
            case "recreate":
                living.recreate(place)
            case "wait":
                living.fake.clock.advance(count)
            case "limit":
                query.options = {"maxRecordsPerTrigger": str(place)}
            case "stop":
                query.stop()
            case "trigger":
                query.trigger()
            case "drain":
                query.drain()
            case "die":
                with pytest.raises(Crash):
                    query.trigger(crash=True)
            case "crash":
                with pytest.raises(Crash):
                    living.put(place, 1)  # or there may be no batch to die in
                    living.fake.clock.advance(1)
                    query.trigger(crash=True)
                    raise Crash
            case _:
                raise ValueError(what)


def lived(old: bool, history: str, roots: int = 1, **options: str) -> tuple[Living, Query]:
    """A stream of so many shards and a query on it, after a history that is written down."""
    living = Living(roots)
    query = Query(living.fake, old, options)
    play(living, query, steps(history))
    return living, query


def order_held(living: Living, query: Query) -> None:
    """Each shard in its order, and no record of a child in or before a batch of its parents'."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    got: dict[str, list[str]] = defaultdict(list)
    for number, rows in enumerate(query.delivered):
        for row in rows:
            got[row.shard].append(row.data)
            first.setdefault(row.shard, number)
            last[row.shard] = number
    for shard, data in got.items():
        expected = [one for one in living.put_into[shard] if one in set(data)]
        assert data == expected, f"{shard} out of order"
    for shard in living.stream.shards.values():
        for ancestor in _ancestors(living.stream, shard.number):
            if shard.id in first and ancestor in last:
                assert first[shard.id] > last[ancestor], f"{shard.id} not behind {ancestor}"


def replays_equal(query: Query) -> None:
    """Every run of one batch has the same rows."""
    runs: dict[int, set[frozenset[Row]]] = defaultdict(set)
    for number, rows in query.attempts:
        assert len(rows) == len(set(rows)), f"batch {number} has a row twice"
        runs[number].add(frozenset(rows))
    for number, found in runs.items():
        assert len(found) == 1, f"batch {number} ran with {len(found)} contents"


def _ancestors(stream: Any, number: int) -> Sequence[str]:
    found, todo = [], list(stream.shards[number].parents)
    while todo:
        one = todo.pop()
        if one in stream.shards:
            found.append(stream.shards[one].id)
            todo += stream.shards[one].parents
    return found
