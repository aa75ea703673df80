"""Leases for an application that has lost all of its own, on the line that a sink proves.

Every listed shard gets one, the ended included: an ended parent without a lease would be refilled
where its child is missing, and a merge ends only if both of its parents have one (runs of KCL
2.7.2 and 3.5.1, Nov 2026). KCL itself takes away the finished ones in time.
"""

from __future__ import annotations

from reshardctl.consumers.kcl.app import App
from reshardctl.consumers.kcl.encode import begun
from reshardctl.consumers.kcl.rows import LeaseTable
from reshardctl.consumers.kcl.steps import TRANSACTION
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, Step, TargetFrontier


def rebuild(lineage: Lineage, table: LeaseTable, want: TargetFrontier, app: App) -> list[Step]:
    """Those still to be read first, parents before children, then the ended: whoever starts on a
    part of them waits for what is there, and begins what is not at its beginning."""
    shards = sorted(lineage, key=lambda shard: want[shard] == DONE)
    writes = begun(lineage, table, want, app, shards, "lost; as the sink has it")
    ordered = [writes[shard] for shard in shards]
    parts = [ordered[at : at + TRANSACTION] for at in range(0, len(ordered), TRANSACTION)]
    title = "leases on the line of the sink"
    return [
        Step(title if len(parts) == 1 else f"{title}, part {n}", tuple(part))
        for n, part in enumerate(parts, start=1)
    ]
