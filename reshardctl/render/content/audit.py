"""An audit as text, as Markdown to paste into an issue, and as plain values that JSON can hold.

All show the sink, what is wrong with it, every shard's numbers, and what was not seen. Texts that
every format shows are not escaped yet. Every object of the JSON has all of its members, always.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from reshardctl.auditing.coverage import Unknowable, time_in
from reshardctl.auditing.facts import Bucket, Compared, InSink, Record, Unusable
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.diagnosis.rules.sinks import many
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, ShardId, short
from reshardctl.model.times import duration, instant
from reshardctl.render.content.report import BODY, head, listed, stream_line
from reshardctl.render.content.report_json import stream_document
from reshardctl.render.document import Json
from reshardctl.render.escape import time_json
from reshardctl.render.markdown_words import Page, code, prose
from reshardctl.render.sheet import Part, Sheet
from reshardctl.render.words import about, clock, counted, sentence, shortened
from reshardctl.report.audit import AuditReport, Keys, ShardCoverage, Way

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


ROWS_AT_A_TERMINAL = 40
"""Shards that the table shows without -v."""
SILENT = frozenset({"too many", "out of order"})
"""Columns that are left out where there is nothing in them."""


def audit(sheet: Sheet, report: AuditReport) -> None:
    """Everything."""
    verbose = sheet.context.verbose

    def whole(finding: Finding) -> None:
        head(sheet, finding, by_when(finding, report.facts.taken))
        for part in _parts(finding, verbose):
            sheet.line(sentence(shortened(part, verbose)), indent=BODY)

    def brief(finding: Finding) -> str:
        return shortened("; ".join(_parts(finding, verbose)), verbose)

    _header(sheet, report)
    listed(sheet, report.findings, whole, brief)
    _keys(sheet, report)
    sheet.blank()
    _table(sheet, report)
    sheet.blank()
    for line in remarks(report):
        sheet.line(line)
    sheet.blank()
    sheet.line((total(report), "bold"))
    for way in report.ways:
        sheet.line((way.why, "dim"), indent=2)
        sheet.command(quoted(way), indent=4)


def _header(sheet: Sheet, report: AuditReport) -> None:
    stream_line(sheet, report.lineage, report.facts.taken)
    sheet.fields((report.facts.sink, "bold"), *sink_words(report))
    if report.stored is not None:
        sheet.fields(report.stored.consumer)
    sheet.blank()


def _parts(finding: Finding, verbose: bool) -> list[str]:
    return [part for part in (about(finding, verbose), finding.costs, finding.helps) if part]


def _keys(sheet: Sheet, report: AuditReport) -> None:
    if report.keys is None:
        return
    sheet.blank()
    sheet.line("Partition keys with missing records, the largest number first:", indent=2)
    for line in listed_keys(report) or ["none"]:
        sheet.line(line, indent=BODY)


def _table(sheet: Sheet, report: AuditReport) -> None:
    most = len(report.coverages) if sheet.context.verbose else ROWS_AT_A_TERMINAL
    shown, left = worst_first(report, most)
    if not shown:
        return
    names, rows = list(heads(report)), [cells(report, coverage) for coverage in shown]
    kept = _kept(names, rows)
    sheet.table(
        [names[index] for index in kept],
        [[_marked(row[index], names[index]) for index in kept] for row in rows], indent=2,
    )
    if left:
        sheet.line(f"And {left:,} more shards; -v shows all.", indent=2)


def _kept(names: list[str], rows: list[list[str]]) -> list[int]:
    """Indexes of the columns that have anything in them."""
    return [
        index for index, name in enumerate(names)
        if name not in SILENT or any(row[index] not in ("0", "?") for row in rows)
    ]


def _marked(cell: str, head: str) -> Part:
    if head == "missing" and cell not in ("0", "?"):
        return (cell, "red")
    if head in ("too many", "out of order") and cell not in ("0", "?"):
        return (cell, "yellow")
    return cell


ROWS = 200


def audit_markdown(page: Page, report: AuditReport) -> None:
    """The whole page."""
    page.heading(1, f"Audit: {code(report.facts.sink)}")
    stream = report.lineage.stream
    page.table(["", ""], [
        ["stream", code(stream.arn)],
        ["created", instant(stream.created)],
        ["sink", prose(", ".join(sink_words(report)))],
        *([["consumer", code(report.stored.consumer)]] if report.stored is not None else []),
    ])
    page.heading(2, "Findings")
    now = report.facts.taken
    page.findings(total(report), "next", [
        (finding, (finding.what, finding.costs), by_when(finding, now), finding.helps)
        for finding in report.findings
    ])
    if report.keys is not None:
        page.heading(2, "Partition keys with the most missing records")
        page.bullets(prose(line) for line in listed_keys(report) or ["none"])
    _shards(page, report)
    page.heading(2, "Coverage and notes")
    page.bullets(prose(line) for line in remarks(report))
    if report.ways:
        page.heading(2, "Next")
    for way in report.ways:
        page.line(prose(f"{sentence(way.why).removesuffix('.')}:"))
        page.command(quoted(way))


def _shards(page: Page, report: AuditReport) -> None:
    shown, left = worst_first(report, len(report.coverages) if page.context.verbose else ROWS)
    if not shown:
        return
    page.heading(2, "Shards")
    page.table(heads(report), [
        [prose(cell) for cell in cells(report, coverage)] for coverage in shown
    ])
    if left:
        page.line(f"And {left:,} more shards.")


def audit_document(report: AuditReport) -> Json:
    """An audit without its schema, exit code and buckets of time."""
    facts = report.facts
    return {
        "taken": instant(facts.taken),
        "stream": stream_document(report.lineage),
        "sink": {
            "name": facts.sink, "form": facts.form, "rows": facts.rows,
            "ordered_by": facts.ordered_by or None, "changed": facts.changed or None,
        },
        "consumer": None if report.stored is None else report.stored.consumer,
        "against_stream": report.against_stream,
        "counts": report.counts(),
        "findings": [_finding(finding) for finding in report.findings],
        "records": {
            "read": report.read if report.against_stream else None,
            "missing": report.missing if report.against_stream else None,
            "doubled": sum(inside.doubled for inside in facts.shards.values()),
            "extra": sum(inside.extra for inside in facts.shards.values()),
        },
        "shards": [_standing(report, coverage) for coverage in report.coverages],
        "unusable": [_unusable(unusable) for unusable in facts.unusable],
        "keys": _keys_json(report.keys),
        "saved": report.saved or None,
        "notes": [*report.notes, *report.lacking],
        "next": [{"command": list(way.arguments), "why": way.why} for way in report.ways],
    }


def bucket_document(bucket: Bucket) -> Json:
    """A stretch of one shard's time."""
    return {
        "shard": bucket.shard, "since": instant(bucket.since), "seconds": bucket.seconds,
        "rows": bucket.rows, "missing": bucket.missing, "extra": bucket.extra,
    }


