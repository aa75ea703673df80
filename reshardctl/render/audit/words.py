"""Texts about an audit that every format shows. They are not escaped yet."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from reshardctl.auditing.coverage import time_in
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.diagnosis.rules.sinks import many
from reshardctl.model import DONE, START, ShardId, short
from reshardctl.model.times import duration, instant
from reshardctl.render.words import about, clock, counted, sentence, shortened
from reshardctl.report.audit import AuditReport, ShardCoverage, Way

HEADS = ("shard", "", "rows", "too many", "out of order")
ALONE = ("last arrival",)
COMPARED = ("read", "missing", "from (UTC)", "to")
STORED = ("stored position",)


def total(report: AuditReport) -> str:
    """`1 error, 2 warnings.`, or that there is none, and in what."""
    if counts := counted(report.counts()):
        return f"{', '.join(counts)}."
    where = "" if report.against_stream else "; the sink was not compared with the stream"
    return f"No findings{where}."


def by_when(finding: Finding, now: float) -> str:
    """Until when something can be done: `lost from …Z on, in 3h12m`; or ""."""
    deadline = finding.deadline
    if deadline is None or deadline.starts is None:
        return ""
    if deadline.complete is not None and deadline.complete <= now:
        return "lost: the records have expired"
    if deadline.starts <= now:
        end = "" if deadline.complete is None else f", the last at {instant(deadline.complete)}"
        return f"being lost now{end}"
    return f"lost from {instant(deadline.starts)} on, in {duration(deadline.starts - now)}"


def sentences(report: AuditReport, finding: Finding, verbose: bool = False) -> list[str]:
    """What a finding is, its evidence, its deadline, and what helps."""
    parts = [
        about(finding, verbose), finding.costs, by_when(finding, report.facts.taken),
        f"next: {finding.helps}" if finding.helps else "",
    ]
    return [sentence(shortened(part, verbose)) for part in parts if part]


def sink_words(report: AuditReport) -> list[str]:
    """The sink in a line: its name, what it is, how large, when it was read."""
    facts = report.facts
    return [facts.form, many(facts.rows, "row"), f"read {instant(facts.taken)}"]


def coverage(report: AuditReport) -> str:
    """How much of the stream the sink was compared with."""
    if not report.against_stream:
        return ""
    listed = [shard for shard in report.coverages if shard.shard in report.lineage]
    whole = [shard for shard in listed if shard.compared is not None and not shard.unknowable]
    windows = [shard.window for shard in listed if shard.window is not None]
    if not windows:
        return f"compared: nothing of {many(len(listed), 'shard')} could be read"
    since, until = min(w.since for w in windows), max(w.until for w in windows)
    return (
        f"compared with {many(report.read, 'record')} of the stream, {instant(since)} to "
        f"{instant(until)}: {len(whole):,} of {many(len(listed), 'shard')} from their beginning"
    )


def remarks(report: AuditReport) -> list[str]:
    """Sentences below the findings."""
    parts = [coverage(report), *report.notes, *report.lacking]
    if report.saved:
        parts.append(f"the offending rows are in {report.saved}, one table for each kind")
    return [sentence(part) for part in parts if part]


def heads(report: AuditReport) -> tuple[str, ...]:
    """The heads of the table of shards."""
    stored = STORED if report.stored is not None else ()
    return (*HEADS, *(COMPARED if report.against_stream else ALONE), *stored)


def cells(report: AuditReport, coverage: ShardCoverage) -> list[str]:
    """A shard's row in that table."""
    inside = coverage.inside
    order = "" if inside is None or inside.disordered is None else _number(inside.disordered)
    row = [
        short(coverage.shard), life(report, coverage.shard), f"{coverage.rows:,}",
        _number(coverage.extra), order or "?",
    ]
    if report.against_stream:
        row += _compared(coverage, report.facts.taken)
    else:
        last = None if inside is None else time_in(inside.last)
        row.append("–" if last is None else instant(last))
    if report.stored is not None:
        row.append(shortened(coverage.position or "–"))
    return row


def life(report: AuditReport, shard: ShardId) -> str:
    """`open`, `closed`, or that it is not listed any more."""
    if shard not in report.lineage:
        return "gone"
    return "open" if report.lineage.is_open(shard) else "closed"


def _compared(coverage: ShardCoverage, now: float) -> list[str]:
    if coverage.compared is None:
        return ["–", "?", "cannot be known", ""]
    window = coverage.window
    if window is None:
        return [_number(coverage.compared.read), "?", "cannot be known", ""]
    until = "now" if coverage.compared.tip else clock(window.until, now)
    since = clock(window.since, now)
    return [f"{coverage.compared.read:,}", _number(coverage.compared.missing), since, until]


def _number(value: int) -> str:
    return f"{value:,}" if value else "0"


def worst_first(report: AuditReport, most: int) -> tuple[Sequence[ShardCoverage], int]:
    """Shards with findings first, in the order of the lineage; and how many are left out."""
    grave = {
        f.code for f in report.findings if f.severity > Severity.INFO
    }
    if len(report.coverages) <= most:
        return report.coverages, 0
    ranked = sorted(
        report.coverages,
        key=lambda s: (not grave.intersection(s.codes), -(s.missing or 0), -s.extra),
    )
    kept = {coverage.shard for coverage in ranked[:most]}
    return [coverage for coverage in report.coverages if coverage.shard in kept], len(ranked) - most


def processed_words(report: AuditReport, shard: ShardId) -> str:
    """Up to where the shard is certainly processed: `START`, `DONE`, a number; "" if unknown."""
    span = None if report.stored is None else report.stored.processed.get(shard)
    if span is None or (span.lo, span.hi) == (START, DONE):
        return ""
    return str(span.lo)


def listed_keys(report: AuditReport) -> list[str]:
    """The partition keys with the most missing records."""
    if report.keys is None:
        return []
    lines = [f"{key}: {many(missing, 'record')} missing" for key, missing in report.keys.missing]
    if report.keys.others:
        lines.append(f"and {many(report.keys.others, 'more key')}")
    return lines


def quoted(way: Way) -> Sequence[str]:
    """The arguments of a suggested command, quoted for a shell."""
    return [shlex.quote(word) for word in way.arguments]
