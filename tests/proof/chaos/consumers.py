"""The real consumers of chaos, each with its store: its rows, how they are damaged, how it runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Protocol

from tests.proof.chaos.proxy import Door, doors, variables
from tests.proof.chaos.spark_source import SparkSource
from tests.proof.chaos.stored import Keys, SqlTable, Stored, Table
from tests.proof.chaos.world import STARTS, STREAM, World
from tests.proof.drawn.damages import Shape, come_home
from tests.proof.drawn.damages import World as Damaged
from tests.proof.drawn.drawn_go import (
    CONSUMER,
    LATER_CONSUMER,
    LATER_NUMBERS,
    NUMBERS,
    ConsumerShape,
)
from tests.proof.drawn.drawn_kcl import LATER, LATEST, LEASES, LeaseShape, _begun_at_latest
from tests.proof.drawn.later import harmed
from tests.proof.drawn.real_go import SERVERS, _Store
from tests.proof.drawn.states import Rows
from tests.proof.libraries.go.library import Accident, Watch
from tests.proof.libraries.go.library import Library as GoLibrary
from tests.proof.libraries.go.stores import Stores
from tests.proof.libraries.kcl.dynamodb import DynamoDb
from tests.proof.libraries.kcl.laboratory import LOCK_SECONDS, PATIENCE_SECONDS
from tests.proof.libraries.kcl.library import Library as KclLibrary
from tests.proof.libraries.kcl.log import Log
from tests.proof.libraries.kcl.pace import PACES
from tests.proof.libraries.kcl.processes import Processes
from tests.support.case_stream import shard_name
from tests.support.servers import Running

DEADLY = frozenset({
    "restored from CSV", "another type", "an attribute missing", "mistyped", "pending", "hash keys",
    "half migrated", "another stream's numbers", "a number of another clock",
})
"""Damages that the tool or the consumer as a rule refuse to begin with."""
LATER_REDIS = {name: way for name, way in LATER_CONSUMER.items() if "copy" not in name}
"""All worlds share one Redis, where a copy would be of all of them."""
OF_STORE = {
    "ddb": (CONSUMER, LATER_CONSUMER), "redis": (NUMBERS, LATER_REDIS),
    "postgres": (NUMBERS, LATER_NUMBERS), "mysql": (NUMBERS, LATER_NUMBERS),
}
"""What can befall the positions of kinesis-consumer."""
KCL_RELEASES = ("1.15.3", "2.7.2", "3.5.1")
STOP_SECONDS = 90.0
FAILOVER = "6000"
"""Milliseconds: the library's process shares a busy machine, and has to renew leases in time."""


class Life(Protocol):
    """One start of a consumer that is under way."""

    def settled(self, done: Callable[[], bool], longer: int = 1) -> bool:
        """Wait until this holds or nothing moves any more, for so many times as long as usual;
        False where it still moved in the end."""

    def over(self) -> bool:
        """Whether it ended by itself."""

    def delivered(self) -> list[str]:
        """The payloads until now."""

    def stop(self) -> None:
        """Let it go."""

    def kill(self) -> None:
        """SIGKILL."""


class System(Protocol):
    """A consumer and its store. `doors`: ways to the store and to Kinesis, of the tool and of the
    consumer. `apart`: attributes that no undo gives back (docs/undo.md). `first_seconds`: for a
    start to deliver its first record, meanwhile more are put. `live`: whether it may be repaired
    while it runs (docs/live.md)."""

    name: str
    locator: str
    variables: dict[str, str]
    doors: list[Door]
    apart: frozenset[str]
    first_seconds: float
    live: bool

    def rows(self) -> Rows: ...
    def put(self, rows: Rows) -> None: ...
    def begin(self, *, alone: bool) -> Life: ...
    def read(self, rows: Rows) -> dict[str, float]: ...
    def harmed(
        self, name: str, rows: Rows, backups: list[Rows]
    ) -> tuple[Rows, tuple[str, ...]]: ...


@dataclass
class Laboratory:
    """The servers that all worlds of a run share."""

    dynamodb: DynamoDb
    processes: Processes
    servers: Mapping[str, Running]
    stores: Stores

    @classmethod
    def opened(cls, stack: ExitStack) -> Laboratory:
        dynamodb, processes = DynamoDb(), Processes()
        stack.callback(dynamodb.close)
        stack.callback(processes.close)
        servers = {kind: stack.enter_context(server()) for kind, server in SERVERS.items()}
        return cls(dynamodb, processes, servers, Stores(dynamodb, servers))


