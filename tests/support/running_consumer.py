"""A KCL worker that works on while a test writes to its table: the library's own conditions.

Written from DynamoDBLeaseRefresher, DynamoDBLeaseRenewer, InitializeTask, BlockOnParentShardTask
and ShutdownTask of KCL 2.7.2 and 3.5.1; nothing of the package is used but its medium in memory.
A lease is renewed and checkpointed only if its counter is the one that the worker knows. After a
renewal that failed the worker looks: is it the owner, and the counter one further, it takes the
write for its own; else the lease is lost. The position is read once, when a lease is taken up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reshardctl.model import Image
from tests.contracts.memory_store import MemoryStore
from tests.support.case import Case

END = "SHARD_END"
Row = dict[str, Any]


class Worker:
    """One worker, w1, on one table and one case's stream; `delivered` is what its program got."""

    def __init__(self, medium: MemoryStore, case: Case) -> None:
        self._medium, self._case = medium, case
        self.delivered: dict[str, list[str]] = {shard["ShardId"]: [] for shard in case.shards}
        self.known: dict[str, int] = {}
        self._at: dict[str, int | None] = {}
        """How many of the shard's records lie behind it; `None` where it cannot begin."""
        for key, row in self._rows().items():
            if row.get("leaseOwner") == {"S": "w1"}:
                self.known[key] = _counter(row)
        self._begin()

    def renew(self) -> None:
        """Every lease that it holds, the finished ones too."""
        for key in list(self.known):
            row = self._rows().get(key)
            if row is not None and _counter(row) == self.known[key]:
                self._put(key, {**row, **_count(self.known[key] + 1)})
                self.known[key] += 1
            elif row is not None and (
                row.get("leaseOwner") == {"S": "w1"} and _counter(row) == self.known[key] + 1
            ):
                self.known[key] += 1
            else:
                self._lose(key)

    def take(self) -> None:
        """Every lease that nobody holds."""
        for key, row in self._rows().items():
            if "leaseOwner" not in row and key not in self.known:
                counter = _counter(row) + 1
                self._put(key, {**row, "leaseOwner": {"S": "w1"}, **_count(counter)})
                self.known[key] = counter
        self._begin()

    def read(self) -> None:
        """One record of every shard, checkpointed where its lease still stands."""
        self._begin()
        for key, at in list(self._at.items()):
            records = self._case.records.get(key, ())
            if at is not None and at < len(records):
                self.delivered[key].append(records[at][1])
                self._at[key] = at + 1
                self._checkpoint(key, records[at][0])
            elif at is not None and self._closed(key):
                self._end(key)

    def hand_over(self) -> None:
        """KCL 3.x: another worker is to have the leases; their counters stay."""
        for key, row in self._rows().items():
            if row.get("leaseOwner") == {"S": "w1"}:
                moved = {"checkpointOwner": {"S": "w1"}, "leaseOwner": {"S": "w2"}}
                self._put(key, {**row, **moved})

    def go_on(self) -> None:
        """Until nothing is left to do."""
        for _ in range(40):
            self.renew()
            self.take()
            self.read()

    def _begin(self) -> None:
        rows = self._rows()
        for key in self.known:
            row = rows.get(key)
            if row is None or key in self._at or row["checkpoint"] == {"S": END}:
                continue
            parents = row.get("parentShardId", {}).get("SS", [])
            if all(p not in rows or rows[p]["checkpoint"] == {"S": END} for p in parents):
                self._at[key] = self._behind(key, row["checkpoint"]["S"])

    def _behind(self, key: str, position: str) -> int | None:
        records = self._case.records.get(key, ())
        if position in ("TRIM_HORIZON", "LATEST"):
            return 0 if position == "TRIM_HORIZON" else len(records)
        numbers = [number for number, _, _ in records]
        return numbers.index(position) + 1 if position in numbers else None

    def _checkpoint(self, key: str, position: str) -> bool:
        row = self._rows().get(key)
        if row is None or _counter(row) != self.known[key]:
            self._lose(key)
            return False
        self.known[key] += 1
        self._put(key, {**row, "checkpoint": {"S": position}, **_count(self.known[key])})
        return True

    def _end(self, key: str) -> None:
        for shard in self._case.shards:
            parents = [p for p in (shard.get("ParentShardId"), shard.get("AdjacentParentShardId"))
                       if p]  # fmt: skip
            if key in parents and shard["ShardId"] not in self._rows():
                self._put(shard["ShardId"], {
                    "leaseKey": {"S": shard["ShardId"]}, "checkpoint": {"S": "TRIM_HORIZON"},
                    "checkpointSubSequenceNumber": {"N": "0"}, "parentShardId": {"SS": parents},
                    "ownerSwitchesSinceCheckpoint": {"N": "0"}, **_count(0),
                })  # fmt: skip
        if self._checkpoint(key, END):
            del self._at[key]

    def _lose(self, key: str) -> None:
        self.known.pop(key, None)
        self._at.pop(key, None)

    def _closed(self, key: str) -> bool:
        listed = next(shard for shard in self._case.shards if shard["ShardId"] == key)
        return "EndingSequenceNumber" in listed["SequenceNumberRange"]

    def _rows(self) -> dict[str, Row]:
        return {image.key: dict(image.attributes) for image in self._medium.read()}

    def _put(self, key: str, row: Row) -> None:
        self._medium.plant(Image(key, row))


class Meeting:
    """A medium at whose n-th call something else happens first. `written`: steps in place."""

    def __init__(self, medium: MemoryStore, todo: dict[int, Callable[[], None]]) -> None:
        self._medium, self._todo = medium, todo
        self.max_writes, self.calls, self.written = medium.max_writes, 0, 0

    def _meet(self) -> None:
        self._todo.get(self.calls, lambda: None)()
        self.calls += 1

    def identity(self) -> Any:
        return self._medium.identity()

    def read(self) -> Any:
        self._meet()
        return self._medium.read()

    def get(self, keys: Any) -> Any:
        self._meet()
        return self._medium.get(keys)

    def write(self, step: Any, token: str) -> Any:
        self._meet()
        result = self._medium.write(step, token)
        self.written += result.value == "done"
        return result


def _counter(row: Row) -> int:
    return int(row["leaseCounter"]["N"])


def _count(counter: int) -> Row:
    return {"leaseCounter": {"N": str(counter)}}
