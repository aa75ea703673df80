"""What crashes a KCL worker at its start ("Unable to initialize after 20 attempts").

Sources: runs on 1.15.3, 2.7.2, 3.1.3 and 3.5.1; for the releases that synchronise fully, what
KinesisShardSyncer of 1.13.3 and HierarchicalShardSyncer of 2.2.11 throw, with
cleanupLeasesUponShardCompletion at its default. Those also throw at open parents and at closed
shards without children; such a listing is not judged (lineage/breaches.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.consumers.kcl import bystanders
from reshardctl.consumers.kcl.bystanders import unreadable
from reshardctl.consumers.kcl.full_sync import swept
from reshardctl.consumers.kcl.releases import Traits
from reshardctl.consumers.kcl.rows import SHARD_END, LeaseTable, Row
from reshardctl.lineage import Lineage
from reshardctl.model import Cause, Crash, ShardId


def crash(lineage: Lineage, table: LeaseTable, traits: Traits) -> Crash | None:
    """The first crash, `None` where the worker starts."""
    if of_other_kinds := bystanders.of_other_kinds(table, traits):
        return of_other_kinds
    strange = bystanders.leases_of_strangers(table, traits)
    rows = (*table.rows.values(), *(strange if traits.syncs_fully else ()))
    of_rows = (of_row for row in rows if (of_row := _of_row(lineage, row, traits)))
    return next(of_rows, None) or bystanders.of_other_rows(table, traits)


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
