"""Which leases KCL makes at its start and at the end of a shard, and what goes wrong there.

KCL 1.14–1.15 and 2.3–3.5 make the first leases; later a hash-range auditor triggers the
synchronisation: PeriodicShardSyncManager and
HierarchicalShardSyncer.NonEmptyLeaseTableSynchronizer, the same in all of them.

KCL 1.0–1.13 and 2.0–2.2 synchronise fully, at every start and every end of a shard:
KinesisShardSyncer and KinesisLeaseCleanupValidator of 1.13.3, HierarchicalShardSyncer of 2.2.11
(the same). One pass creates all missing leases, of descendants and ancestors, so that a second pass
would create nothing.

Crashes ("Unable to initialize after 20 attempts"): runs on 1.15.3, 2.7.2, 3.1.3 and 3.5.1; for the
releases that synchronise fully, what KinesisShardSyncer of 1.13.3 and HierarchicalShardSyncer of
2.2.11 throw, with cleanupLeasesUponShardCompletion at its default. Those also throw at open parents
and at closed shards without children; such a listing is not judged (lineage/dag.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.kcl import beside
from reshardctl.consumers.kcl.beside import unreadable
from reshardctl.consumers.kcl.releases import Start, Traits
from reshardctl.consumers.kcl.rows import SHARD_END, LeaseTable, Row
from reshardctl.lineage import Lineage, uncovered
from reshardctl.model import HASH_SPACE, Cause, Crash, Fate, ShardId, WillRead, awaited

AUDITS = (300.0, 420.0)
"""Seconds until a hole is refilled at stock settings: 60 s, then three audits two minutes apart."""


def has_hole(active: Iterable[tuple[int, int]]) -> bool:
    """Whether the auditor sees a part of the hash space without unfinished leases.

    The range that starts last must reach the end, even where an earlier, longer one does (KCL 3.5.1
    PeriodicShardSyncManager.checkForHoleInHashKeyRanges).
    """
    ranges = sorted(active)
    last = HASH_SPACE - 1
    return not ranges or ranges[-1][1] != last or bool(uncovered(ranges, 0, last))


def missing_leases(
    lineage: Lineage, leased: Collection[ShardId], initial: Start
) -> dict[ShardId, bool]:
    """The leases that one synchronisation creates: shard → whether at the initial position.

    The others are created at TRIM_HORIZON. A finished lease counts as leased; that is why every
    audit sees a hole below a finished parent and none refills it.
    """
    new: dict[ShardId, bool] = {}
    descends: dict[ShardId, bool] = {}
    roots_wanted: set[ShardId] = set()
    orphans = [s for s in lineage.open_shards() if s not in leased]
    for shard in with_unleased_ancestors(lineage, orphans, leased):
        parents = lineage.parents(shard)
        known = {p for p in parents if descends.get(p, p in leased) or p in roots_wanted}
        descends[shard] = bool(known)
        if known:
            for parent in parents:
                if parent in leased:
                    continue
                if parent in roots_wanted or parent not in known:
                    new.setdefault(parent, True)
                if parent in new:
                    new[parent] = not (parent in known and initial is not Start.AT_TIMESTAMP)
        elif initial is not Start.LATEST:
            roots_wanted.add(shard)
    for shard in orphans:
        if not descends[shard]:
            new[shard] = True
    return new


def first_shards(lineage: Lineage, initial: Start, time: float | None) -> list[ShardId]:
    """The shards that get a lease where KCL lists none: those open at the start position."""
    if initial is Start.LATEST:
        return list(lineage.open_shards())
    began = (t for s in lineage.roots() if (t := lineage.opened_at(s)))
    if initial is Start.AT_TIMESTAMP and time is not None and time > min(began, default=0.0):
        return [s for s in lineage if _open_at(lineage, s, time)]
    return list(lineage.roots())


def _open_at(lineage: Lineage, shard: ShardId, time: float) -> bool:
    opened, closed = lineage.opened_at(shard), lineage.closed_at(shard)
    return (opened is None or opened <= time) and (closed is None or closed >= time)


def with_unleased_ancestors(
    lineage: Lineage, shards: Iterable[ShardId], leased: Collection[ShardId]
) -> list[ShardId]:
    """The shards and every ancestor up to the first leased one, oldest first."""
    seen: set[ShardId] = set()
    todo = list(shards)
    while todo:
        shard = todo.pop()
        if shard not in seen:
            seen.add(shard)
            todo += [p for p in lineage.parents(shard) if p not in leased]
    return [shard for shard in lineage if shard in seen] if len(seen) > 64 else sorted(seen)


class Made(Struct, frozen=True):
    """A lease that the pass creates; whether at the initial position, below a leased shard."""

    initially: bool
    below: bool


def made_at_once(
    lineage: Lineage, leased: Collection[ShardId], initial: Start
) -> dict[ShardId, Made]:
    """Every lease that one pass creates, by shard.

    Only for open shards without a lease and their ancestors up to the first leased shard: above an
    open shard that has a lease nothing is ever created.
    """
    orphans = [s for s in lineage.open_shards() if s not in leased]
    descends: dict[ShardId, bool] = {}
    below: dict[ShardId, bool] = {}
    positions: dict[ShardId, bool] = {}
    for shard in with_unleased_ancestors(lineage, orphans, leased):
        parents = lineage.parents(shard)
        descending = [p for p in parents if descends.get(p, p in leased)]
        descends[shard] = bool(descending) or initial is not Start.LATEST
        below[shard] = any(below.get(p, p in leased) for p in parents)
        for parent in parents if descending else ():
            if parent not in leased:
                positions[parent] = _initially(parent in descending, initial)
    for shard in orphans:
        positions[shard] = _initially(descends[shard], initial)
    return {shard: Made(initially, below[shard]) for shard, initially in positions.items()}


def _initially(descends: bool, initial: Start) -> bool:
    return not descends or initial is Start.AT_TIMESTAMP


def swept(lineage: Lineage, row: Row) -> bool:
    """Whether the pass deletes the row: neither its shard nor a parent named on it is listed."""
    return row.shard not in lineage and not any(parent in lineage for parent in row.parents)


def crash(lineage: Lineage, table: LeaseTable, traits: Traits) -> Crash | None:
    """The first crash, `None` where the worker starts."""
    if of_other_kinds := beside.of_other_kinds(table, traits):
        return of_other_kinds
    strange = beside.leases_of_strangers(table, traits)
    rows = (*table.rows.values(), *(strange if traits.syncs_fully else ()))
    of_rows = (of_row for row in rows if (of_row := _of_row(lineage, row, traits)))
    return next(of_rows, None) or beside.of_other_rows(table, traits)


def in_the_way(lineage: Lineage, table: LeaseTable, traits: Traits) -> Cannot | None:
    """A crash that no write to the stream's own leases can prevent."""
    if obstacle := beside.in_the_way(table, traits):
        return obstacle
    for row in beside.leases_of_strangers(table, traits) if traits.syncs_fully else ():
        if _of_sync(lineage, row, traits) is not None:
            return beside.at_the_row(row, traits)
    return None


