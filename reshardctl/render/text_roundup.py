"""For people at a terminal: the streams, their consumers side by side, then what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from reshardctl.diagnosis.rules import Severity
from reshardctl.render import text_findings, text_stream
from reshardctl.render.console import Part, Sheet
from reshardctl.render.roundup_words import HEADS, failed, hidden, names_of, remarks, row, total
from reshardctl.render.words import command, sentence, shortened
from reshardctl.report.changes import fixable
from reshardctl.report.forecast import retention_advice
from reshardctl.report.report import Report
from reshardctl.report.results import Entry, Roundup


def roundup(sheet: Sheet, shown: Roundup) -> None:
    """A table a stream; then every consumer with something to say; the count last."""
    for stream, entries in shown.streams().items():
        sheet.blank()
        known = next((entry.report for entry in entries if entry.report is not None), None)
        name, configured = names_of(stream, entries)
        more = [f"configured as {configured}"] if configured else []
        if known is None:
            sheet.fields((name, "bold"), *more, "could not be read")
        else:
            text_stream.forecast(sheet, known)
            text_stream.stream(sheet, known, *more)
        sheet.blank()
        rows = [_row(entry) for entry in entries]
        sheet.table(HEADS, rows, wraps=("consumer", "result"), indent=2)
    for entry in shown.entries:
        _entry(sheet, entry)
    _last(sheet, shown)


def _row(entry: Entry) -> list[Part]:
    *cells, result = row(entry)
    return [*cells, (result, _color(entry))]


def _color(entry: Entry) -> str:
    if entry.failure is not None:
        return "red"
    worst = max((f.severity for f in entry.report.findings), default=None) if entry.report else None
    return "" if worst is None else text_findings.SIGNS[worst][1]


def _entry(sheet: Sheet, entry: Entry) -> None:
    """Nothing for a consumer of which all is well."""
    notes, report = remarks(entry), entry.report
    if report is not None and report.findings:
        notes = [*(shortened(n, sheet.context.verbose) for n in report.notes), *notes]
    elif report is not None:
        notes = [*report.caveats, *notes]
        if not entry.sifted.hidden and not notes and not report.pace:
            return
    sheet.blank()
    sheet.fields((entry.name, "bold"), *([entry.locator.text] if entry.origin else []))
    if entry.failure is not None:
        sheet.blank()
        first, *others = failed(entry)
        sheet.line(("could not tell: ", "red"), first, indent=2)
        for line in others:
            sheet.line(line, indent=4)
    elif report is not None:
        text_findings.findings(sheet, report)
    for finding, by in entry.sifted.hidden:
        sheet.line(("· ", "dim"), hidden(finding, by), indent=2)
    for note in notes:
        sheet.line(f"Note: {sentence(note)}", indent=2)
    if report is not None and report.pace:
        sheet.line((sentence(report.pace), "yellow"), indent=2)


def _last(sheet: Sheet, shown: Roundup) -> None:
    sheet.blank()
    if watched := [r.snapshot.watched for r in shown.reports() if r.snapshot.watched]:
        sheet.line(
            "This report predicts each consumer's next start. "
            f"Running consumers were watched for {watched[0].seconds:.0f} s."
        )
    elif any(r.snapshot.foreseen for r in shown.reports()):
        sheet.line("This report predicts each consumer's first start after that reshard.")
    elif any(shown.reports()):
        sheet.line(
            "This report predicts each consumer's next start. "
            "Whether consumers are running was not checked."
        )
    sheet.blank()
    sheet.line((total(shown), "bold"))
    for report in _most_urgent(shown):
        text_findings.retention_advice_first(sheet, report)
    for entry in shown.entries:
        if entry.report is not None and fixable(entry.report):
            sheet.command(
                command("fix", "--dry-run", *entry.suggested_command), "see the exact writes"
            )
    grave = [f for r in shown.reports() for f in r.findings if f.severity > Severity.INFO]
    if grave:
        first = max(grave, key=lambda f: f.severity)
        sheet.command(command("rule", first.code), "what this means")


def _most_urgent(shown: Roundup) -> Iterator[Report]:
    """Of each stream, the report that needs its retention first."""
    by_stream: dict[str, tuple[float, Report]] = {}
    for report in shown.reports():
        if (aid := retention_advice(report)) is not None:
            since = inf if aid.since is None else aid.since
            arn = report.snapshot.lineage.stream.arn
            if arn not in by_stream or since < by_stream[arn][0]:
                by_stream[arn] = (since, report)
    yield from (report for _, report in by_stream.values())
