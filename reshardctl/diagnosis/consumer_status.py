"""The status of a consumer: the rows of its shards, selected and in the order asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reshardctl.diagnosis.report import Report
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.diagnosis.shard_status import ShardState, ShardStatus, statuses
from reshardctl.errors import UsageError
from reshardctl.model import ShardId, index_of
from reshardctl.model.shards import select


@dataclass(frozen=True, slots=True)
class StatusSelection:
    """Which rows are shown.

    shards: numbers, ranges and ids, none for all; ids in a status. sort: a column of `COLUMNS`.
    """

    shards: tuple[str, ...] = ()
    only_bad: bool = False
    sort: str = "verdict"


@dataclass(frozen=True, slots=True)
class ConsumerStatus:
    """A judged consumer, shard by shard.

    rows: those that are shown, in the order asked for. total: how many shards there are. findings:
    those that count for the selected shards; a finding that names no shard concerns all of them.
    suppressed: number of findings that reshardctl.toml suppresses.
    """

    report: Report
    selection: StatusSelection
    rows: tuple[ShardStatus, ...]
    total: int
    findings: tuple[Finding, ...]
    suppressed: int = 0

    @property
    def of_all_shards(self) -> tuple[Finding, ...]:
        """Findings that name no shard, such as a crash of the whole consumer."""
        return tuple(finding for finding in self.findings if not finding.shards)

    @property
    def measured(self) -> bool:
        """Whether records were read to tell the lag of a shard that is shown."""
        snapshot = self.report.snapshot
        return bool(snapshot.probes or snapshot.counts)

    def counts(self) -> dict[str, int]:
        """Number of the findings of each severity."""
        return {str(s): sum(f.severity is s for f in self.findings) for s in reversed(Severity)}


def status_of(
    report: Report, findings: Sequence[Finding], selection: StatusSelection, suppressed: int = 0
) -> ConsumerStatus:
    """The status with the selected rows. findings: those of the report that count.

    Raises UsageError for a selected shard that neither the stream nor the store knows.
    """
    rows = statuses(report, findings)
    total = len(rows)
    if selection.shards:
        selection = replace(selection, shards=_shards(selection.shards, rows, report))
        wanted = frozenset(selection.shards)
        rows = [row for row in rows if row.shard in wanted]
        findings = [f for f in findings if not f.shards or wanted & set(f.shards)]
    if selection.only_bad:
        rows = [row for row in rows if row.bad]
    rows = sorted(rows, key=COLUMNS[selection.sort])
    return ConsumerStatus(report, selection, tuple(rows), total, tuple(findings), suppressed)


def _shards(
    parts: Iterable[str], rows: Iterable[ShardStatus], report: Report
) -> tuple[ShardId, ...]:
    shards, unknown = select(parts, dict.fromkeys(row.shard for row in rows))
    if unknown:
        named = ", ".join(unknown[:5]) + (" and more" if len(unknown) > 5 else "")
        raise UsageError(
            f"--shards {named}: not listed in {report.snapshot.lineage.stream.name}, and no "
            "position names it", "the same without --shards lists what is there",
        )
    return tuple(shards)


def _number(row: ShardStatus) -> tuple[bool, int, str]:
    index = index_of(row.shard)
    return index is None, index or 0, row.shard


def _most_first(value: float | None) -> tuple[bool, float]:
    """The largest first, the unknown last."""
    return value is None, -(value or 0.0)


def _least_first(value: float | None) -> tuple[bool, float]:
    return value is None, value or 0.0


def _worst_first(row: ShardStatus) -> tuple[Any, ...]:
    """The gravest verdict first, then the longest lag."""
    return -(row.verdict or 0), *_most_first(row.lag.seconds), *_number(row)


_STATES = list(ShardState)

COLUMNS: Mapping[str, Callable[[ShardStatus], tuple[Any, ...]]] = {
    "shard": _number,
    "state": lambda row: (_STATES.index(row.state), *_least_first(row.closed), *_number(row)),
    "position": lambda row: (*_least_first(row.position.time), row.position.kind, *_number(row)),
    "lag": lambda row: (*_most_first(row.lag.seconds), *_number(row)),
    "records": lambda row: (*_most_first(row.lag.records), *_number(row)),
    "bytes": lambda row: (*_most_first(row.lag.size_bytes), *_number(row)),
    "owner": lambda row: (row.owner, *_number(row)),
    "progress": lambda row: (
        *_least_first(None if row.progress is None else row.progress.time), *_number(row)
    ),
    "verdict": _worst_first,
    "rule": lambda row: (not row.rules, row.rules, *_number(row)),
}
"""Column → the order of rows when sorted by it: the worst, the largest or the oldest first."""
