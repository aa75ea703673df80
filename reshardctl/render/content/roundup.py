"""Several consumers, judged together: as text, and as plain values that JSON can hold.

At a terminal come the streams, their consumers side by side, then what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf

from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.diagnosis.rules.base import Suppression
from reshardctl.exit import Exit
from reshardctl.model.times import duration, instant
from reshardctl.render.content import report as text_stream
from reshardctl.render.content.report import SIGNS, findings, retention_advice_first
from reshardctl.render.content.report_json import (
    error_json,
    exit_json,
    report_document,
    report_json,
)
from reshardctl.render.content.verdict import left_out
from reshardctl.render.document import Json
from reshardctl.render.escape import time_json
from reshardctl.render.sheet import Part, Sheet
from reshardctl.render.words import (
    REDACTED,
    about,
    command,
    count,
    counted,
    dry_run,
    sentence,
    shards,
    shortened,
)
from reshardctl.report.changes import fixable
from reshardctl.report.forecast import retention_advice
from reshardctl.report.report import Report
from reshardctl.report.results import (
    Entry,
    Roundup,
    Searched,
    behind,
    loss_begins,
    taken_up,
)

HEADS = ("consumer", "store", "open shards", "behind up to", "result")
HEADS_OF_MANY = ("consumer", "stream", "behind up to", "loss begins", "result")
"""Of several streams."""

_FAILED = {
    Exit.USAGE: "cannot be judged", Exit.REFUSED: "refused", Exit.NOTHING_FOUND: "empty",
}


def names_of(stream: str, entries: Sequence[Entry]) -> tuple[str, str]:
    """The stream's name on AWS, and its name in the configuration if that is another, else "".

    stream: the name by which the round-up groups its consumers.
    """
    known = next((entry.report for entry in entries if entry.report is not None), None)
    asked = (entries[0].asked or stream).rpartition("/")[2]
    name = asked if known is None else known.snapshot.lineage.stream.name
    configured = entries[0].origin is not None and stream != name
    return name, stream if configured else ""


def roundup_row(entry: Entry) -> list[str]:
    """The cells of a consumer in the table of its stream."""
    store = "?" if entry.locator is None else entry.locator.consumer
    if entry.report is None:
        return [entry.name, store, "?", "?", result(entry)]
    own, all_open = taken_up(entry.report)
    return [entry.name, store, f"{own}/{all_open}", _behind(entry.report), result(entry)]


def row_of_many(entry: Entry) -> list[str]:
    """The cells of a consumer in the table of several streams."""
    stream = entry.stream or "?"
    if entry.report is None:
        return [entry.name, stream, "?", "?", result(entry)]
    return [
        entry.name, stream, _behind(entry.report), _loss(entry.report), result(entry)
    ]


def _behind(report: Report) -> str:
    late = behind(report)
    return "–" if late is None else duration(late)


def _loss(report: Report) -> str:
    """When the first record is lost that a finding is about: `in 14h`, or that it has begun."""
    begins = loss_begins(report)
    if begins is None:
        return "–"
    left = begins - report.snapshot.now
    return f"in {duration(left)}" if left > 0 else "now"


def of_many(shown: Roundup) -> bool:
    """Whether one table has the consumers of all streams."""
    return shown.searched is not None or len(shown.streams()) > 1


def result(entry: Entry) -> str:
    """`2 errors, 1 info`, `ok`, or that it could not be told."""
    if entry.failure is not None:
        return _FAILED.get(entry.failure.exit, "could not tell")
    assert entry.report is not None
    parts = counted(entry.report.counts()) or ["ok"]
    return ", ".join([*parts, *_not_counted([entry])])


def total(roundup: Roundup) -> str:
    """The sums over all consumers: `2 errors, 1 info in 3 consumers.  2 fixable.`."""
    findings = ", ".join(counted(roundup.counts())) or "No findings"
    parts = [f"{findings} in {count(len(roundup.entries), 'consumer')}."]
    parts += [f"{words}." for words in _not_counted(roundup.entries)]
    if failed := roundup.unjudged():
        parts.append(f"{len(failed)} could not be judged.")
    if any(f.severity > Severity.INFO for r in roundup.reports() for f in r.findings):
        parts.append(f"{sum(len(fixable(r)) for r in roundup.reports())} fixable.")
    if outside := left_out(sum(len(r.left_out) for r in roundup.reports())):
        parts.append(f"{outside}.")
    return "  ".join(parts)


def _not_counted(entries: Iterable[Entry]) -> list[str]:
    """`1 suppressed`, `2 of the baseline`: findings that only a suppression hides until a date."""
    hidden = [by for entry in entries for _, by in entry.sifted.hidden]
    old = sum(by.until is None for by in hidden)
    words = ((len(hidden) - old, "suppressed"), (old, "of the baseline"))
    return [f"{number} {what}" for number, what in words if number]


def hidden(finding: Finding, by: Suppression) -> str:
    """One line on a suppressed finding."""
    return f"{finding.code} {finding.name}: {about(finding)}; {_hiding(by)}: {by.why}"


def _hiding(by: Suppression) -> str:
    if by.until is None:
        return f"not counted ({by.origin})"
    return f"suppressed until {_end(by, by.until)} ({by.origin})"


def expired(by: Suppression) -> str:
    """One line on a suppression that does not hold any more."""
    end = "" if by.until is None else f" at {_end(by, by.until)}"
    return f"the suppression of {by.rule} expired{end} ({by.origin}): {by.why}"


def _end(by: Suppression, until: float) -> str:
    """When it ends, as the file says it: a day, or a time."""
    return f"the end of {by.day} UTC" if by.day else instant(until)


def unused(by: Suppression, kept: Sequence[Finding]) -> str:
    """One line on a suppression that hides nothing. kept: the findings that count."""
    if further := dict.fromkeys(shard for finding in kept for shard in by.beyond(finding)):
        what = f"the finding is also on shard{'' if len(further) == 1 else 's'} {shards(further)}"
        if by.until is None:
            return f"{by.rule} of {by.origin} hides nothing: {what} now, which is new"
        return (
            f"the suppression of {by.rule} ({by.origin}) hides nothing: {what}, which it does not "
            "name"
        )
    if by.until is None:
        return f"{by.rule} of {by.origin} no longer occurs; make a new baseline"
    return f"the suppression of {by.rule} ({by.origin}) no longer hides a finding; delete it"


def remarks(entry: Entry) -> list[str]:
    """What is to be said of its suppressions, beside the findings that they hide."""
    return [
        *(expired(suppression) for suppression in entry.sifted.expired),
        *(unused(suppression, entry.sifted.kept) for suppression in entry.sifted.unused),
    ]


def failed(entry: Entry) -> list[str]:
    """Why it could not be judged, and what next."""
    assert entry.failure is not None
    return [part for part in (entry.failure.what, entry.failure.next) if part]


def _unread(entries: Sequence[Entry]) -> str:
    """Of a stream without a judged consumer."""
    failures = [entry.failure for entry in entries if entry.failure is not None]
    empty = all(failure.exit is Exit.NOTHING_FOUND for failure in failures)
    return "no consumer has a position" if empty else "could not be read"


def roundup(sheet: Sheet, shown: Roundup) -> None:
    """The table; then every consumer with something to say; the count last."""
    if of_many(shown):
        if shown.entries:
            sheet.blank()
            rows = [_colored(row_of_many(entry), entry) for entry in shown.entries]
            sheet.table(HEADS_OF_MANY, rows, wraps=("consumer", "stream", "result"))
    else:
        for stream, entries in shown.streams().items():
            _stream(sheet, stream, entries)
    for entry in shown.entries:
        _entry(sheet, entry, of_many(shown))
    _last(sheet, shown)


def _stream(sheet: Sheet, stream: str, entries: Sequence[Entry]) -> None:
    """A stream, and the table of its consumers."""
    sheet.blank()
    known = next((entry.report for entry in entries if entry.report is not None), None)
    name, configured = names_of(stream, entries)
    more = [f"configured as {configured}"] if configured else []
    if known is None:
        sheet.fields((name, "bold"), *more, _unread(entries))
    else:
        text_stream.forecast(sheet, known)
        text_stream.stream(sheet, known, *more)
    sheet.blank()
    rows = [_colored(roundup_row(entry), entry) for entry in entries]
    sheet.table(HEADS, rows, wraps=("consumer", "result"), indent=2)


def _colored(row: Sequence[str], entry: Entry) -> list[Part]:
    *cells, result = row
    return [*cells, (result, _color(entry))]


def _color(entry: Entry) -> str:
    if entry.failure is not None:
        return "red"
    worst = max((f.severity for f in entry.report.findings), default=None) if entry.report else None
    return "" if worst is None else SIGNS[worst][1]


def _entry(sheet: Sheet, entry: Entry, several: bool) -> None:
    """Nothing for a consumer of which all is well."""
    notes, report = remarks(entry), entry.report
    if report is not None and report.findings:
        verbose = sheet.context.verbose
        told = text_stream.shown_notes(report, verbose)
        notes = [*(shortened(note, verbose) for note in told), *notes]
    elif report is not None:
        notes = [*report.caveats, *notes]
        if not entry.sifted.hidden and not notes and not report.pace:
            return
    sheet.blank()
    sheet.fields((entry.name, "bold"), *_store(entry, several))
    if entry.failure is not None:
        sheet.blank()
        first, *others = failed(entry)
        sheet.line((f"{result(entry)}: ", "red"), first, indent=2)
        for line in others:
            sheet.line(line, indent=4)
    elif report is not None:
        findings(sheet, report)
    for finding, by in entry.sifted.hidden:
        sheet.line(("· ", "dim"), hidden(finding, by), indent=2)
    for note in notes:
        sheet.line(f"Note: {sentence(note)}", indent=2)
    if report is not None and report.pace:
        sheet.line((sentence(report.pace), "yellow"), indent=2)


def _store(entry: Entry, several: bool) -> list[str]:
    """Where its positions are, if its name does not say it; and of several streams, which."""
    where = [entry.locator.text] if entry.origin and entry.locator else []
    return [*where, *([entry.stream] if several and entry.stream else [])]


def searched_lines(shown: Roundup) -> Iterator[str]:
    """Where consumers were looked for, and which tables hold no position of these streams."""
    searched, found = shown.searched, shown.entries
    if searched is None:
        return
    where = ", ".join(searched.regions)
    yield (
        f"Looked at {count(searched.tables, 'table')} in {where}, and at "
        f"{count(searched.streams, 'stream')}."
    )
    if not found:
        yield "No consumer was found: are account and region the right ones?"
    holding: dict[str, list[str]] = {}
    for table, what in searched.idle:
        holding.setdefault(what, []).append(table)
    for what, tables in holding.items():
        yield f"Nothing to judge in {', '.join(tables)}: {what}."


def _last(sheet: Sheet, shown: Roundup) -> None:
    """The commands that come next, what was judged, and the count."""
    sheet.blank()
    for report in _most_urgent(shown):
        retention_advice_first(sheet, report)
    for entry in shown.entries:
        judged = entry.report
        if judged is not None and fixable(judged) and not judged.options.redacted:
            sheet.command(dry_run(judged, entry.suggested_command))
    grave = [f for r in shown.reports() for f in r.findings if f.severity > Severity.INFO]
    if grave and any(r.options.redacted for r in shown.reports()):
        sheet.line(REDACTED)
    if grave and sheet.context.verbose:
        first = max(grave, key=lambda f: f.severity)
        sheet.command(command("rule", first.code), "what this means")
    sheet.blank()
    if watched := [r.snapshot.watched for r in shown.reports() if r.snapshot.watched]:
        seconds = f"{watched[0].seconds:.0f} s"
        sheet.line(f"Each consumer's next start; running ones were watched for {seconds}.")
    elif any(r.snapshot.foreseen for r in shown.reports()):
        sheet.line("Each consumer's first start after that reshard.")
    elif any(shown.reports()):
        sheet.line("Each consumer's next start; whether they run was not checked.")
    for line in searched_lines(shown):
        sheet.line(line)
    sheet.line((total(shown), "bold"))


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


def roundup_document(shown: Roundup) -> Json:
    """Every consumer with its own report or error, in the order of the file."""
    return {
        "exit": exit_json(shown.exit),
        "counts": {
            **shown.counts(), "consumers": len(shown.entries),
            "suppressed": shown.suppressed(), "unjudged": len(shown.unjudged()),
        },
        "consumers": [_entry_json(entry) for entry in shown.entries],
        "searched": None if shown.searched is None else _searched_json(shown.searched),
    }


def _searched_json(searched: Searched) -> Json:
    return {
        "streams": searched.streams, "tables": searched.tables, "regions": list(searched.regions),
        "idle": [{"table": table, "holds": what} for table, what in searched.idle],
    }


def _entry_json(entry: Entry) -> Json:
    """One consumer; `report` and `error` are as in a document of their own, one of them null."""
    report = entry.report
    return {
        **_named(entry),
        "exit": exit_json(entry.exit),
        "behind_seconds": None if report is None else behind(report),
        "loss_begins": None if report is None else time_json(loss_begins(report)),
        "report": None if report is None else report_json(report, entry.exit),
        "error": None if entry.failure is None else error_json(entry.failure),
        "suppressed": _suppressed(entry),
        "expired": [_suppression(suppression) for suppression in entry.sifted.expired],
        "unused": [_suppression(suppression) for suppression in entry.sifted.unused],
    }


def _named(entry: Entry) -> Json:
    """What tells a consumer from the others."""
    origin = entry.origin
    return {
        "name": entry.name, "stream": entry.stream,
        "origin": None if origin is None else {"file": origin[0], "line": origin[1]},
    }


def _suppressed(entry: Entry) -> list[Json]:
    """Findings that are hidden, each with what hides it."""
    if entry.hidden is None:
        return []
    findings = report_document(entry.hidden)["findings"]
    return [
        {"finding": finding, "by": _suppression(by)}
        for finding, (_, by) in zip(findings, entry.sifted.hidden, strict=True)
    ]


def _suppression(suppression: Suppression) -> Json:
    return {
        "rule": suppression.rule, "shards": sorted(suppression.shards),
        "until": time_json(suppression.until),
        **({"day": suppression.day} if suppression.day else {}),
        "why": suppression.why, "origin": suppression.origin,
    }
