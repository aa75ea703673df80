"""One row for each shard of a judged consumer: state, position, lag, owner, progress and verdict.

Nothing is judged here. Verdicts are those of the report's findings, lag is measured against the
report's frontier, and both are only brought together by shard.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from reshardctl.diagnosis.report import Report, case_of
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.diagnosis.shard_lag import Lag, LagMeter
from reshardctl.diagnosis.stored_position import StoredPosition, position_of
from reshardctl.lineage import Lineage
from reshardctl.model import Fate, ShardId, Span, WillRead, index_of
from reshardctl.planning.plan import processed_frontier


class ShardState(StrEnum):
    """Where a shard is in its life. Trimmed: past the retention, so that it is not listed any more.

    Unborn: a position names a shard that the stream does not have yet.
    """

    OPEN = "open"
    CLOSED = "closed"
    TRIMMED = "trimmed"
    UNBORN = "unborn"


@dataclass(frozen=True, slots=True)
class Progress:
    """When a consumer last got on in a shard, in Unix seconds.

    exact: whether the store holds that time. If not, the time is that of the last processed record:
    progress was made then, or later.
    """

    time: float
    exact: bool


@dataclass(frozen=True, slots=True)
class ShardStatus:
    """One shard of a consumer.

    opened, closed, expires: Unix seconds, `None` if not known. expires: when the last record of a
    closed shard reaches the end of the retention. processed: `None` for a consumer whose rows prove
    nothing of the shard. owner: "" for nobody, or for a library that stores no owner. verdict: the
    gravest severity of the findings that name the shard, `None` for none of them. rules: their
    codes, gravest first.
    """

    shard: ShardId
    state: ShardState
    opened: float | None
    closed: float | None
    expires: float | None
    parents: tuple[ShardId, ...]
    children: tuple[ShardId, ...]
    position: StoredPosition
    processed: Span | None
    lag: Lag
    owner: str
    progress: Progress | None
    verdict: Severity | None
    rules: tuple[str, ...]

    @property
    def bad(self) -> bool:
        """Whether a warning or an error names the shard."""
        return self.verdict is not None and self.verdict >= Severity.WARNING


def statuses(report: Report, findings: Sequence[Finding]) -> list[ShardStatus]:
    """A row for each listed shard, parents first, and then for each other shard with a position.

    findings: those of the report that count, without what is suppressed.
    """
    case = case_of(report.snapshot, report.options)
    lineage, checkpoint = case.state.lineage, case.checkpoint()
    frontier = processed_frontier(case)
    meter = LagMeter(report, case)
    texts = case.consumer.texts(checkpoint)
    owners = case.consumer.owners_by_shard(checkpoint)
    saved = case.consumer.saved_at(checkpoint)
    fates = _fates(report)
    named = _by_shard(findings)
    rows = []
    for shard in (*lineage, *(s for s in report.positions if s not in lineage)):
        span = frontier.get(shard)
        position = position_of(
            report.positions.get(shard), texts.get(shard, ""), span, fates.get(shard)
        )
        severities = [finding.severity for finding in named[shard]]
        rows.append(ShardStatus(
            shard, *_life(lineage, shard), position, span, meter.lag(shard, span),
            owners[shard].owner if shard in owners else "",
            _progress(position, saved.get(shard)),
            max(severities, default=None),
            tuple(dict.fromkeys(finding.code for finding in named[shard])),
        ))
    return rows


def _life(
    lineage: Lineage, shard: ShardId
) -> tuple[
    ShardState, float | None, float | None, float | None, tuple[ShardId, ...], tuple[ShardId, ...]
]:
    """State, opening, close, expiry, parents and children."""
    if shard not in lineage:
        unborn = (index_of(shard) or 0) > lineage.newest_index()
        state = ShardState.UNBORN if unborn else ShardState.TRIMMED
        return state, None, None, None, (), lineage.children(shard)
    closed = lineage.closed_at(shard)
    return (
        ShardState.OPEN if lineage.is_open(shard) else ShardState.CLOSED,
        lineage.opened_at(shard), closed,
        None if closed is None else closed + lineage.stream.retention,
        tuple(dict.fromkeys(lineage[shard].parents)), lineage.children(shard),
    )


def _fates(report: Report) -> dict[ShardId, Fate]:
    """Each shard's fate at the next start; of several candidates the first that reads it."""
    fates: dict[ShardId, Fate] = {}
    for judged in report.judged:
        for shard, fate in judged.simulation.fates.items():
            if shard not in fates or not isinstance(fates[shard], WillRead):
                fates[shard] = fate
    return fates


def _by_shard(findings: Iterable[Finding]) -> Mapping[ShardId, list[Finding]]:
    """The findings that name each shard, gravest first."""
    named: defaultdict[ShardId, list[Finding]] = defaultdict(list)
    for finding in sorted(findings, key=lambda f: (-f.severity, f.code)):
        for shard in dict.fromkeys(finding.shards):
            named[shard].append(finding)
    return named


def _progress(position: StoredPosition, saved: float | None) -> Progress | None:
    if saved is not None:
        return Progress(saved, exact=True)
    if position.number and position.time is not None:
        return Progress(position.time, exact=False)
    return None
