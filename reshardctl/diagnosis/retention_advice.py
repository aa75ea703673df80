"""Advice to extend retention where unread records expire, which gives time for a repair."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reshardctl.diagnosis.report import Report
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.model import Stream

HOUR = 3600
WEEK = 7 * 24
"""Hours; up to here extended retention is priced by the shard hour, beyond it by the GB (AWS's
price list for Kinesis Data Streams)."""
LONGEST = 8760
"""Hours; the service's limit (IncreaseStreamRetentionPeriod API reference)."""


@dataclass(frozen=True, slots=True)
class RetentionAdvice:
    """The retention to set, in hours. since: Unix second of the first loss, `None` if unknown."""

    stream: str
    region: str
    hours: int
    since: float | None

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
    threatened = _threatened(findings, now)
    if not threatened:
        return None
    starts = [f.deadline.starts for f in threatened if f.deadline and f.deadline.starts]
    have = stream.retention // HOUR
    hours = WEEK if have < WEEK else min(have + WEEK, LONGEST)
    return RetentionAdvice(stream.name, stream.region, hours, min(starts, default=None))


def _threatened(findings: Iterable[Finding], now: float) -> list[Finding]:
    """Findings whose loss is not complete yet."""
    return [
        finding for finding in findings
        if finding.severity > Severity.INFO and finding.deadline is not None
        and (finding.deadline.complete is None or finding.deadline.complete > now)
    ]
