"""An executable model of one start of harlow/kinesis-consumer: v0.4.0 to v0.5.0, and its master.

Written from allgroup.go, consumer.go and shard_scan.go of v0.5.0 and of master 31e0042, under a
virtual clock. It knows nothing of the package but its FakeKinesis. Telegraf's input, which has the
same rows, is in `kinesis_consumer_telegraf.py`, the consumer group in `kinesis_consumer_group.py`.

Left out: the flush interval (every record's position is stored at once), errors of the stores,
errors of the application, iterators that expire.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reshardctl.testing import FakeKinesis
from reshardctl.testing.requests import ApiError
from tests.proof.reference.listing import listed, parents_of

RELEASES = ("0.5.0", "master-31e0042")
POLL = 30.0  # AllGroup.Start's ticker
QUIET_ROUNDS = 3
MOST_ROUNDS = 10_000

Rows = dict[str, str]
"""Sequence number by shard id, as GetCheckpoint answers it ("" is none)."""
NULL = "converting NULL to string is unsupported"
"""Stands for a row for which GetCheckpoint returns an error."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a start did: payloads by shard id and over all, the rows it left, what ended it."""

    delivered: dict[str, list[str]]
    order: list[str]
    rows: Rows
    died: bool
    errors: dict[str, str]


class ScanError(Exception):
    """Scan returns an error: the process ends."""


def stored(item: Mapping[str, Any] | None, store: str = "ddb") -> str:
    """GetCheckpoint of each store.

    telegraf, store.go: a string alone; another type is logged and counts as no row.
    store/redis: the string's bytes. store/postgres and store/mysql: Scan into a string, which fails
    for NULL, and its error is returned. store/ddb: attributevalue.UnmarshalMap into a string field,
    whose error is dropped. A string and a number are read as their text, everything else leaves the
    field empty.
    """
    value = (item or {}).get("sequence_number", {})
    if store in ("postgres", "mysql") and not value:
        return NULL
    if store == "telegraf":
        return str(value.get("S", ""))
    if store == "redis":
        return str(value.get("S", value.get("B", "")))
    return str(value.get("S", value.get("N", "")))


@dataclass(slots=True)
class Scan:
    """Consumer.Scan with its AllGroup."""

    fake: FakeKinesis
    stream: str
    rows: Rows
    initial: str
    release: str
    known: set[str] = field(default_factory=set)
    closing: set[str] = field(default_factory=set)
    """Shards whose channel is there and open: `shardsClosed`."""
    waiting: dict[str, list[str]] = field(default_factory=dict)
    """Shard → those of its parents that had a channel when it was found."""
    reading: dict[str, str] = field(default_factory=dict)
    delivered: dict[str, list[str]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)

    def find_new_shards(self) -> None:
        """findNewShards: channels for all new shards first, then whom each of them waits for."""
        shards = listed(self.fake.client(), self.stream)
        completed = self.completed_ancestors(shards) if self.release.startswith("master") else ()
        new = []
        for shard in shards:
            name = shard["ShardId"]
            if name in self.known:
                continue
            self.known.add(name)
            if name in completed:
                continue
            self.closing.add(name)
            new.append(shard)
        for shard in new:
            gates = [parent for parent in parents_of(shard) if parent in self.closing]
            self.waiting[shard["ShardId"]] = gates

    def completed_ancestors(self, shards: list[dict[str, Any]]) -> set[str]:
        """inferCompletedAncestors of master: every ancestor of a shard with a checkpoint."""
        by_name = {shard["ShardId"]: shard for shard in shards}
        completed: set[str] = set()
        for shard in shards:
            todo = parents_of(shard) if self.checkpoint(shard["ShardId"]) else []
            while todo:
                parent = todo.pop()
                if parent not in completed:
                    completed.add(parent)
                    todo += parents_of(by_name.get(parent, {}))
        return completed

    def emit(self) -> bool:
        """Shards whose parents have been closed are given to scanShard, which asks for them."""
        ready = [
            name for name, gates in self.waiting.items()
            if not any(parent in self.closing for parent in gates)
        ]
        for name in ready:
            del self.waiting[name]
            self.reading[name] = self.iterator(name)
        return bool(ready)

    def checkpoint(self, shard: str) -> str:
        """GetCheckpoint."""
        number = self.rows.get(shard, "")
        if number == NULL:
            raise ScanError(f"{shard}: get checkpoint error: {NULL}")
        return number

    def iterator(self, shard: str) -> str:
        """getShardIteratorWithCheckpointFallback."""
        number = self.checkpoint(shard)
        try:
            return self._iterator(shard, number)
        except ApiError as error:
            text = str(error.message).lower()
            named = "startingsequencenumber" in text or "starting sequence number" in text
            if not (number and error.code == "InvalidArgumentException" and named):
                raise ScanError(f"{shard}: {error.code}: {error.message}") from error
        return self._ask(shard, ShardIteratorType="TRIM_HORIZON")

    def _iterator(self, shard: str, number: str) -> str:
        if number:
            kind = "AFTER_SEQUENCE_NUMBER"
            return self._ask(shard, ShardIteratorType=kind, StartingSequenceNumber=number)
        kind, _, time = self.initial.partition(":")
        if time:
            return self._ask(shard, ShardIteratorType=kind, Timestamp=float(time))
        return self._ask(shard, ShardIteratorType=kind)

    def _ask(self, shard: str, **how: Any) -> str:
        ask = {"StreamName": self.stream, "ShardId": shard, **how}
        return str(self.fake.call("GetShardIterator", ask)["ShardIterator"])

    def read(self) -> bool:
        """One GetRecords for every shard that is read. True when anything came of it."""
        moved = False
        for shard, iterator in list(self.reading.items()):
            answer = self.fake.call("GetRecords", {"ShardIterator": iterator, "Limit": 10_000})
            for record in answer["Records"]:
                self.deliver(shard, record)
                moved = True
            if answer.get("NextShardIterator") is None:
                del self.reading[shard]
                self.closing.discard(shard)
                moved = True
            else:
                self.reading[shard] = answer["NextShardIterator"]
        return moved

    def deliver(self, shard: str, record: Mapping[str, Any]) -> None:
        """processRecords: the callback, then SetCheckpoint."""
        data = record["Data"]
        payload = data.decode() if isinstance(data, bytes) else str(data)
        self.delivered.setdefault(shard, []).append(payload)
        self.order.append(payload)
        self.rows[shard] = str(record["SequenceNumber"])

    def settle(self) -> None:
        """Until nothing moves any more."""
        for _ in range(MOST_ROUNDS):
            emitted = self.emit()
            if not self.read() and not emitted:
                return
            self.fake.clock.advance(0.25)
        raise AssertionError("it never comes to rest")


def run(
    fake: FakeKinesis, stream: str, rows: Rows, initial: str, release: str,
    live: Callable[[], None] = lambda: None,
) -> Run:
    """One start, until nothing moves; then `live` puts records, and it goes on.

    initial: ``LATEST``, ``TRIM_HORIZON`` or ``AT_TIMESTAMP:`` and epoch seconds.
    """
    scan = Scan(fake, stream, dict(rows), initial, release)
    died, errors = False, {}
    try:
        scan.find_new_shards()
        scan.settle()
        live()
        for _ in range(QUIET_ROUNDS):
            fake.clock.advance(POLL)
            scan.find_new_shards()
            scan.settle()
    except ScanError as error:
        died, errors = True, {"Scan": str(error)}
    return Run(scan.delivered, scan.order, scan.rows, died, errors)
