"""An executable model of a KCL worker's restart, releases 1.0 to 3.5.1.

Single worker, polling, virtual time, every lease free to take, an application that checkpoints
after each batch and at the end of a shard. It is written from KCL's sources and from runs on the
real releases, knows nothing of the package but its FakeKinesis, and delivers what they deliver.

Left out: the leader's lock (a wait, not a difference), several workers, hand-offs between them,
enhanced fan-out, aggregated records, several streams.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field

from reshardctl.testing import FakeKinesis
from tests.proof.reference.kcl_cleanup import clean_up
from tests.proof.reference.kcl_full_sync import full_sync
from tests.proof.reference.kcl_lease import (
    SHARD_END,
    Item,
    Lease,
    UnreadableRowError,
    lease_of,
    list_leases,
    new_item,
    syncs_fully,
    taken,
)
from tests.proof.reference.kcl_shard import ShardConsumer
from tests.proof.reference.kcl_stream import Initial, Source
from tests.proof.reference.kcl_sync import SyncRefusedError, bootstrap, first_hole, missing_leases

RELEASES = ("1.3.0", "1.13.3", "1.15.3", "2.2.11", "2.7.2", "3.5.1")
AUDIT_SECONDS = 120.0  # leasesRecoveryAuditorExecutionFrequencyMillis
CONFIDENCE = 3  # leasesRecoveryAuditorInconsistencyConfidenceThreshold
QUIET_AUDITS = CONFIDENCE + 2
MOST_ROUNDS = 10_000


@dataclass(frozen=True, slots=True)
class Run:
    """What a start did: payloads by shard id and over all, the table it left, who hangs and why."""

    delivered: dict[str, list[str]]
    order: list[str]
    table: list[Item]
    died: bool
    stuck: dict[str, str]


@dataclass(slots=True)
class Worker:
    """One KCL worker at work."""

    fake: FakeKinesis
    source: Source
    table: dict[str, Item]
    initial: Initial
    release: str
    cleanup: bool = False
    consumers: dict[str, ShardConsumer] = field(default_factory=dict)
    delivered: dict[str, list[str]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    hole: tuple[object, ...] | None = None
    sightings: int = 0

    def lease(self, key: str) -> Lease | None:
        """GetItem and its deserialisation; None is no row, UnreadableRowError is thrown."""
        return lease_of(self.table[key], self.release) if key in self.table else None

    def create(
        self, key: str, checkpoint: str, parents: list[str], hashes: tuple[int, int]
    ) -> bool:
        """PutItem on the condition that there is no such row; True when it was made."""
        if key in self.table:
            return False
        self.table[key] = new_item(key, checkpoint, parents, hashes, self.release)
        return True

    def deliver(self, shard: str, payload: str) -> None:
        """Hand a record to the application."""
        self.delivered.setdefault(shard, []).append(payload)
        self.order.append(payload)

    def start(self) -> None:
        """Read the table, and fill it if it is empty.

        UnreadableRowError and SyncRefusedError kill the worker (after 20 attempts).
        """
        if syncs_fully(self.release):
            full_sync(self)
            return
        if list_leases(self.table, self.release):
            return
        for key, shard in bootstrap(self.source, self.initial).items():
            self.create(key, self.initial.name, list(shard.parents), shard.hashes)

    def settle(self) -> None:
        """Run until nothing moves for as long as the audit would need to act."""
        quiet = 0
        for _ in range(MOST_ROUNDS):
            while self._round():
                quiet = 0
            if quiet == QUIET_AUDITS or syncs_fully(self.release):
                return
            self.fake.clock.advance(AUDIT_SECONDS)
            quiet = 0 if self._audit() else quiet + 1
            if self.cleanup and clean_up(self.table, self.finished, self.source, self.release):
                quiet = 0
        raise AssertionError("the worker does not come to rest")

    def _round(self) -> bool:
        """Take what is free and let every shard do one thing; True when something changed."""
        # LeaseAssignmentManager of 3.x leaves out what it cannot read.
        for lease in list_leases(self.table, self.release, skips=(3,)):
            if lease.key not in self.consumers and not (lease.nobodys and not lease.ended):
                self.table[lease.key] = taken(self.table[lease.key], "reference", self.release)
                if not self._found(lease.key):
                    continue
                self.consumers[lease.key] = ShardConsumer(self, lease)
                if lease.ended:
                    self.finished.append(lease.key)
        moved = [self.consumers[key].run() for key in sorted(self.consumers) if key in self.table]
        return any(moved)

    def _found(self, key: str) -> bool:
        """Whether a worker finds the lease that it was given: what it cannot read is left out."""
        try:
            return self.lease(key) is not None
        except UnreadableRowError:
            return False

    def _audit(self) -> bool:
        """The leader's look at the hash ranges; True when it created a lease."""
        try:
            leases = list_leases(self.table, self.release)
        except UnreadableRowError:
            return False
        if any(lease.checkpoint is None for lease in leases):
            return False  # a NullPointerException ends every audit
        active = [lease for lease in leases if lease.checkpoint != SHARD_END]
        hole = first_hole(self._ranges(active))
        if hole is None:
            self.hole, self.sightings = None, 0
            return False
        self.sightings = self.sightings + 1 if hole == self.hole else 1
        self.hole = hole
        return self.sightings >= CONFIDENCE and self._sync([lease.key for lease in leases])

    def _ranges(self, active: list[Lease]) -> list[tuple[int, int]]:
        """The leases' hash ranges; a missing one is learnt from the stream and written."""
        if any(lease.hashes is None for lease in active):
            listed = {shard.id: shard.hashes for shard in self.source.shards()}
            for lease in active:
                if lease.hashes is None and lease.key in listed:
                    start, end = listed[lease.key]
                    self.table[lease.key] |= {
                        "startingHashKey": {"S": str(start)},
                        "endingHashKey": {"S": str(end)},
                    }
            keys = {lease.key for lease in active}
            active = [one for one in list_leases(self.table, self.release) if one.key in keys]
        return [lease.hashes for lease in active if lease.hashes is not None]

    def _sync(self, leased: list[str]) -> bool:
        shards = self.source.shards()
        by_id = {shard.id: shard for shard in shards}
        try:
            found = missing_leases(shards, leased, self.initial.name)
        except SyncRefusedError:
            return False
        made = [
            self.create(key, position, list(by_id[key].parents), by_id[key].hashes)
            for key, position in found.items()
        ]
        return any(made)


def run(
    fake: FakeKinesis,
    stream: str,
    items: list[Item],
    initial: str,
    release: str,
    live: Callable[[], None] | None = None,
    *,
    cleanup: bool = False,
) -> Run:
    """Start a worker on this table and let it run until nothing moves any more.

    ``initial`` is LATEST, TRIM_HORIZON or ``AT_TIMESTAMP:`` and epoch seconds. ``live`` is called
    once, when every shard that can be asked for has been asked for; then the worker goes on.
    The items are not changed; the fake's clock moves.
    """
    table = {item["leaseKey"]["S"]: deepcopy(item) for item in items}
    source = Source(fake.client(), stream)
    worker = Worker(fake, source, table, Initial.of(initial), release, cleanup)
    try:
        worker.start()
    except (UnreadableRowError, SyncRefusedError):
        return Run({}, [], list(table.values()), True, {})
    worker.settle()
    if live is not None:
        live()
        worker.settle()
    stuck = {key: one.stuck for key, one in worker.consumers.items() if one.stuck is not None}
    return Run(worker.delivered, worker.order, list(table.values()), False, stuck)
