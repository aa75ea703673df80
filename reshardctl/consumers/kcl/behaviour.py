"""Simulates what KCL does with a lease table when it starts.

Sources: BlockOnParentShardTask, InitializeTask, ShutdownTask, PeriodicShardSyncManager and
HierarchicalShardSyncer of 2.7.2 and 3.5.1, their like in 1.13.3, 1.15.3 and 2.2.11, and runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

from msgspec import Struct, field

from reshardctl.consumers.kcl.beside import READABLE_AGAIN, leases_of_strangers, notes, risks
from reshardctl.consumers.kcl.flaws import CHECKPOINT, LAST_COUNTER, OLD_OWNER
from reshardctl.consumers.kcl.processed import PositionKind, cut_of, kind_of, kinds_of
from reshardctl.consumers.kcl.releases import App, Start, Unreadable
from reshardctl.consumers.kcl.rows import SHARD_END, LeaseTable, Row
from reshardctl.consumers.kcl.sync import (
    AUDITS,
    crash,
    finished,
    first_shards,
    has_hole,
    made_at_once,
    missing_leases,
    swept,
    with_doubts,
)
from reshardctl.consumers.kcl.table import asked_for
from reshardctl.consumers.sequence_numbers import furthest, unborn
from reshardctl.lineage import Lineage, uncovered
from reshardctl.model import (
    DONE,
    HASH_SPACE,
    NO_DELAY,
    START,
    Cause,
    Crash,
    Cut,
    Delay,
    Fate,
    ShardId,
    Simulation,
    WillRead,
    WontRead,
    at_time,
    exactly,
    in_birth_order,
)

SPOILT = "leaseCounter is the last that there is, and 3.x adds one"
NO_WHOLE = (
    "some of the shards that were open there have expired, and unless ListShards answers with "
    "others it crashes after twenty attempts"
)
"""isHashRangeOfShardsComplete; the API reference corrects FROM_TIMESTAMP alone to the horizon."""
_NEVER = WontRead(Cause.NO_POSITION, "has no lease, and no synchronisation will create one")


class _Lease(Struct):
    """A lease during the simulation.

    Attributes:
        stuck: Why it is never read, or never ends.
        blind: Whether its end creates no leases for its children.
    """

    shard: ShardId
    at: Cut
    cause: Cause
    why: str
    waits_for: frozenset[ShardId] = frozenset()
    finished: bool = False
    ended: bool = False
    blind: bool = False
    stuck: WontRead | None = None
    delay: Delay = NO_DELAY
    possible: str = ""
    hash_range: tuple[int, int] = field(default=(0, -1))


def simulate_start(lineage: Lineage, table: LeaseTable, app: App) -> Simulation:
    """Returns a fate for every listed shard and every row."""
    run = _Run(lineage, table, app)
    run.play()
    fates = with_doubts(run.fates(), table.rows)
    dies, told = crash(lineage, table, app.traits), tuple(notes(table, app.traits))
    dies = dies or run.refused
    read = [s for s, f in fates.items() if isinstance(f, WillRead) and f.at.hi != DONE]
    return Simulation(fates, dies, told, tuple(risks(lineage, table, app.traits, read)))


def holes(lineage: Lineage, table: LeaseTable, app: App) -> list[tuple[int, int]]:
    """The hash keys without an unfinished lease that the first audit finds."""
    run = _Run(lineage, table, app)
    run.play(audits=False)
    return uncovered(run.active(), 0, HASH_SPACE - 1)


class _Run:
    def __init__(self, lineage: Lineage, table: LeaseTable, app: App) -> None:
        self._lineage, self._table, self._app = lineage, table, app
        self._kinds = lineage.memo(kinds_of, lineage, table)
        self._leases: dict[ShardId, _Lease] = {}
        leads = app.traits.leader_lock and not table.coordinator.as_2
        self._spoilt = {s for s, row in table.rows.items() if leads and row.counter == LAST_COUNTER}
        """Leases whose rows cannot be read once 3.x has assigned them."""
        strict = app.traits.unreadable is not Unreadable.LEFT_OUT
        self._strange = tuple(leases_of_strangers(table, app.traits))
        self._audits_throw = any(
            strict if self._unread(row) else row.has_flaw(CHECKPOINT)
            for row in (*table.rows.values(), *self._strange)
        )
        self._throwing = {
            shard for shard, row in table.rows.items()
            if self._unread(row) and not row.ignored(app.traits)
        }
        """Leases that throw where they are read; a row of another kind only occupies its key."""
        self._fully = app.traits.syncs_fully
        self._swept = {
            row.shard for row in table.rows.values() if self._fully and swept(lineage, row)
        }
        self._taken = set(table.rows) - self._swept
        self._awake: deque[ShardId] = deque()
        """Leases to examine: new ones, and those that waited for an event that has happened."""
        self._waiting: dict[ShardId, list[ShardId]] = {}
        self.refused: Crash | None = None
        """The crash where the shards to begin with do not cover the hash keys."""

    def _unread(self, row: Row) -> bool:
        return bool(row.unread(self._app.traits)) or row.shard in self._spoilt

    def _readable(self) -> Iterator[Row]:
        return (row for row in self._table.rows.values() if not self._unread(row))

    def play(self, *, audits: bool = True) -> None:
        """Read the rows, end every lease that can end and refill holes, until nothing changes."""
        if not (self._fully or self._strange or self._spoilt or any(self._readable())):
            self._bootstrap()
        for row in self._readable():
            self._leases[row.shard] = self._lease_of(row)
        if self._fully:
            self._sync_fully()
        for row in self._readable():
            self._gate(self._leases[row.shard], row)
        self._awake.extend(in_birth_order(self._leases))
        rounds = 0
        while True:
            self._drain()
            rounds += 1
            if not audits or self._fully or self._audits_throw or not has_hole(self.active()):
                return
            if not self._refill(rounds):
                return

    def fates(self) -> dict[ShardId, Fate]:
        """The fate of every listed shard and of every row, unlisted ones first."""
        fates: dict[ShardId, Fate] = {}
        for shard in chain((s for s in self._table.rows if s not in self._lineage), self._lineage):
            if (lease := self._leases.get(shard)) is not None:
                fates[shard] = self._fate(lease)
            elif self._is_left_alone(shard):
                fates[shard] = _NEVER
            else:
                fates[shard] = self._without_lease(shard)
        return fates

    def _is_left_alone(self, shard: ShardId) -> bool:
        """Whether neither a shard nor a parent of it has a lease, as in most of a history."""
        near = (shard, *self._lineage.parents(shard))
        return not self._fully and self._taken.isdisjoint(near)

    def _fate(self, lease: _Lease) -> Fate:
        shard = lease.shard
        if lease.stuck is not None and lease.stuck.cause is not Cause.MERGE_WAITS:
            return lease.stuck
        closed = shard not in self._lineage or not self._lineage.is_open(shard)
        blind = not lease.finished and self._blind(shard)
        ends = closed and lease.stuck is None and not blind
        return WillRead(
            exactly(lease.at), furthest(self._lineage, shard), lease.waits_for, ends,
            lease.cause, lease.why, lease.delay, lease.possible,
        )

    def _without_lease(self, shard: ShardId) -> Fate:
        row = self._table.rows.get(shard)
        if row is not None:
            flawed = ", ".join(map(str, row.unread(self._app.traits))) or SPOILT
            return WontRead(Cause.UNREADABLE, f"KCL leaves the row out: {flawed}")
        parents = frozenset(p for p in self._lineage.parents(shard) if p in self._taken)
        if self._fully:
            why = "has no lease; shards below it have, so no synchronisation will ever create it"
        else:
            why = "has no lease; its parents have, so no synchronisation will ever create it"
        return WontRead(Cause.NO_POSITION, why, parents)

    def _lease_of(self, row: Row) -> _Lease:
        shard, app = row.shard, self._app
        lease = _Lease(shard, START, Cause.POSITION, "resumes at its checkpoint")
        lease.hash_range = row.hash_range or self._listed_range(shard)
        kind = self._kinds[shard]
        if shard in self._swept:
            return self._sweep(lease, row)
        if kind is PositionKind.END and finished(row, app.traits):
            lease.at, lease.finished, lease.cause = DONE, True, Cause.FINISHED
            lease.why = "its lease is finished"
            if shard in self._lineage and self._lineage.is_open(shard):
                why = "its lease is at SHARD_END although the shard is open: never read again"
                lease.stuck = WontRead(Cause.FALSE_END, why)
            return lease
        if row.has_flaw(OLD_OWNER) and app.traits.leader_lock:
            why = "its checkpointOwner names nobody, so KCL 3.x assigns the lease to no worker"
            lease.stuck = WontRead(Cause.UNREADABLE, why)
            return lease
        if shard not in self._lineage and not fails_unasked(self._lineage, row, app):
            lease.at = cut_of(row, app)
            lease.cause = Cause.UNBORN if unborn(self._lineage, shard) else Cause.GONE
            lease.why = "the shard is not listed; KCL takes ResourceNotFound for its end"
            return lease
        self._position(lease, row, kind)
        return lease

    def _sweep(self, lease: _Lease, row: Row) -> _Lease:
        lease.cause = Cause.UNBORN if unborn(self._lineage, row.shard) else Cause.GONE
        lease.why = "the shard is not listed; the synchronisation at the start deletes its lease"
        lease.at = cut_of(row, self._app) if row.understood else START
        return lease

    def _end_by_sub(self, lease: _Lease) -> None:
        """End a shard at SHARD_END with a sub-sequence number, as 1.x does without asking Kinesis.

        1.14–1.15 then create no children's leases, for their synchronisation needs the children
        from the service; a shard that is still open never ends.
        """
        lease.at, lease.cause, lease.blind = DONE, Cause.FINISHED, True
        lease.hash_range = (0, -1)
        lease.why = "SHARD_END with a sub-sequence number: KCL 1.x ends it at its start"
        if lease.shard in self._lineage and self._lineage.is_open(lease.shard):
            why = "its lease is at SHARD_END although the shard is open: never read again"
            lease.stuck = WontRead(Cause.FALSE_END, why)

    def _position(self, lease: _Lease, row: Row, kind: PositionKind) -> None:
        match kind:
            case PositionKind.END if self._app.traits.ends_with_sub:
                self._end_by_sub(lease)
            case PositionKind.END:
                lease.hash_range = (0, -1)  # the audit looks at no sub-sequence number
                why = "SHARD_END with a sub-sequence number is asked for as a number, for ever"
                lease.stuck = WontRead(Cause.BAD_END_MARK, why)
            case PositionKind.NONSENSE:
                lease.stuck = WontRead(Cause.UNREADABLE, "its checkpoint cannot be read")
            case PositionKind.FOREIGN:
                why = "its number is none of this shard; GetShardIterator refuses it for ever"
                lease.stuck = WontRead(Cause.FOREIGN_NUMBER, why)
            case PositionKind.AHEAD:
                lease.at, lease.cause = cut_of(row, self._app), Cause.FOREIGN_NUMBER
                lease.why = (
                    "its number lies in the future: after it nothing is found, or it is refused"
                )
            case PositionKind.BY_TIME if self._app.initial is not Start.AT_TIMESTAMP:
                why = "AT_TIMESTAMP without a timestamp in the application's configuration"
                lease.stuck = WontRead(Cause.TIME_WITHOUT_CLOCK, why)
            case PositionKind.AT_END:
                lease.at, lease.cause = DONE, Cause.AT_END
                lease.possible = (
                    "KCL asks AT the shard's EndingSequenceNumber; what AWS answers is not known"
                )
            case PositionKind.LATEST:
                lease.at, lease.cause = furthest(self._lineage, row.shard), Cause.LATEST
                lease.why = "starts at LATEST as of its own start, whatever was written before"
            case _:
                lease.at = cut_of(row, self._app)

    def _listed_range(self, shard: ShardId) -> tuple[int, int]:
        if shard not in self._lineage:
            return (0, -1)
        return self._lineage[shard].hash_start, self._lineage[shard].hash_end

    def _gate(self, lease: _Lease, row: Row) -> None:
        """Blocks the lease by parents named on its row that have an unfinished lease."""
        if lease.finished or lease.shard in self._swept:
            return
        self._hold(lease, row.parents)

    def _hold(self, lease: _Lease, parents: Iterable[ShardId]) -> None:
        """Blocks the lease by those of `parents` that have an unfinished lease."""
        there = (p for p in parents if p in self._taken and not self._ignored(p))
        held = frozenset(p for p in there if not self._finished(p))
        self._wait(lease, held)
        blind = sorted(p for p in held if p not in self._leases)
        if blind and lease.stuck is None:
            why = f"waits for {blind[0]}, whose row KCL cannot read"
            lease.stuck = WontRead(Cause.UNREADABLE, why, held)

    def _ignored(self, shard: ShardId) -> bool:
        row = self._table.rows.get(shard)
        return row is not None and row.ignored(self._app.traits)

    def _wait(self, lease: _Lease, parents: frozenset[ShardId]) -> None:
        lease.waits_for = parents
        for parent in parents:
            self._waiting.setdefault(parent, []).append(lease.shard)

    def _finished(self, shard: ShardId) -> bool:
        lease = self._leases.get(shard)
        return lease is not None and lease.finished

    def active(self) -> Iterator[tuple[int, int]]:
        """The hash keys of each lease that does not end."""
        for lease in self._leases.values():
            if not (lease.finished or lease.ended) and lease.hash_range[1] >= 0:
                yield lease.hash_range
        for row in self._strange:
            if row.position == SHARD_END or row.hash_range is None:
                continue
            # Where Kinesis is not asked, or refuses to look for such an id, the lease never ends.
            if not asked_for(row.shard) or fails_unasked(self._lineage, row, self._app):
                yield row.hash_range

    def _drain(self) -> None:
        """End every lease that can end; each end creates the children's leases."""
        while self._awake:
            lease = self._leases[self._awake.popleft()]
            if lease.finished or lease.ended or not self._can_end(lease):
                continue
            lease.ended = True
            self._create_children(lease)
            self._awake.extend(self._waiting.pop(lease.shard, ()))

    def _can_end(self, lease: _Lease) -> bool:
        shard = lease.shard
        if lease.stuck is not None and lease.stuck.cause is not Cause.MERGE_WAITS:
            return False
        if not all(self._over(parent) for parent in lease.waits_for):
            return False
        if shard not in self._lineage:
            return True
        if self._lineage.is_open(shard) or self._blind(shard):
            return False
        return self._both_or_none(lease)

    def _blind(self, shard: ShardId) -> bool:
        """Whether its end always fails because a child's lease exists and cannot be read."""
        if not self._throwing or shard not in self._lineage:
            return False
        return not self._throwing.isdisjoint(self._lineage.children(shard))

    def _over(self, shard: ShardId) -> bool:
        lease = self._leases.get(shard)
        return lease is not None and (lease.ended or lease.finished)

    def _both_or_none(self, lease: _Lease) -> bool:
        """Whether a merge's child can be created: both parents have a lease, or neither has."""
        if self._fully or lease.blind:
            return True
        children = self._lineage.children(lease.shard)
        others = {p for c in children for p in self._lineage[c].parents} - {lease.shard}
        missing = sorted(p for p in others if p not in self._leases)
        if len(children) == 1 and missing:
            why = f"cannot end while {missing[0]}, the other parent of its merge, has no lease"
            lease.stuck = WontRead(Cause.MERGE_WAITS, why, frozenset(missing))
            self._waiting.setdefault(missing[0], []).append(lease.shard)
            return False
        lease.stuck = None
        return True

    def _create_children(self, lease: _Lease) -> None:
        """A shard that is not listed creates no children: ResourceNotFound names none."""
        if self._fully or lease.blind or lease.shard not in self._lineage:
            return
        for child in self._lineage.children(lease.shard):
            if child not in self._taken:
                why = "its lease is created at TRIM_HORIZON when its parent ends"
                self._add(child, START, Cause.CREATED_AT_PARENT_END, why, lease.delay)

    def _add(self, shard: ShardId, at: Cut, cause: Cause, why: str, delay: Delay) -> None:
        self._taken.add(shard)
        listed = self._lineage[shard]
        self._leases[shard] = _Lease(
            shard, at, cause, why, delay=delay, hash_range=(listed.hash_start, listed.hash_end)
        )
        self._hold(self._leases[shard], listed.parents)
        self._awake.append(shard)
        self._awake.extend(self._waiting.get(shard, ()))

    def _sync_fully(self) -> None:
        """Creates the leases that 1.0–1.13 and 2.0–2.2 create before they ask for any shard."""
        mark = str(self._app.initial)
        made = made_at_once(self._lineage, self._taken, self._app.initial)
        for shard in in_birth_order(made):
            created = made[shard]
            at = self._initial(shard) if created.initially else START
            where = mark if created.initially else "TRIM_HORIZON"
            why = f"its lease is created at {where} by the synchronisation at the start"
            below = created.below and not created.initially
            cause = Cause.CREATED_AT_PARENT_END if below else Cause.REFILLED
            if not self._table.rows:
                why, cause = f"an empty table: KCL starts it at {mark}", Cause.BOOTSTRAP
            self._add(shard, at, cause, why, NO_DELAY)

    def _refill(self, rounds: int) -> bool:
        """Runs one synchronisation; returns whether it created a lease."""
        new = missing_leases(self._lineage, self._leases, self._app.initial)
        # KCL does not list a row that it cannot read, but the row occupies its key.
        new = {shard: initially for shard, initially in new.items() if shard not in self._taken}
        delay = Delay(AUDITS[0] * rounds, AUDITS[1] * rounds)
        for shard in in_birth_order(new):
            at = self._initial(shard) if new[shard] else START
            mark = str(self._app.initial) if new[shard] else "TRIM_HORIZON"
            why = f"its lease is re-created at {mark} by the third audit that misses it"
            self._add(shard, at, Cause.REFILLED, why, delay)
        return bool(new)

    def _initial(self, shard: ShardId) -> Cut:
        match self._app.initial:
            case Start.LATEST:
                return furthest(self._lineage, shard)
            case Start.TRIM_HORIZON:
                return START
            case Start.AT_TIMESTAMP:
                opened, time = self._lineage.opened_at(shard), self._app.time
                later = time is not None and opened is not None and opened >= time
                return START if later else at_time(time)

    def _bootstrap(self) -> None:
        """EmptyLeaseTableSynchronizer: leases for the shards open at the initial position.

        KCL takes a table for empty where it lists no lease; a row that it leaves out keeps its key.
        """
        chosen = first_shards(self._lineage, self._app.initial, self._app.time)
        why, cause = f"an empty table: KCL starts it at {self._app.initial}", Cause.BOOTSTRAP
        if self._table.rows:
            why, cause = f"KCL reads no row, and starts at {self._app.initial}", Cause.REFILLED
            if has_hole(map(self._listed_range, chosen)):
                self.refused = Crash(f"{why}; {NO_WHOLE}", READABLE_AGAIN, False, Cause.UNREADABLE)
        for shard in in_birth_order(set(chosen) - self._taken):
            self._add(shard, self._initial(shard), cause, why, NO_DELAY)


def fails_unasked(lineage: Lineage, row: Row, app: App) -> bool:
    """Whether the request fails before Kinesis can answer that the shard does not exist."""
    kind = kind_of(lineage, row)
    if app.traits.syncs_fully and swept(lineage, row):
        return False
    if kind is PositionKind.BY_TIME:
        return app.initial is not Start.AT_TIMESTAMP
    ends = finished(row, app.traits) or app.traits.ends_with_sub
    return kind is PositionKind.NONSENSE or (kind is PositionKind.END and not ends)
