"""Preflight: a snapshot as it would be if the stream were resharded now. Pure.

The rows stay as they are, for nobody has read on: what is judged is the next start after the
reshard. A consumer that runs through it makes its children's rows itself, where its rows let it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reshardctl.evidence import Snapshot
from reshardctl.lineage import Reshard, foresee


def foreseen(snapshot: Snapshot, reshards: Sequence[Reshard]) -> Snapshot:
    """The same rows over the lineage as it would be, at the moment when the reshard is over.

    Probes of shards that it closes are kept only where they met records: that an open shard was
    read to its tip says nothing of what comes until it closes. UsageError, CannotTell: `foresee`.
    """
    found = foresee(snapshot.lineage, reshards, snapshot.now)
    probes = {
        shard: probe for shard, probe in snapshot.probes.items()
        if shard not in found.closes or not probe.drained
    }
    return replace(
        snapshot, lineage=found.lineage, probes=probes, foreseen=found,
        now=max(snapshot.now, float(found.until)),
    )
