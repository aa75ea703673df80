"""Whether a consumer has crossed its reshards: every parent ended, every child started."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.report import RepairOptions, case_of
from reshardctl.model import DONE, ShardId
from reshardctl.planning.plan import processed_frontier


@dataclass(frozen=True, slots=True)
class Uncrossed:
    """Closed shards that are not processed, open ones without a position; or no position at all."""

    behind: tuple[ShardId, ...] = ()
    unstarted: tuple[ShardId, ...] = ()
    empty: bool = False

    def __bool__(self) -> bool:
        return bool(self.behind or self.unstarted or self.empty)


def uncrossed(snapshot: Snapshot) -> Uncrossed:
    """What is missing until no closed shard is unread and every open one has a position.

    A closed shard without a row is processed if its children's rows prove that it was cleaned up.
    """
    case = case_of(snapshot, RepairOptions())
    checkpoint = case.checkpoint()
    if case.consumer.empty(checkpoint):
        return Uncrossed(empty=True)
    lineage, processed = snapshot.lineage, processed_frontier(case)
    started = case.consumer.positions(checkpoint)
    return Uncrossed(
        tuple(s for s in lineage if not lineage.is_open(s) and processed[s].lo != DONE),
        tuple(s for s in lineage.open_shards() if s not in started),
    )
