"""Positions of a watched consumer that did not move, from which a read shows the reason."""

from __future__ import annotations

from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.report import RepairOptions, case_of
from reshardctl.model import Cut, Rank, ShardId
from reshardctl.planning.plan import processed_frontier


def places_to_watch(snapshot: Snapshot) -> list[tuple[ShardId, Cut]]:
    """Positions of unfinished shards, before the tip, that did not move and were not read from."""
    if snapshot.watched is None or not snapshot.watched.runs:
        return []
    processed = processed_frontier(case_of(snapshot, RepairOptions()))
    return [
        (shard, processed[shard].lo) for shard, movement in sorted(snapshot.watched.shards.items())
        if shard in snapshot.lineage and not movement.finished and not movement.moved
        and _a_place(processed[shard].lo) and not _read_from(snapshot, shard, processed[shard].lo)
    ]


def _a_place(cut: Cut) -> bool:
    return cut.rank in (Rank.START, Rank.INSIDE) and not (cut.by_time and cut.time is None)


def _read_from(snapshot: Snapshot, shard: ShardId, cut: Cut) -> bool:
    probe = snapshot.probes.get(shard)
    return probe is not None and probe.since == cut
