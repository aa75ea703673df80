"""What will break or expire if nothing is done, and whether a consumer has passed them.

Preflight: the first start after a reshard that has not been made. The rows stay as they are,
because nothing has been read since: a consumer that is stopped, starts at LATEST or has broken rows
breaks there. One that runs through the reshard creates its children's rows itself, as far as its
rows allow, and meets the same at that time.

A consumer has crossed its reshards when every parent is ended and every child started. Where
unread records expire, retention can be extended, which gives time for a repair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.codec.values import last_place
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.lineage import Reshard, foresee
from reshardctl.model import DONE, Cut, Rank, ShardId, Stream
from reshardctl.planning.plan import processed_frontier
from reshardctl.planning.policy import Policy
from reshardctl.report.report import RepairOptions, Report, case_of, make


def foreseen(snapshot: Snapshot, reshards: Sequence[Reshard]) -> Snapshot:
    """The same rows over the future lineage, at the time at which the reshard is finished.

    Probes of shards that it closes are kept only where they found records: that an open shard was
    read to its tip says nothing about what comes until it closes. Raises UsageError and CannotTell,
    see `foresee`.
    """
    future = foresee(snapshot.lineage, reshards, snapshot.now)
    probes = {
        shard: probe for shard, probe in snapshot.probes.items()
        if shard not in future.closes or not probe.drained
    }
    return replace(
        snapshot, lineage=future.lineage, probes=probes, foreseen=future,
        now=max(snapshot.now, float(future.until)),
    )


def forecast(now: Report, reshards: Sequence[Reshard]) -> Report:
    """The report after these reshards, with what is true already."""
    report = make(foreseen(now.snapshot, reshards), now.options)
    return replace(report, already=_by_code(now))


def _by_code(report: Report) -> Mapping[str, frozenset[ShardId]]:
    by_code: dict[str, frozenset[ShardId]] = {}
    for finding in report.findings:
        by_code[finding.code] = by_code.get(finding.code, frozenset()).union(finding.shards)
    return by_code


class Uncrossed(Struct, frozen=True):
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


def short_of(snapshot: Snapshot, policy: Policy) -> tuple[ShardId, ...]:
    """The shards that are not processed up to the policy's time, to which it is resolved."""
    processed = processed_frontier(case_of(snapshot, RepairOptions()))
    want = policy.frontier(snapshot.lineage, processed)
    return tuple(s for s in snapshot.lineage if not last_place(want[s]) <= processed[s].lo)


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


HOUR = 3600
WEEK = 7 * 24
"""Hours; up to here extended retention is priced by the shard hour, beyond it by the GB (AWS's
price list for Kinesis Data Streams)."""
LONGEST = 8760
"""Hours; the service's limit (IncreaseStreamRetentionPeriod API reference)."""


URGENT = 6 * 3600.0
"""Seconds before the first loss from which on the retention period should be extended."""


class RetentionAdvice(Struct, frozen=True):
    """The retention to set, in hours. since: Unix second of the first loss, `None` if unknown."""

    stream: str
    region: str
    hours: int
    since: float | None

    def urgent(self, now: float) -> bool:
        """Whether records may expire before somebody has had the time to repair positions."""
        return self.since is None or self.since - now < URGENT

    def argv(self) -> tuple[str, ...]:
        """The command, which is printed and never run: it costs money."""
        return (
            "aws", "kinesis", "increase-stream-retention-period", "--stream-name", self.stream,
            "--retention-period-hours", str(self.hours), "--region", self.region,
        )


def retention_advice(report: Report) -> RetentionAdvice | None:
    """The advice, `None` without unread records that are about to expire."""
    if report.snapshot.foreseen is not None:
        return None
    return aid_for(report.snapshot.lineage.stream, report.findings, report.snapshot.now)


def aid_for(stream: Stream, findings: Iterable[Finding], now: float) -> RetentionAdvice | None:
    """The advice for findings of any kind. now: Unix seconds."""
    if stream.retention >= LONGEST * HOUR:
        return None
    lost = threatened(findings, now)
    if not lost:
        return None
    starts = [f.deadline.starts for f in lost if f.deadline and f.deadline.starts]
    have = stream.retention // HOUR
    hours = WEEK if have < WEEK else min(have + WEEK, LONGEST)
    return RetentionAdvice(stream.name, stream.region, hours, min(starts, default=None))


def threatened(findings: Iterable[Finding], now: float) -> list[Finding]:
    """Findings whose loss is not complete yet."""
    return [
        finding for finding in findings
        if finding.severity > Severity.INFO and finding.deadline is not None
        and (finding.deadline.complete is None or finding.deadline.complete > now)
    ]
