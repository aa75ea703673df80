"""The order in which rows are written: a fix that stops half-way makes no start worse.

What belongs together is one transaction; a fix may be killed between two of them. Sources:
PeriodicShardSyncManager and HierarchicalShardSyncer of 2.7.2 and 3.5.1, and drawn stores (KCL 2.7.2
701742, 3.1.3 701903, 3.5.1 700770, 2.7.2 with several streams 700470).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence

from reshardctl.consumers.kcl.behaviour import holes, simulate_start
from reshardctl.consumers.kcl.releases import App
from reshardctl.consumers.kcl.rows import SHARD_END, LeaseTable
from reshardctl.consumers.kcl.sync import crashing
from reshardctl.consumers.kcl.table import split
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Cause,
    Create,
    Delete,
    ShardId,
    Step,
    Update,
    Write,
    in_birth_order,
    short,
)
from reshardctl.model.images import batched
from reshardctl.model.phrases import listed

TRANSACTION = 100
"""Writes that DynamoDB takes in one transaction (TransactWriteItems API reference)."""


def in_steps(
    lineage: Lineage, table: LeaseTable, writes: Mapping[ShardId, Write], app: App
) -> list[Step]:
    """One step a family of shards, children first.

    Leases above and below an unfinished one that stays as it is are one family: if only the lower
    one were written yet, its shard would be read before the shard above it.
    A family too large for one transaction is cut so that every prefix has all children before their
    parent's end. Families that lack rows come last: a missing row shows that another shard's LATEST
    was not its first position. KCL's auditor creates leases only while it finds a hole, hash keys
    without an unfinished lease. Whatever closes one comes after the finished leases, and after the
    missing rows that no hole shows. Rows that KCL cannot read come after those, for with them it
    fills the holes below again; unless such a row shows no hole, and a lease below is begun with
    it. Rows that crash it come after all others: it skips nothing while it cannot start.
    """
    deadly = set(crashing(lineage, table, app.traits))
    fates = lineage.memo(simulate_start, lineage, table, app).fates
    unread = {shard for shard, fate in fates.items() if fate.cause is Cause.UNREADABLE}
    if unread.issuperset(table.rows):  # the first row that KCL can read ends its bootstrap
        unread = set()
    missed = _among(lineage, holes(lineage, table, app), writes)

    def rank(family: list[ShardId]) -> tuple[bool, ...]:
        filled = {shard for shard in family if isinstance(writes[shard].change, Create)}
        begun = {shard for shard in family if not _ends(writes[shard])}
        mended = unread.intersection(family)
        closes, hidden = not missed.isdisjoint(begun), (begun & filled) - missed
        late = bool(mended) and (filled.isdisjoint(begun) or not missed.isdisjoint(mended))
        last = not deadly.isdisjoint(family)
        return last, late, bool(filled) or closes, not hidden, closes, bool(filled)

    steps = []
    staying = {s for s, row in table.rows.items() if not row.ended and s not in writes}
    families = [in_birth_order(f)[::-1] for f in _families(lineage, writes, staying)]
    for ordered in sorted(families, key=rank):
        for part in batched(ordered, TRANSACTION):
            together = tuple(writes[s] for s in part)
            steps.append(Step(title(together), together))
    return steps


def title(writes: Sequence[Write]) -> str:
    """`leases of 2, 3`: the title of a step."""
    shards = in_birth_order({split(write.key)[1] for write in writes})
    return f"lease{'' if len(shards) == 1 else 's'} of {listed(shards, 4, short)}"


def _among(
    lineage: Lineage, ranges: Sequence[tuple[int, int]], shards: Collection[ShardId]
) -> set[ShardId]:
    """The listed shards with hash keys in these ranges, which are in order and apart."""
    ends = [high for _, high in ranges]

    def has(shard: ShardId) -> bool:
        first = bisect_left(ends, lineage[shard].hash_start)
        return first < len(ranges) and ranges[first][0] <= lineage[shard].hash_end

    return {shard for shard in shards if shard in lineage and has(shard)}


def _ends(write: Write) -> bool:
    """Whether its lease is finished afterwards, or gone."""
    match write.change:
        case Create(values) | Update(values):
            return values.get("checkpoint") == {"S": SHARD_END}
        case Delete():
            return True


def _families(
    lineage: Lineage, shards: Collection[ShardId], between: Collection[ShardId]
) -> Iterator[list[ShardId]]:
    """Yields written shards in groups: those that are parent and child, or share a parent or child.

    between: shards that are not written, but connect those above and below them.
    """
    seen: set[ShardId] = set()
    for first in in_birth_order(shards):
        family, todo = [], [first]
        while todo:
            shard = todo.pop()
            if shard in seen or (shard not in shards and shard not in between):
                continue
            seen.add(shard)
            if shard in shards:
                family.append(shard)
            parents, children = _parents(lineage, shard), lineage.children(shard)
            todo += [*parents, *children]
            todo += [p for c in children for p in _parents(lineage, c)]
            todo += [c for p in parents for c in lineage.children(p)]
        if family:
            yield family


def _parents(lineage: Lineage, shard: ShardId) -> Sequence[ShardId]:
    """Those that are not listed any more too: their rows count as others do."""
    return (*lineage.parents(shard), *lineage.unlisted_parents(shard))