class _Stored:
    """What systems with rows have in common."""

    world: World
    shape: Shape
    position: str
    ways: tuple[Mapping[str, Any], Mapping[str, Any]]
    items: Stored
    first_seconds = 40.0
    live = False

    def rows(self) -> Rows:
        return self.items.rows()

    def put(self, rows: Rows) -> None:
        self.items.put(rows)

    def harmed(
        self, name: str, rows: Rows, backups: list[Rows]
    ) -> tuple[Rows, tuple[str, ...]]:
        """Rows after one or two damages, and their names; the ledger learns what is forged."""
        case, ledger = self.world.case(), self.world.ledger
        seen = Damaged(case, self.shape, backups)
        dice = Random(name)
        ways, later = self.ways
        if dice.random() < 0.7:
            ways, later = {n: way for n, way in ways.items() if n not in DEADLY}, {}
        later = later or ways
        damaged, names, forged = harmed(dice, name, rows, seen, ways, later, None)
        read: dict[str, set[str]] = {}
        for payload in ledger.delivered:
            read.setdefault(ledger.puts[payload].shard, set()).add(payload)
        known = {shard: frozenset(payloads) for shard, payloads in read.items()}
        forged |= come_home(case, damaged, self.position, known)
        if self.position == "checkpoint":
            forged |= _begun_at_latest(damaged, rows, seen)
        now = self.world.fake.clock.now()
        ledger.forged += [(shard, now) for shard in sorted(forged)]
        return damaged, names

    def read(self, rows: Rows) -> dict[str, float]:
        """Up to which number each shard was read, as its own row says."""
        case, found = self.world.case(), dict[str, float]()
        for key, shard in self.shape.shards(rows).items():
            text = str((self.shape.position(rows[key]) or {}).get("S", ""))
            if text == "SHARD_END":
                found[shard] = math.inf
            elif text in {number for number, *_ in case.records.get(shard, ())}:
                found[shard] = int(text)
        return found


class Kcl(_Stored):
    """A KCL worker on DynamoDB Local."""

    live = True
    apart = frozenset({"leaseCounter", "leaseOwner"})
    position = "checkpoint"
    ways = LEASES, {**LATER, **LATEST}

    def __init__(self, laboratory: Laboratory, world: World, kinesis: str, folder: Path) -> None:
        dice = world.dice
        self.world, self.shape = world, LeaseShape()
        self._release = dice.choice(KCL_RELEASES)
        self._initial = dice.choice(STARTS)
        world.ledger.latest = self._initial == "LATEST"
        self.name = f"kcl-{self._release}"
        self._table = f"chaos-{folder.name}"
        self.locator = f"kcl://{self._table}?initial={self._initial}&release={self._release}"
        self._processes, self._serial = laboratory.processes, itertools.count()
        self.doors = doors(dice, kinesis, laboratory.dynamodb.address)
        self.variables = variables(self.doors)
        self.items = Table(laboratory.dynamodb.client, self._table, "leaseKey")
        leases, indexed = self._first_leases(), self._release.startswith("3.")
        laboratory.dynamodb.seed(self._table, leases, indexed=indexed)

    def begin(self, *, alone: bool) -> Life:
        _, _, kinesis, store = self.doors
        settings = {
            "kinesis": kinesis.url, "dynamodb": store.url, "stream": STREAM,
            "table": self._table, "worker": "w1", "initial": self._initial,
            "failover": FAILOVER,
        }
        return _KclLife(
            f"{self._table}-{next(self._serial)}", self._release, settings, self._processes,
            alone=alone,
        )


    def _first_leases(self) -> list[dict[str, Any]]:
        """What a first start creates, as 2.7.2 spells it. The library takes a minute for that."""
        zero, latest = {"N": "0"}, self._initial == "LATEST"
        return [
            {
                "leaseKey": {"S": shard_name(shard.id)}, "checkpoint": {"S": self._initial},
                "checkpointSubSequenceNumber": zero, "leaseCounter": zero,
                "ownerSwitchesSinceCheckpoint": zero,
                "startingHashKey": {"S": str(shard.first_hash)},
                "endingHashKey": {"S": str(shard.last_hash)},
                **({"parentShardId": {"SS": [*map(shard_name, shard.parents)]}}
                   if shard.parents else {}),
            }
            for shard in self.world.case().topology.values()
            if (not shard.end if latest else not shard.parents)
        ]


