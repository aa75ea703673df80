"""A stream that is resharded, written to, trimmed and disturbed at random; what was put in it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from reshardctl.testing import FakeKinesis
from reshardctl.testing.faults import stale_listing, timeout_after, timeout_before
from reshardctl.testing.requests import ApiError
from reshardctl.testing.service import Settings
from reshardctl.testing.shards import Shard
from tests.proof.libraries.spark.soak.judging import Place, Put

STREAM = "orders"
KEYS = 24
MOST_OPEN = 6
RESHARD_SECONDS = 0.2
MOST_RECORDS = 12
REFUSED = ("ResourceInUseException", "LimitExceededException", "InvalidArgumentException")
"""What a reshard may be answered while another one changes what it is about."""
Ends = dict[str, dict[str, object]]
"""The shards of a checkpoint's offset."""

FAULTS: tuple[tuple[str, object, int], ...] = (
    ("GetRecords", "ProvisionedThroughputExceededException", 3),
    ("GetRecords", "ExpiredIteratorException", 1),
    ("GetRecords", "InternalFailure", 2),
    ("GetRecords", timeout_before, 1),
    ("GetRecords", timeout_after, 2),
    ("GetShardIterator", "ProvisionedThroughputExceededException", 2),
    ("GetShardIterator", timeout_after, 1),
    ("ListShards", "LimitExceededException", 2),
    ("ListShards", stale_listing, 1),
    ("ListShards", timeout_before, 1),
    ("DescribeStreamSummary", "LimitExceededException", 1),
)
"""What goes wrong on a good day: the call, how, and how often in a row at most."""


