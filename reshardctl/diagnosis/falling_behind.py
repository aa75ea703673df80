"""Shards of a running consumer that falls behind: when unread records expire if it goes on so.

Two looks tell how much of the stream was read in between. A shard counts only if a record was read
that was unread at both of them: a position that stands still may belong to an idle shard.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.report import RepairOptions, Report, case_of
from reshardctl.diagnosis.shard_lag import first_unread, position_times, reads_of
from reshardctl.model import Cut, ShardId, short
from reshardctl.model.phrases import listed_shards
from reshardctl.model.times import duration, instant
from reshardctl.planning.plan import processed_frontier

NOISE = 5.0
"""Seconds by which reading must be slower than time: numbers carry whole seconds, and arrive up to
three seconds later."""
NAMED = 5
"""Shards that are named before the rest are counted."""


@dataclass(frozen=True, slots=True)
class Look:
    """Where a consumer was. at: Unix seconds. positions: Unix second in the position of a shard."""

    at: float
    positions: Mapping[ShardId, float]


@dataclass(frozen=True, slots=True)
class Behind:
    """A shard that falls behind.

    read: seconds of the stream that were read between the looks. expires: Unix second at which
    unread records begin to expire at this rate.
    """

    shard: ShardId
    read: float
    expires: float


def look_at(snapshot: Snapshot) -> Look:
    """The first of two looks."""
    return Look(snapshot.now, position_times(snapshot))


def slower_places(report: Report, first: Look) -> list[tuple[ShardId, Cut]]:
    """Positions that moved more slowly than time, where the next record was not read yet."""
    processed = processed_frontier(case_of(report.snapshot, RepairOptions()))
    reads = reads_of(report.snapshot)
    return [
        (shard, processed[shard].lo) for shard, _ in _slower(report.snapshot, first)
        if shard in report.snapshot.lineage
        and first_unread(reads, shard, processed[shard].lo) is None
    ]


def falling_behind(report: Report, first: Look) -> list[Behind]:
    """The shards that fall behind, the first to lose a record first.

    Nothing of a consumer that did not move at all: it may be stopped. What stood still during a
    watch is a finding of its own, RSH403.
    """
    snapshot, elapsed = report.snapshot, report.snapshot.now - first.at
    slower = list(_slower(snapshot, first))
    if snapshot.watched is None and not _moved(snapshot, first):
        return []
    processed = processed_frontier(case_of(snapshot, RepairOptions()))
    reads = reads_of(snapshot)
    keep, behind = snapshot.lineage.stream.retention, []
    for shard, read in slower:
        arrival = first_unread(reads, shard, processed[shard].lo)
        if arrival is not None and arrival < first.at:
            left = arrival + keep - snapshot.now
            grows = 1 - read / elapsed
            behind.append(Behind(shard, read, snapshot.now + left / grows))
    return sorted(behind, key=lambda slow: (slow.expires, slow.shard))


def with_pace(report: Report, first: Look) -> Report:
    """The same report; its `pace` says what falls behind."""
    behind = falling_behind(report, first)
    if not behind:
        return report
    worst, elapsed = behind[0], report.snapshot.now - first.at
    shards = listed_shards([slow.shard for slow in behind], NAMED)
    few = f"{shards} fall{'s' if len(behind) == 1 else ''}"
    return replace(report, pace=(
        f"{few} behind: in {duration(elapsed)} the consumer read {duration(worst.read)} of "
        f"{short(worst.shard)}; at this rate unread records expire at {instant(worst.expires)}"
    ))


def _slower(snapshot: Snapshot, first: Look) -> Iterator[tuple[ShardId, float]]:
    """Shards whose position moved by less than the time between the looks, and by how much."""
    elapsed = snapshot.now - first.at
    least = 0 if snapshot.watched is None else 1
    for shard, time in position_times(snapshot).items():
        read = time - first.positions.get(shard, time)
        if shard in first.positions and least <= read < elapsed - NOISE:
            yield shard, read


def _moved(snapshot: Snapshot, first: Look) -> bool:
    times = position_times(snapshot)
    return any(times.get(shard, time) > time for shard, time in first.positions.items())
