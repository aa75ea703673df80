"""One row for each shard of a judged consumer: state, position, lag, owner, progress and verdict.

Nothing is judged here. Verdicts are those of the report's findings, lag is measured against the
report's frontier, and both are only brought together by shard.

A stored position has a kind, a number and a time, whichever library spelled it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Cause,
    Cut,
    Fate,
    Rank,
    ShardId,
    Span,
    WillRead,
    index_of,
    is_number,
    time_of,
)
from reshardctl.model.cuts import PARTS
from reshardctl.model.phrases import listed
from reshardctl.model.shards import select
from reshardctl.planning.plan import processed_frontier
from reshardctl.report.lag import Lag, LagMeter
from reshardctl.report.next_start import NextStart, next_starts
from reshardctl.report.report import Report, case_of

UNREADABLE = frozenset({Cause.UNREADABLE, Cause.BAD_END_MARK})


class PositionKind(StrEnum):
    """Kinds of positions, by the words of `_cut` in the JSON documents where they have one."""

    NONE = "none"
    UNREADABLE = "unreadable"
    START = "start"
    TIME = "time"
    NUMBER = "number"
    TIP = "tip"
    DONE = "done"


_BY_RANK = {
    Rank.START: PositionKind.START, Rank.TIP: PositionKind.TIP, Rank.DONE: PositionKind.DONE,
}


class StoredPosition(Struct, frozen=True):
    """One shard's position.

    stored: as the store spells it, `None` where it holds none. number, sub: the last processed
    record, or the first unread one of a position AT a number; "" and 0 for other kinds. time: Unix
    seconds at which that record was written, or from which a start by time reads; `None` for other
    kinds and for a number that has no known time or is foreign: of another or an earlier stream.
    """

    kind: PositionKind
    stored: str | None = None
    number: str = ""
    sub: int = 0
    time: float | None = None
    foreign: bool = False


def position_of(
    stored: str | None, text: str, span: Span | None, fate: Fate | None
) -> StoredPosition:
    """What a stored position stands for, by its kind; NONE where the store holds none.

    A number is NUMBER, unless the shard is surely processed whole (DONE), whatever the next start
    takes it for. Any other text is where that start reads, or without a fate what is processed:
    START, TIP, DONE or TIME. It is UNREADABLE if the start calls it so, or if neither is known or
    is a place after a number.

    stored: as the store spells it, `None` where it holds none. text: that without what the library
    shows beside or around a number. span: what is processed. fate: of the next start.
    """
    if stored is None:
        return StoredPosition(PositionKind.NONE)
    done = span is not None and span.exact and span.lo.rank is Rank.DONE
    if is_number(text) and not done:
        places = [fate.at.lo] if isinstance(fate, WillRead) else []
        places += [] if span is None else [span.lo]
        sub = next((_last_part(cut) for cut in places if cut.number == int(text)), 0)
        return StoredPosition(PositionKind.NUMBER, stored, text, sub, time_of(text))
    cut = span.lo if span is not None and done else _meant(span, fate)
    if fate is not None and fate.cause in UNREADABLE:
        return StoredPosition(PositionKind.UNREADABLE, stored)
    if cut is None or (cut.rank is Rank.INSIDE and not cut.by_time):
        return StoredPosition(PositionKind.UNREADABLE, stored)
    if cut.by_time:
        return StoredPosition(PositionKind.TIME, stored, time=cut.time)
    return StoredPosition(_BY_RANK[cut.rank], stored)


def _last_part(cut: Cut) -> int:
    """The last processed user record of an aggregated one, 0 for a record as a whole."""
    return max(cut.sub + PARTS - 1, 0) if cut.sub < 0 else cut.sub


def _meant(span: Span | None, fate: Fate | None) -> Cut | None:
    """The cut that a word stands for: where a start reads, or what is certainly processed."""
    if isinstance(fate, WillRead):
        return fate.at.lo
    return None if span is None else span.lo


class ShardState(StrEnum):
    """Where a shard is in its life. Trimmed: past the retention, so that it is not listed any more.

    Unborn: a position names a shard that the stream does not have yet.
    """

    OPEN = "open"
    CLOSED = "closed"
    TRIMMED = "trimmed"
    UNBORN = "unborn"


class Progress(Struct, frozen=True):
    """When a consumer last got on in a shard, in Unix seconds.

    exact: whether the store holds that time. If not, the time is that of the last processed record:
    progress was made then, or later.
    """

    time: float
    exact: bool


class ShardStatus(Struct, frozen=True):
    """One shard of a consumer.

    opened, closed, expires: Unix seconds, `None` if not known. expires: when the last record of a
    closed shard reaches the end of the retention. processed: `None` for a consumer whose rows prove
    nothing of the shard. owner: "" for nobody, or for a library that stores no owner. verdict: the
    gravest severity of the findings that name the shard, `None` for none of them. rules: their
    codes, gravest first. starts: what the next start does; several where options decide it.
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
    starts: tuple[NextStart, ...] = ()

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
    starts = next_starts(report, frontier)
    named = _by_shard(findings)
    rows = []
    for shard in (*lineage, *(s for s in report.positions if s not in lineage)):
        span = frontier.get(shard)
        position = position_of(
            report.positions.get(shard), texts.get(shard, ""), span, fates.get(shard)
        )
        if shard in report.foreign:
            position = replace(position, foreign=True, time=None)
        severities = [finding.severity for finding in named[shard]]
        rows.append(ShardStatus(
            shard, *_life(lineage, shard), position, span, meter.lag(shard, span),
            owners[shard].owner if shard in owners else "",
            _progress(position, saved.get(shard)),
            max(severities, default=None),
            tuple(dict.fromkeys(finding.code for finding in named[shard])),
            starts.get(shard, ()),
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


class StatusSelection(Struct, frozen=True):
    """Which rows are shown.

    shards: numbers, ranges and ids, none for all; ids in a status. sort: a column of `COLUMNS`.
    by_worker: whether a row is a worker with its shards.
    """

    shards: tuple[str, ...] = ()
    only_bad: bool = False
    sort: str = "verdict"
    by_worker: bool = False


class ConsumerStatus(Struct, frozen=True):
    """A judged consumer, shard by shard.

    rows: those that are shown, in the order asked for. total: how many shards there are. findings:
    those that count for the selected shards; a finding that names no shard concerns all of them.
    suppressed: number of findings that reshardctl.toml suppresses. name: as it is configured; ""
    for its locator. reading: the options with which `inspect` reads the same. fine: rows that
    `only_bad` left out.
    """

    report: Report
    selection: StatusSelection
    rows: tuple[ShardStatus, ...]
    total: int
    findings: tuple[Finding, ...]
    suppressed: int = 0
    name: str = ""
    reading: tuple[str, ...] = ()
    fine: tuple[ShardStatus, ...] = ()

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
    report: Report, findings: Sequence[Finding], selection: StatusSelection, suppressed: int = 0,
    name: str = "",
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
    fine = [row for row in rows if not row.bad] if selection.only_bad else []
    if selection.only_bad:
        rows = [row for row in rows if row.bad]
    rows = sorted(rows, key=COLUMNS[selection.sort])
    return ConsumerStatus(
        report, selection, tuple(rows), total, tuple(findings), suppressed, name, fine=tuple(fine)
    )


def _shards(
    parts: Iterable[str], rows: Iterable[ShardStatus], report: Report
) -> tuple[ShardId, ...]:
    shards, unknown = select(parts, dict.fromkeys(row.shard for row in rows))
    if unknown:
        raise UsageError(
            f"--shards {listed(unknown, 5)}: not listed in "
            f"{report.snapshot.lineage.stream.name}, and no position names it",
            "the same without --shards lists what is there",
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


class Explanation(Struct, frozen=True):
    """The report of one consumer, and what is known of its shards.

    shards: those that were asked about, in that order. statuses: of these and their neighbours.
    words: the arguments that name the consumer to other commands.
    """

    report: Report
    shards: tuple[ShardId, ...]
    statuses: dict[ShardId, ShardStatus]
    words: tuple[str, ...] = ()
