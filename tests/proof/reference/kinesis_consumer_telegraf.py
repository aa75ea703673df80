"""An executable model of one start of Telegraf's kinesis_consumer input, 1.34 and later.

Written from plugins/inputs/kinesis_consumer/{consumer,store,kinesis_consumer}.go of influxdata/
telegraf b272631 (1.39), and of f636016 (1.34) for what came before #17877. Its rows are those of
kinesis-consumer's DynamoDB store.

Left out: deliveries that outputs acknowledge in another order, expired iterators.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from reshardctl.testing import FakeKinesis
from reshardctl.testing.requests import ApiError
from tests.proof.reference.kinesis_consumer import MOST_ROUNDS, QUIET_ROUNDS, Rows, Run
from tests.proof.reference.listing import listed

RELEASES = ("telegraf-1.34", "telegraf-1.39")
UPDATE = 30.0  # shard_update_interval


@dataclass(slots=True)
class Input:
    """The plugin's consumer."""

    fake: FakeKinesis
    stream: str
    rows: Rows
    kind: str
    knows_expired: bool
    consumed: set[str] = field(default_factory=set)
    consumers: dict[str, str | None] = field(default_factory=dict)
    """Shard → its iterator, `None` for one whose consumer failed: it stays in the map."""
    delivered: dict[str, list[str]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)

    def update(self) -> None:
        """updateShardConsumers."""
        shards = listed(self.fake.client(), self.stream)
        available = {shard["ShardId"] for shard in shards}
        new = []
        for shard in shards:
            name = shard["ShardId"]
            if name in self.consumers or name in self.consumed:
                continue
            end = shard["SequenceNumberRange"].get("EndingSequenceNumber")
            if end is not None and self.rows.get(name) == end:
                self.consumed.add(name)
                continue
            new.append(shard)
        for shard in new:
            parents = [shard.get("ParentShardId"), shard.get("AdjacentParentShardId")]
            if all(self._over(parent, available) for parent in parents if parent):
                self.start(shard["ShardId"])

    def _over(self, parent: str, available: set[str]) -> bool:
        if self.knows_expired and parent not in available:
            return True
        return parent in self.consumed

    def start(self, shard: str) -> None:
        """startShardConsumer. An error of the first iterator leaves the shard in the map."""
        if shard in self.consumers:
            return
        number = self.rows.get(shard, "")
        ask: dict[str, Any] = {"StreamName": self.stream, "ShardId": shard}
        if number:
            ask |= {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "StartingSequenceNumber": number}
        else:
            ask["ShardIteratorType"] = self.kind
        try:
            self.consumers[shard] = self.fake.call("GetShardIterator", ask)["ShardIterator"]
        except ApiError as error:
            self.consumers[shard] = None
            self.errors[shard] = f"{error.code}: {error.message}"

    def read(self) -> bool:
        """One GetRecords of every consumer. An answer without a next iterator is dropped whole."""
        moved = False
        for shard, iterator in list(self.consumers.items()):
            if iterator is None:
                continue
            answer = self.fake.call("GetRecords", {"ShardIterator": iterator})
            if answer.get("NextShardIterator") is None:
                self.finish(shard, answer.get("ChildShards", ()))
                moved = True
                continue
            self.consumers[shard] = answer["NextShardIterator"]
            for record in answer["Records"]:
                data = record["Data"]
                payload = data.decode() if isinstance(data, bytes) else str(data)
                self.delivered.setdefault(shard, []).append(payload)
                self.order.append(payload)
                self.rows[shard] = str(record["SequenceNumber"])
                moved = True
        return moved

    def finish(self, shard: str, children: Any) -> None:
        """The end of a shard: children all of whose parents are consumed start at once."""
        self.consumed.add(shard)
        del self.consumers[shard]
        for child in children:
            if all(parent in self.consumed for parent in child["ParentShards"]):
                self.start(child["ShardId"])

    def settle(self) -> None:
        """Until nothing moves any more."""
        for _ in range(MOST_ROUNDS):
            if not self.read():
                return
            self.fake.clock.advance(0.25)
        raise AssertionError("it never comes to rest")


def run(
    fake: FakeKinesis, stream: str, rows: Rows, initial: str, release: str,
    live: Callable[[], None] = lambda: None,
) -> Run:
    """One start, until nothing moves; then `live` puts records, and it goes on. It never dies."""
    plugin = Input(fake, stream, dict(rows), initial, release != "telegraf-1.34")
    plugin.update()
    plugin.settle()
    for _ in range(QUIET_ROUNDS):
        fake.clock.advance(UPDATE)
        plugin.update()
        plugin.settle()
    live()
    plugin.settle()
    return Run(plugin.delivered, plugin.order, plugin.rows, False, plugin.errors)
