"""The stream of one world: what is put into it, how it is resharded, and when its clock steps."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from types import SimpleNamespace
from typing import Any, cast

from reshardctl.testing import FakeKinesis
from reshardctl.testing.service import Settings
from tests.proof.chaos.ledger import Ledger, Put
from tests.support.case import Case
from tests.support.case_stream import CaseShard, shard_name

STREAM = "orders"
AGE_SECONDS = 3 * 3600
"""Of the stream, when its first consumer starts."""
RETENTION_HOURS = 24
STARTS = (*["TRIM_HORIZON"] * 4, "LATEST")
"""Where an application begins that has stored nothing."""
STEPS_HOURS = (-7, -2, -1, 1, 2, 5)
"""By how many hours a clock of the tool steps. That of Kinesis steps forward alone: it never goes
back (its numbers would)."""


@dataclass
class World:
    """A stream, and a ledger of every record of it."""

    dice: Random
    fake: FakeKinesis
    ledger: Ledger

    @classmethod
    def new(cls, dice: Random) -> World:
        """A stream that was made some hours ago, with records, perhaps resharded since."""
        now = int(time.time())
        settings = Settings(create_seconds=1.0, reshard_seconds=0.5)
        fake = FakeKinesis(start=now - AGE_SECONDS, ticking=True, settings=settings)
        fake.client().create_stream(StreamName=STREAM, ShardCount=dice.randint(1, 3))
        fake.settle()
        world = cls(dice, fake, Ledger())
        for _ in range(dice.randint(0, 3)):
            world.put(dice.randint(0, 5))
            fake.clock.advance(dice.randint(60, 3000))
            world.reshard()
            fake.clock.advance(dice.randint(2, 60))
        world.put(dice.randint(1, 6))
        fake.clock.set(max(fake.clock.now(), time.time()))
        return world

    def put(self, count: int) -> None:
        """So many records, into open shards; the partition key of a record names its shard."""
        for _ in range(count):
            number = self.dice.choice(self._open())
            payload = f"r{len(self.ledger.puts)}"
            record = self.fake.put(STREAM, number, payload, f"k{number}")
            shard = shard_name(number)
            self.ledger.add(Put(payload, shard, int(record.number), self.fake.clock.now()))

    def reshard(self) -> str:
        """Split one shard, or merge two neighbours; the old topology is listed for half a second.
        """
        client, pieces = self.fake.client(), sorted(self._pieces(), key=lambda piece: piece.low)
        pairs = [
            (one, other) for one, other in pairwise(pieces)
            if one.high + 1 == other.low
        ]
        self.fake.settle()
        self.fake.clock.advance(2)  # a reshard of a shard in its first second is another story
        if pairs and (self.dice.random() < 0.4 or len(pieces) > 5):
            one, other = self.dice.choice(pairs)
            first, second = shard_name(one.number), shard_name(other.number)
            client.merge_shards(StreamName=STREAM, ShardToMerge=first, AdjacentShardToMerge=second)
            done = f"merge {one.number} {other.number}"
        else:
            piece = self.dice.choice(pieces)
            client.split_shard(
                StreamName=STREAM, ShardToSplit=shard_name(piece.number),
                NewStartingHashKey=str((piece.low + piece.high) // 2 + 1),
            )
            done = f"split {piece.number}"
        self.fake.clock.advance(1)
        self.fake.settle()
        return done

    def step(self) -> int:
        """The clock of Kinesis steps forward by hours, at most to half of the retention."""
        hours = self.dice.choice([hours for hours in STEPS_HOURS if hours > 0])
        ahead = (self.fake.clock.now() - time.time()) / 3600
        if ahead + hours > RETENTION_HOURS / 2:
            return 0
        self.fake.clock.advance(hours * 3600)
        return hours

    def case(self) -> Case:
        """The stream as damages look at one: topology, records, times."""
        stream = self.fake.stream(STREAM)
        records: dict[str, list[Any]] = {}
        for put in self.ledger.puts.values():
            records.setdefault(put.shard, []).append((str(put.number), put.payload, int(put.at)))
        topology = {
            shard.number: CaseShard(
                shard.number, shard.low, shard.high, shard.parents,
                tuple(child.number for child in stream.children(shard.number)),
                str(shard.starting), str(shard.ending or ""),
                None if shard.closed is None else int(shard.closed),
                not stream.expired(shard), tuple(records.get(shard.id, ())),
            )
            for shard in stream.shards.values()
        }  # fmt: skip
        kept = {shard_name(number): shard.records for number, shard in topology.items()}
        seen = SimpleNamespace(
            topology=topology, records=kept, now=int(self.fake.clock.now()),
            stream={"created": int(stream.created)},
        )
        return cast(Case, seen)

    def closed(self) -> set[str]:
        """The shards that no record can come into any more."""
        return {shard_name(n) for n, one in self.case().topology.items() if one.closed is not None}

    def _pieces(self) -> list[Any]:
        return self.fake.stream(STREAM).open_pieces()

    def _open(self) -> list[int]:
        return [piece.number for piece in self._pieces()]
