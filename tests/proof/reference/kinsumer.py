"""An executable model of one kinsumer client's start: the original and Snowplow's fork.

Written from twitchscience/kinsumer 9a48088 and snowplow-devops/kinsumer v1.6.0 and v1.7.0
(kinsumer.go, leader.go, checkpoints.go, clients.go, shard_consumer.go), under a virtual clock with
the libraries' default intervals. It knows nothing of the package but its FakeKinesis.

Left out: a second live client, iterators that expire, errors of DynamoDB, applications that
acknowledge late (every record is acknowledged once it is delivered).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field

from reshardctl.testing import FakeKinesis
from tests.proof.reference.kinsumer_rows import (
    Checkpoint,
    Item,
    UnmarshalError,
    cached,
    checkpoint_of,
    nanos,
    rfc,
    text,
)
from tests.proof.reference.kinsumer_shard import ShardReader
from tests.proof.reference.listing import listed

RELEASES = ("twitch", "snowplow-1.6", "snowplow-1.7")
TICK = 60.0  # shardCheckFrequency and leaderActionFrequency, both a minute by default
CLIENT_AGE = 5 * TICK  # maxAgeForClientRecord
LEADER_AGE = 5 * TICK  # maxAgeForLeaderRecord
QUIET_TICKS = 9  # longer than any record stays valid
MOST_ROUNDS = 10_000
CLIENT = "reference"

Tables = dict[str, list[Item]]
"""Items by table: ``checkpoints``, ``clients``, ``metadata``."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a start did: payloads by shard id and over all, the tables it left, its errors."""

    delivered: dict[str, list[str]]
    order: list[str]
    tables: Tables
    died: bool
    errors: dict[str, str]