class _KclLife:
    """`alone`: in a process of its own, which can be killed."""

    def __init__(
        self, run: str, release: str, settings: Mapping[str, str], processes: Processes, *,
        alone: bool,
    ) -> None:
        self._run, self._release = run, release
        self._stack = ExitStack()
        if alone:
            self._library = KclLibrary(release)
            self._stack.callback(self._library.close)
        else:
            self._library = self._stack.enter_context(processes.lent(release))
        self._log: Log = self._library.start(run, settings)

    def settled(self, done: Callable[[], bool], longer: int = 1) -> bool:
        pace = PACES[self._release].longer(longer)
        patience = PATIENCE_SECONDS * longer
        patience += LOCK_SECONDS if self._release.startswith("3.") else 0
        return self._log.wait(
            lambda log: done() or log.still(pace.audits, pace.seconds), patience
        )

    def over(self) -> bool:
        return self._log.ended()

    def delivered(self) -> list[str]:
        return [event.members["payload"] for event in self._log.of("RECORD")]

    def stop(self) -> None:
        with self._stack, suppress(BrokenPipeError):
            self._library.stop(self._run)
            self._log.wait(lambda log: log.ended(), STOP_SECONDS)

    def kill(self) -> None:
        with self._stack:
            self._library.kill()


class KinesisConsumer(_Stored):
    """kinesis-consumer v0.5.0, its positions in one of the stores that it has."""

    apart: frozenset[str] = frozenset()
    position = "sequence_number"

    def __init__(self, laboratory: Laboratory, world: World, kinesis: str, _folder: Path) -> None:
        dice = world.dice
        self.world, self.shape = world, ConsumerShape()
        store = dice.choice(list(OF_STORE))
        self.name = f"kinesis-consumer-{store}"
        initial = dice.choice(STARTS)
        world.ledger.latest = initial == "LATEST"
        self.ways = OF_STORE[store]
        place = laboratory.stores.plant(_Store("kinesis-consumer", store), [])  # type: ignore[arg-type]
        table = place.settings.get("table", "")
        if store == "ddb":
            direct, address = laboratory.dynamodb.address.removeprefix("http://"), "dynamodb"
            self.items = Table(laboratory.dynamodb.client, table, "namespace", "shard_id")
        else:
            running, address = laboratory.servers[store], "address"
            direct = f"127.0.0.1:{running.port}"
            self.items = (
                SqlTable(store, running, table) if table else Keys(running, place.settings["app"])
            )
        self.doors = doors(dice, kinesis, direct)
        _, mine, _, theirs = (door.url.removeprefix("http://") for door in self.doors)
        words = f"initial={initial}&release=0.5"
        self.locator = place.locator.replace(direct, mine) + words
        self.variables = {**place.surroundings, **variables(self.doors)}
        told = place.settings[address].replace(direct, theirs)
        self._settings = {
            **place.settings, address: told, "kinesis": self.doors[2].url, "stream": STREAM,
            "initial": initial,
        }

    def begin(self, *, alone: bool) -> Life:  # noqa: ARG002 - it always is
        return _GoLife(self._settings, self.world)


class _GoLife:
    """Each has a process of its own."""

    def __init__(self, settings: Mapping[str, str], world: World) -> None:
        self._library = GoLibrary("kinesis-consumer")
        self._fake = world.fake
        self._run, self._log = self._library.start(settings)

    def settled(self, done: Callable[[], bool], longer: int = 1) -> bool:
        watch = Watch("kinesis-consumer", self._log, self._fake)
        return all(done() or watch.settled() for _ in range(longer))

    def over(self) -> bool:
        return self._log.ended() or self._library.gone(self._run)

    def delivered(self) -> list[str]:
        return [event.members["payload"] for event in self._log.of("RECORD")]

    def stop(self) -> None:
        try:
            self._library.stop(self._run)
            self._log.wait(lambda _: self.over(), STOP_SECONDS)
        finally:
            with suppress(Accident):
                self._library.close()

    def kill(self) -> None:
        self._library.kill()


SYSTEMS: dict[str, Callable[[Laboratory, World, str, Path], System]] = {
    "kcl": Kcl, "kinesis-consumer": KinesisConsumer,
    "spark-source": lambda laboratory, *more: SparkSource(laboratory.dynamodb.address, *more),
}
"""Each takes the address of Kinesis and the folder of the world, which is named after its seed."""