@dataclass
class Moving:
    """One stream of a fake, moved by `dice` alone (and trimmed as far as the checkpoint allows)."""

    dice: Random
    fake: FakeKinesis
    puts: dict[Place, Put] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    """How often each kind of move was made."""
    due: bool = True
    """Whether what is put now has to be delivered."""
    past: bool = False
    """Whether what is put now must not be delivered."""
    since: float | None = None
    """Unix seconds: what arrives before must not be delivered, all else has to be."""
    calm: bool = False
    """Whether the service never fails."""
    _turns: Counter[str] = field(default_factory=Counter)

    @classmethod
    def new(cls, seed: int, *, calm: bool = False) -> Moving:
        """A stream of one to three shards, on a clock that runs beside this machine's.

        `calm` for a service that never fails and answers in one page."""
        dice = Random(seed)
        settings = _settings(dice, calm=calm)
        # Nobody's clock is right: the service's is up to some seconds ahead or behind.
        now = time.time() + dice.choice((0, -3, 3))
        return cls._of(dice, FakeKinesis(start=now - 60, ticking=True, settings=settings), calm)

    @classmethod
    def still(cls, seed: int, start: float) -> Moving:
        """The same on a clock that stands at this time until it is moved."""
        dice = Random(seed)
        fake = FakeKinesis(start=start, settings=_settings(dice, calm=False))
        return cls._of(dice, fake, calm=False)

    @classmethod
    def _of(cls, dice: Random, fake: FakeKinesis, calm: bool) -> Moving:
        fake.call("CreateStream", {"StreamName": STREAM, "ShardCount": dice.randint(1, 3)})
        fake.clock.advance(60)
        return cls(dice, fake, calm=calm)

    def move(self, committed: Callable[[], Ends | None]) -> None:
        """One random move. `committed` tells the newest committed offset, None for none yet."""
        kinds = ("put", "split", "merge", "count", "trim", "disturb")
        kind = self.dice.choices(kinds, weights=(50, 14, 12, 6, 8, 10))[0]
        if kind == "trim":
            self._trim(committed())
        elif kind != "disturb" or not self.calm:
            getattr(self, f"_{kind}")()

    def put(self, key: str) -> None:
        """One more record of this key."""
        turn = self._turns[key]
        self._turns[key] += 1
        params = {"StreamName": STREAM, "PartitionKey": key, "Data": f"{key}|{turn}".encode()}
        before = self.since is not None and self.fake.clock.now() < self.since
        answer = self.fake.call("PutRecord", params)
        if not self.fake.clock.ticking:
            # No reader comes in the very millisecond: MillisBehindLatest would be 0 for it.
            self.fake.clock.advance(0.005)
        place = (answer["ShardId"], int(answer["SequenceNumber"]))
        self.puts[place] = Put(key, turn, self.due and not before, self.past or before)

    def parents(self) -> dict[str, tuple[str, ...]]:
        """Every shard that ever was, with its parents."""
        shards = self.fake.stream(STREAM).shards
        return {
            shard.id: tuple(shards[number].id for number in shard.parents)
            for shard in shards.values()
        }

    def _put(self) -> None:
        for _ in range(self.dice.randint(1, MOST_RECORDS)):
            self.put(f"k{self.dice.randrange(KEYS)}")
            self.counts["records"] += 1

    def _split(self) -> None:
        pieces = self._open()
        if len(pieces) < MOST_OPEN:
            shard = self.dice.choice(pieces)
            middle = shard.low + (shard.high - shard.low) // self.dice.choice((2, 3, 5)) + 1
            given = {"ShardToSplit": shard.id, "NewStartingHashKey": str(middle)}
            self._reshard("SplitShard", given, "splits")

    def _merge(self) -> None:
        pieces = self._open()
        if len(pieces) > 1:
            at = self.dice.randrange(len(pieces) - 1)
            pair = self.dice.sample(pieces[at : at + 2], 2)
            given = {"ShardToMerge": pair[0].id, "AdjacentShardToMerge": pair[1].id}
            self._reshard("MergeShards", given, "merges")

    def _count(self) -> None:
        now = len(self._open())
        target = self.dice.randint((now + 1) // 2, min(MOST_OPEN, 2 * now))
        given = {"TargetShardCount": target, "ScalingType": "UNIFORM_SCALING"}
        if target != now:
            self._reshard("UpdateShardCount", given, "counts")

    def _reshard(self, action: str, given: Mapping[str, object], counted: str) -> None:
        """Refused while another is under way, as by the service."""
        try:
            self.fake.call(action, {"StreamName": STREAM, **given})
        except ApiError as refused:
            assert refused.code in REFUSED, refused
        else:
            self.counts[counted] += 1

    def _open(self) -> list[Shard]:
        shards = self.fake.stream(STREAM).shards.values()
        return sorted((each for each in shards if each.closed is None), key=lambda each: each.low)

    def _trim(self, committed: Ends | None) -> None:
        """Let all go that came before the oldest record that a committed batch has not read."""
        if committed is None:
            return
        stream = self.fake.stream(STREAM)
        horizon = min(
            (_unread(shard, committed.get(shard.id)) for shard in stream.shards.values()),
            default=0.0,
        )
        if stream.horizon < horizon < float("inf"):
            stream.horizon = horizon
            self.counts["trims"] += 1

    def _disturb(self) -> None:
        action, fault, most = self.dice.choice(FAULTS)
        self.fake.faults.add(action, fault, times=self.dice.randint(1, most))  # type: ignore[arg-type]
        self.counts["faults"] += 1


def _unread(shard: Shard, place: dict[str, object] | None) -> float:
    """When the oldest came that this place has not read; the end, where only that is owed."""
    if place is not None and place["end"]:
        return float("inf")
    read = int(str((place or {}).get("seq") or 0))
    arrivals = [record.arrival for record in shard.records if record.number > read]
    closed = float("inf") if shard.closed is None else shard.closed
    return min([closed, *arrivals])


def _settings(dice: Random, *, calm: bool) -> Settings:
    return Settings(
        create_seconds=0, reshard_seconds=RESHARD_SECONDS, updates_per_day=10_000,
        page_limit=1000 if calm else dice.choice((2, 1000)),
        iterator_seconds=300 if calm else dice.choice((1.5, 300)),
        end_with_last_records=dice.random() < 0.5,
        reads_per_second=None if calm else dice.choice((None, 20)),
    )  # fmt: skip