@dataclass(slots=True)
class Client:
    """One client at work."""

    fake: FakeKinesis
    stream: str
    checkpoints: dict[str, Item]
    clients: dict[str, Item]
    metadata: dict[str, Item]
    since: float | None
    release: str
    readers: list[ShardReader] = field(default_factory=list)
    shards: list[str] = field(default_factory=list)
    place: tuple[int, int] = (0, 0)
    delivered: dict[str, list[str]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)

    def now(self) -> float:
        return self.fake.clock.now()

    def deliver(self, shard: str, payload: str) -> None:
        """Hand a record to the application."""
        self.delivered.setdefault(shard, []).append(payload)
        self.order.append(payload)

    def listed(self) -> list[str]:
        """loadShardIDsFromKinesis: every listed shard, closed ones too."""
        return sorted(shard["ShardId"] for shard in listed(self.fake.client(), self.stream))

    def run(self) -> None:
        """Run: the first refreshShards must succeed; its error ends the process."""
        self.refresh()
        self._start_readers()
        self._lead()

    def tick(self) -> bool:
        """A minute later. True when something changed."""
        self.fake.clock.advance(TICK)
        before = deepcopy(self.metadata.get("ShardCache"))
        self._lead()
        try:
            changed = self.refresh()
        except UnmarshalError as error:
            self.errors["refreshShards"] = str(error)
            return False
        if changed:
            for reader in self.readers:
                reader.stop()
            self._start_readers()
        return changed or before != self.metadata.get("ShardCache")

    def refresh(self) -> bool:
        """refreshShards without becoming leader: clients, then the cache, filled if empty."""
        now = self.now()
        self.clients[CLIENT] = {
            "ID": {"S": CLIENT}, "Name": {"S": CLIENT}, "LastUpdate": {"N": str(nanos(now))},
            "LastUpdateRFC": {"S": rfc(now)},
        }
        grace = 0.0 if self.release == "twitch" else TICK
        alive = sorted(self._alive(now - CLIENT_AGE - grace))
        shards, _ = cached(self.metadata.get("ShardCache"))
        if not shards:
            shards = self.listed()
            self._cache(shards)
        place = (alive.index(CLIENT), len(alive))
        changed = place != self.place or shards != self.shards
        self.place, self.shards = place, shards
        return changed

    def _alive(self, cutoff: float) -> list[str]:
        """getClients: the filter passes only numbers; what passes it must be readable."""
        found = []
        for item in self.clients.values():
            if int(item.get("LastUpdate", {}).get("N", 0)) > nanos(cutoff):
                text(item, "Name")
                found.append(text(item, "ID") or "")
        return found

    def _start_readers(self) -> None:
        rank, clients = self.place
        self.readers = [
            ShardReader(self, shard) for i, shard in enumerate(self.shards) if i % clients == rank
        ]

    def _lead(self) -> None:
        """registerLeadership and performLeaderActions, if this is the first of the clients."""
        if self.place[0] != 0 or not self._registered():
            return
        try:
            self._perform()
        except UnmarshalError as error:
            self.errors["performLeaderActions"] = str(error)

    def _registered(self) -> bool:
        leader, now = self.metadata.get("Leader", {}), self.now()
        own = leader.get("ID") == {"S": CLIENT}
        updated = int(leader.get("LastUpdate", {}).get("N", 0))
        if "ID" in leader and not own and updated > nanos(now - LEADER_AGE):
            return False
        self.metadata["Leader"] = {
            "Key": {"S": "Leader"}, "ID": {"S": CLIENT}, "Name": {"S": CLIENT},
            "LastUpdate": {"N": str(nanos(now))}, "LastUpdateRFC": {"S": rfc(now)},
        }
        return True

    def _perform(self) -> None:
        shards, updated = cached(self.metadata.get("ShardCache"))
        if nanos(self.now()) - updated < nanos(TICK):
            return
        listed = self.listed()
        done = {key for key, row in self._records() if row.finished is not None}
        # diffShardIDs: what is listed and not finished, whatever the cache says.
        wanted = [shard for shard in listed if shard not in done]
        if wanted and wanted != sorted(shards):
            self._cache(wanted)

    def _records(self) -> list[tuple[str, Checkpoint]]:
        """loadCheckpoints: one row that cannot be read fails them all."""
        return [(key, checkpoint_of(item)) for key, item in self.checkpoints.items()]

    def _cache(self, shards: list[str]) -> None:
        """setCachedShardIDs: never an empty one."""
        if shards:
            now = self.now()
            self.metadata["ShardCache"] = {
                "Key": {"S": "ShardCache"}, "ShardIDs": {"L": [{"S": s} for s in shards]},
                "LastUpdate": {"N": str(nanos(now))}, "LastUpdateRFC": {"S": rfc(now)},
            }

    def settle(self) -> None:
        """Run until nothing has moved for as long as any record stays valid."""
        quiet = 0
        for _ in range(MOST_ROUNDS):
            while self._round():
                quiet = 0
            if quiet == QUIET_TICKS:
                return
            quiet = 0 if self.tick() else quiet + 1
        raise AssertionError("the client does not come to rest")

    def _round(self) -> bool:
        """Every reader does one thing; True when something changed."""
        moved = [reader.run() for reader in self.readers]
        return any(moved)

    def stop(self) -> None:
        """Stop: shards released, the client's row deleted, the leader's ID removed."""
        for reader in self.readers:
            reader.stop()
        self.clients.pop(CLIENT, None)
        if self.metadata.get("Leader", {}).get("ID") == {"S": CLIENT}:
            del self.metadata["Leader"]["ID"]

    def tables(self) -> Tables:
        return {
            "checkpoints": list(self.checkpoints.values()),
            "clients": list(self.clients.values()),
            "metadata": list(self.metadata.values()),
        }


def run(
    fake: FakeKinesis, stream: str, tables: Tables, initial: str, release: str,
    live: Callable[[], None] | None = None,
) -> Run:
    """Start a client on these tables and let it run until nothing moves any more, then stop it.

    ``initial`` is TRIM_HORIZON or ``AT_TIMESTAMP:`` and epoch seconds (WithIteratorStartTimestamp,
    the fork alone has it). ``live`` is called once, when every shard that can be asked for has been
    asked for; then the client goes on. The items are not changed; the fake's clock moves.
    """
    start, _, at = initial.partition(":")
    if start not in ("TRIM_HORIZON", "AT_TIMESTAMP") or (at and release == "twitch"):
        raise ValueError(f"{release} cannot start at {initial}")
    keys = {"checkpoints": "Shard", "clients": "ID", "metadata": "Key"}
    checkpoints, clients, metadata = (
        {item[key]["S"]: deepcopy(item) for item in tables.get(name, [])}
        for name, key in keys.items()
    )
    client = Client(
        fake, stream, checkpoints, clients, metadata, float(at) if at else None, release
    )
    try:
        client.run()
    except UnmarshalError as error:
        return Run({}, [], client.tables(), True, {"refreshShards": str(error)})
    client.settle()
    if live is not None:
        live()
        client.settle()
    client.stop()
    return Run(client.delivered, client.order, client.tables(), False, client.errors)


__all__ = ["RELEASES", "Run", "Tables", "run"]