def _finding(finding: Finding) -> Json:
    deadline = finding.deadline
    return {
        "code": finding.code, "name": finding.name, "severity": str(finding.severity),
        "shards": list(finding.shards), "what": finding.what, "costs": finding.costs,
        "helps": finding.helps,
        "deadline": None if deadline is None else {
            "starts": time_json(deadline.starts), "complete": time_json(deadline.complete),
            "probed": deadline.probed,
        },
    }


def _standing(report: AuditReport, coverage: ShardCoverage) -> Json:
    lineage: Lineage = report.lineage
    listed = coverage.shard in lineage
    return {
        "shard": coverage.shard, "state": life(report, coverage.shard),
        "opened": time_json(lineage.opened_at(coverage.shard)) if listed else None,
        "closed": time_json(lineage.closed_at(coverage.shard)) if listed else None,
        "parents": list(lineage[coverage.shard].parents) if listed else [],
        "sink": None if coverage.inside is None else _inside(coverage.inside),
        "compared": None if coverage.compared is None else _compared_json(coverage.compared),
        "window": None if coverage.window is None else {
            "since": time_json(coverage.window.since), "until": time_json(coverage.window.until),
        },
        "unknowable": [_gap(gap) for gap in coverage.unknowable],
        "position": coverage.position, "processed": processed_words(report, coverage.shard) or None,
        "codes": list(coverage.codes),
    }


def _inside(inside: InSink) -> Json:
    return {
        "rows": inside.rows, "first": _record(inside.first), "last": _record(inside.last),
        "doubled": inside.doubled, "extra": inside.extra, "disordered": inside.disordered,
        "proven": _record(inside.proven), "proof": inside.proof or None,
    }


def _compared_json(compared: Compared) -> Json:
    return {
        "read": compared.read, "missing": compared.missing, "first": _record(compared.since),
        "last": _record(compared.until), "whole": compared.whole, "ended": compared.ended,
        "tip": compared.tip, "short": compared.short or None,
        "first_missing": _record(compared.first_missing),
        "last_missing": _record(compared.last_missing),
        "before_missing": _record(compared.before_missing),
    }


def _record(record: Record | None) -> Json | None:
    if record is None:
        return None
    return {"number": record.number, "sub": record.sub, "arrival": time_json(record.arrival)}


def _gap(gap: Unknowable) -> Json:
    return {"since": time_json(gap.since), "until": time_json(gap.until), "why": gap.why}


def _unusable(unusable: Unusable) -> Json:
    return {
        "fault": str(unusable.fault), "rows": unusable.rows, "shard": unusable.shard,
        "samples": list(unusable.samples),
    }


def _keys_json(keys: Keys | None) -> Json | None:
    if keys is None:
        return None
    return {
        "most_missing": [{"key": key, "missing": count} for key, count in keys.missing],
        "others": keys.others,
    }