def crashing(lineage: Lineage, table: LeaseTable, traits: Traits) -> Iterator[ShardId]:
    """Shards whose rows crash the worker."""
    return (s for s, row in table.rows.items() if _of_row(lineage, row, traits) is not None)


def finished(row: Row, traits: Traits) -> bool:
    """Whether the release takes the lease for finished."""
    return row.ended or (row.position == SHARD_END and not traits.reads_subs)


def _of_row(lineage: Lineage, row: Row, traits: Traits) -> Crash | None:
    if bad := row.unread(traits):
        return unreadable(f"the lease of {row.shard}", bad, traits, Cause.UNREADABLE)
    return _of_sync(lineage, row, traits) if traits.syncs_fully else None


def _of_sync(lineage: Lineage, row: Row, traits: Traits) -> Crash | None:
    """What assertClosedShardsAreCoveredOrAbsent and isCandidateForCleanup throw at."""
    shard = row.shard
    if shard not in lineage:
        if swept(lineage, row):
            return None
        return Crash(
            f"KCL {traits.release} finds no shard {shard} while a parent named on its lease is "
            "listed, takes that for a reshard under way and crashes after twenty attempts",
            "the row is gone", cause=Cause.UNBORN,
        )
    if finished(row, traits) and lineage.is_open(shard):
        return Crash(
            f"KCL {traits.release} finds {shard} marked as finished while it is open, takes that "
            "for a reshard under way and crashes after twenty attempts",
            "the lease is no longer finished", cause=Cause.FALSE_END,
        )
    return None


def with_doubts(fates: Mapping[ShardId, Fate], rows: Mapping[ShardId, Row]) -> dict[ShardId, Fate]:
    """The same fates; where the order in which workers take two leases decides, they say so.

    A row that names as a parent what has no lease (no KCL writes such a row) is read at once; but
    if that lease is made before a worker takes the row, it waits for its end
    (BlockOnParentShardTask of 2.7.2; a run of it where another worker seemed to own the row, seed
    60017 of kcl-2.7.2-multi). It waits for ever where that one waits for it, or never ends. What an
    audit makes minutes later finds the row taken.
    """
    made = {
        shard for shard, fate in fates.items()
        if shard not in rows and isinstance(fate, WillRead) and not fate.delay.least
    }
    doubts: dict[ShardId, str] = {}
    before: dict[ShardId, set[ShardId]] = {}
    for row in rows.values() if made else ():
        fate = fates[row.shard]
        if not isinstance(fate, WillRead) or fate.cause is Cause.FINISHED:
            continue
        for parent in sorted(made & row.parents - fate.after):
            if parent not in before:
                before[parent] = _all_awaited(fates, parent)
            above = before[parent]
            if row.shard in above or not all(_ends(fates, one) for one in (parent, *above)):
                why = f"the row of {row.shard} names {parent} as its parent: it may wait for ever"
                doubts.setdefault(row.shard, why)
    return _with_those_that_wait(fates, doubts) if doubts else dict(fates)


def _with_those_that_wait(
    fates: Mapping[ShardId, Fate], doubts: Mapping[ShardId, str]
) -> dict[ShardId, Fate]:
    """The doubts, also at what waits for these shards, each shard visited once."""
    waiting: dict[ShardId, list[ShardId]] = {}
    for shard, fate in fates.items():
        for above in awaited(fate):
            waiting.setdefault(above, []).append(shard)
    told, todo = dict(doubts), list(doubts)
    while todo:
        shard = todo.pop()
        for below in waiting.get(shard, ()):
            if below not in told:
                told[below] = told[shard]
                todo.append(below)
    return {
        shard: replace(fate, possible=told[shard])
        if shard in told and isinstance(fate, WillRead) else fate
        for shard, fate in fates.items()
    }


def _all_awaited(fates: Mapping[ShardId, Fate], shard: ShardId) -> set[ShardId]:
    """What has to end before the shard is read, and before that is."""
    found: set[ShardId] = set()
    todo = [shard]
    while todo:
        above = awaited(fates[todo.pop()])
        todo += above - found
        found |= above
    return found


def _ends(fates: Mapping[ShardId, Fate], shard: ShardId) -> bool:
    fate = fates[shard]
    return isinstance(fate, WillRead) and fate.ends
