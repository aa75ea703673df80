"""What lies after a cut of a shard: unread records, and since when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reshardctl.lineage import Lineage
from reshardctl.model import Cause, Cut, Fate, Probe, Rank, ShardId, WillRead, time_of

GRACE = 300.0
"""Seconds after a shard's close in which a consumer may still be about to mark its end; also the
seconds before it in which a shard's last record is expected."""


@dataclass(frozen=True, slots=True)
class StreamState:
    """What effects are measured against. `now`: Unix seconds.

    since, places: the time of a policy, and the cuts that it was resolved to: whatever lies after
    one of them arrived at that time or later.
    """

    lineage: Lineage
    now: float
    probes: Mapping[ShardId, Probe] = field(default_factory=dict)
    since: float | None = None
    places: Mapping[ShardId, Cut] = field(default_factory=dict)
    measured: dict[str, dict[Any, Any]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """See `last_measured`."""

    def last_measured(self, what: str) -> dict[Any, Any]:
        """What was measured last of each shard (or shards), and from what.

        A decision measures the stored rows, those after a plan, and those as if they were stored:
        most shards are the same each time.
        """
        return self.measured.setdefault(what, {})


def has_unread(state: StreamState, shard: ShardId, cut: Cut) -> bool:
    """Whether records may lie after the cut. In open shards future records count as unread."""
    lineage = state.lineage
    if cut.rank is Rank.DONE or shard not in lineage:
        return False
    if lineage.is_open(shard):
        return True
    if cut.rank is Rank.TIP:
        return False
    if cut.rank is Rank.INSIDE and not cut.by_time:
        end = lineage.last_number(shard)
        if end is not None and cut.number >= end:
            return False
    probe = state.probes.get(shard)
    return not (probe is not None and probe.drained and probe.since <= cut)


def moment(state: StreamState, shard: ShardId, cut: Cut) -> float | None:
    """Unix seconds at which the stream reached this cut, as far as number and store tell."""
    lineage = state.lineage
    if shard not in lineage:
        return None
    if cut.rank is Rank.START:
        since = lineage.opened_at(shard)
    elif cut.rank is Rank.INSIDE:
        since = cut.time if cut.by_time else time_of(cut.number)
    else:
        return state.now if lineage.is_open(shard) else lineage.closed_at(shard)
    if cut.quiet is None or since is None:
        return cut.quiet if since is None else since
    return max(since, cut.quiet)


def seems_done(state: StreamState, shard: ShardId, fate: Fate | None) -> bool:
    """Whether a closed shard whose consumer marks no end has a position just before its close."""
    if not isinstance(fate, WillRead) or fate.cause is not Cause.UNMARKED:
        return False
    last = state.last_measured("seems done")
    known = last.get(shard)
    if known is None or known[0] is not fate:
        known = last[shard] = (fate, _near_its_close(state, shard, fate.at.lo))
    done: bool = known[1]
    return done


def _near_its_close(state: StreamState, shard: ShardId, cut: Cut) -> bool:
    probe = state.probes.get(shard)
    closed = state.lineage.closed_at(shard) if shard in state.lineage else None
    if cut.rank is not Rank.INSIDE or (probe is not None and not probe.drained):
        return False
    written = moment(state, shard, cut)
    return written is not None and closed is not None and closed - written <= GRACE
