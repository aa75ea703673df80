"""Findings as text: sign and word, shards, cost, picture, fix."""

from __future__ import annotations

from reshardctl.plan import Ask
from reshardctl.render.answers import answers
from reshardctl.render.console import Part, Sheet
from reshardctl.render.context import Context
from reshardctl.render.mending import all_residuals, fixable
from reshardctl.render.pictures import Pictures
from reshardctl.render.text_fix import Fixes
from reshardctl.render.words import (
    absolute,
    accepting,
    command,
    condition,
    count,
    judged,
    lead,
    sentence,
    shards,
    shortened,
)
from reshardctl.report import Report
from reshardctl.rules import Finding, Severity

SIGNS = {
    Severity.ERROR: ("✗", "red"), Severity.WARNING: ("!", "yellow"), Severity.INFO: ("·", "dim"),
}
BODY = 4


def findings(sheet: Sheet, report: Report, context: Context) -> None:
    """Every finding, worst first; leftovers in a line or two each."""
    fixes = Fixes(sheet, report, context)
    for place, finding in enumerate(report.findings):
        if finding.severity is Severity.INFO:
            if place and report.findings[place - 1].severity is not Severity.INFO:
                sheet.blank()
            _leftover(sheet, report, finding, context)
        else:
            sheet.blank()
            _finding(sheet, report, finding, context)
            fixes.show(finding)
    sheet.blank()


def _finding(sheet: Sheet, report: Report, finding: Finding, context: Context) -> None:
    sign, color = SIGNS[finding.severity]
    head: list[Part] = [
        (f"{sign} {finding.severity}", color), f"  {finding.code}  ", (finding.name, "bold"),
    ]
    now = report.snapshot.now
    sheet.spread(head, (lead(finding.effects, finding.deadline, now), color), indent=2)
    sheet.blank()
    words = shortened(_named(finding, context), context.verbose)
    sheet.line(sentence(words), *_also(finding, context), indent=BODY)
    if only := condition(finding.when, [j.candidate for j in report.judged]):
        sheet.line(f"Only if {only}.", indent=BODY)
    if finding.deadline is not None and finding.effects:
        sheet.line(sentence(absolute(finding.effects, finding.deadline)), indent=BODY)
    if context.verbose:
        for why in dict.fromkeys(e.why for e in finding.effects if e.why):
            sheet.line(sentence(why), indent=BODY)
    _picture(sheet, report, finding, context)


def _named(finding: Finding, context: Context) -> str:
    named = shards(finding.shards, context.verbose)
    return f"{named}: {finding.what}" if named else finding.what


def _also(finding: Finding, context: Context) -> list[Part]:
    costs = shortened(finding.costs, context.verbose)
    return [" ", sentence(costs)] if costs else []


def _picture(sheet: Sheet, report: Report, finding: Finding, context: Context) -> None:
    drawn = Pictures(report, verbose=context.verbose, plain=context.ascii).of(finding.shards)
    sheet.blank()
    sheet.drawing(drawn, indent=BODY + 4)
    sheet.blank()


def _leftover(sheet: Sheet, report: Report, finding: Finding, context: Context) -> None:
    sign, color = SIGNS[finding.severity]
    what = shortened(_named(finding, context), context.verbose)
    only = condition(finding.when, [j.candidate for j in report.judged])
    only = f" (only if {only})" if only else ""
    helps = f"; {finding.helps}" if finding.helps else ""
    sheet.line(
        (f"{sign} {finding.severity}", color), f"  {finding.code}  ", (finding.name, "bold"),
        f"  {what}{only}{helps}", indent=2,
    )


def last_lines(sheet: Sheet, report: Report, context: Context) -> None:
    """What was judged, the counted line, and the commands that come next."""
    for note in report.notes:
        sheet.line(f"Note: {shortened(note, context.verbose)}.")
    candidates = [j.candidate for j in report.judged]
    if candidates:
        sheet.line(
            f"Judged: the consumer's next start, for {judged(candidates)}. "
            "Whether it runs now was not looked at."
        )
    sheet.blank()
    sheet.line((tally(report), "bold"))
    _next(sheet, report, context)


def tally(report: Report) -> str:
    """`2 errors, 1 warning, 1 info.  3 fixable.`"""
    if not report.findings:
        return "No findings."
    counts = report.counts()
    parts = [
        count(counts[str(s)], str(s), "info" if s is Severity.INFO else "")
        for s in (Severity.ERROR, Severity.WARNING, Severity.INFO) if counts[str(s)]
    ]
    mended = len(fixable(report))
    grave = any(f.severity > Severity.INFO for f in report.findings)
    return ", ".join(parts) + "." + (f"  {mended} fixable." if grave else "")


def _next(sheet: Sheet, report: Report, context: Context) -> None:
    grave = [f for f in report.findings if f.severity > Severity.INFO]
    if fixable(report):
        sheet.command(command("fix", "--dry-run", *context.again), "see the exact writes")
    elif flags := [r.flag for r in all_residuals(report) if r.flag]:
        words = accepting(context.again, flags)
        sheet.command(command("fix", "--dry-run", *words), "what that would do")
    elif isinstance(report.decision, Ask):
        for answer in answers(report, report.decision, context.again):
            sheet.command(command("fix", "--dry-run", *answer))
    if grave:
        sheet.command(command("rule", grave[0].code), "what this means")
