"""Rebuilds the leases of an application that lost them all, at the frontier that a sink proves.

Every listed shard gets a lease, ended ones included: an ended parent without a lease would be
refilled where its child has none, and a merge ends only if both of its parents have a lease (runs
of KCL 2.7.2 and 3.5.1, Nov 2026). KCL itself deletes the finished ones in time.
"""

from __future__ import annotations

from reshardctl.consumers.kcl.app import App
from reshardctl.consumers.kcl.encode import begun
from reshardctl.consumers.kcl.rows import LeaseTable
from reshardctl.consumers.kcl.steps import TRANSACTION
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, Step, TargetFrontier
from reshardctl.model.batched import batched


def rebuild(lineage: Lineage, table: LeaseTable, want: TargetFrontier, app: App) -> list[Step]:
    """Creates leases for unread shards first, parents before children, then for ended ones.

    An application that starts after a part of the steps waits for the existing leases and starts
    absent shards at their beginning.
    """
    shards = sorted(lineage, key=lambda shard: want[shard] == DONE)
    writes = begun(lineage, table, want, app, shards, "lost; as the sink has it")
    ordered = [writes.pop(shard) for shard in shards]
    ordered = [*writes.values(), *ordered]  # expired parents of merges, which end nothing
    parts = list(batched(ordered, TRANSACTION))
    title = "leases at the positions of the sink"
    return [
        Step(title if len(parts) == 1 else f"{title}, part {n}", part)
        for n, part in enumerate(parts, start=1)
    ]
