"""The findings of a report as text: severity, shards, cost, picture and fix."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence

from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.model.times import instant
from reshardctl.planning.plan import Ask
from reshardctl.render.answer_commands import answers
from reshardctl.render.console import Part, Sheet
from reshardctl.render.forecast_words import (
    already_so,
    is_already,
    new_ones,
    supposed,
    what_was_judged,
)
from reshardctl.render.pictures import Pictures
from reshardctl.render.question_effects import explained
from reshardctl.render.text_fix import Fixes
from reshardctl.render.words import (
    about,
    absolute,
    accepting,
    command,
    counted,
    lead,
    left_in,
    only_if,
    sentence,
    shortened,
)
from reshardctl.report.changes import all_residuals, fixable
from reshardctl.report.forecast import retention_advice
from reshardctl.report.report import Report

SIGNS = {
    Severity.ERROR: ("✗", "red"), Severity.WARNING: ("!", "yellow"), Severity.INFO: ("·", "dim"),
}
BODY = 4
LEFT = 5
"""Shards whose unread records have a line each; `-v` shows all."""


def findings(sheet: Sheet, report: Report) -> None:
    """Every finding, worst first; leftovers in a line or two each."""
    fixes = Fixes(sheet, report)

    def whole(finding: Finding) -> None:
        right = lead(finding.effects, finding.deadline, report.snapshot.now)
        head(sheet, finding, right)
        _sentences(sheet, report, finding)
        _picture(sheet, report, finding)
        fixes.show(finding)

    def brief(finding: Finding) -> str:
        only = only_if(report, finding)
        only = f" (only if {only})" if only else ""
        helps = f"; {finding.helps}" if finding.helps else ""
        verbose = sheet.context.verbose
        return f"{shortened(about(finding, verbose), verbose)}{only}{helps}"

    listed(sheet, report.findings, whole, brief)
    sheet.blank()


def listed(
    sheet: Sheet, findings: Sequence[Finding], whole: Callable[[Finding], None],
    brief: Callable[[Finding], str],
) -> None:
    """Findings one below the other: `whole` writes one, `brief` is what a leftover's line says."""
    for index, finding in enumerate(findings):
        if finding.severity is not Severity.INFO:
            sheet.blank()
            whole(finding)
            continue
        if index and findings[index - 1].severity is not Severity.INFO:
            sheet.blank()
        sheet.line(*_title(finding), f"  {brief(finding)}", indent=2)


def head(sheet: Sheet, finding: Finding, right: str) -> None:
    """A finding's first line; what is most urgent stands at its right."""
    sheet.spread(_title(finding), (right, SIGNS[finding.severity][1]), indent=2)
    sheet.blank()


def _title(finding: Finding) -> list[Part]:
    sign, color = SIGNS[finding.severity]
    return [(f"{sign} {finding.severity}", color), f"  {finding.code}  ", (finding.name, "bold")]


def _sentences(sheet: Sheet, report: Report, finding: Finding) -> None:
    verbose = sheet.context.verbose
    costs = shortened(finding.costs, verbose)
    also = [" ", sentence(costs)] if costs else []
    sheet.line(sentence(shortened(about(finding, verbose), verbose)), *also, indent=BODY)
    if already := already_so(report, finding, verbose):
        sheet.line(already, indent=BODY)
    if only := only_if(report, finding):
        sheet.line(f"Only if {only}.", indent=BODY)
    if finding.deadline is not None and finding.effects:
        sheet.line(sentence(absolute(finding.effects, finding.deadline)), indent=BODY)
    left = left_in(finding.effects)
    for line in left if verbose else left[:LEFT]:
        sheet.line(f"{line}.", indent=BODY)
    if not verbose and len(left) > LEFT:
        more = len(left) - LEFT
        sheet.line(f"And {more} more shards with unread records; -v lists them.", indent=BODY)
    if verbose:
        for why in dict.fromkeys(e.why for e in finding.effects if e.why):
            sheet.line(sentence(why), indent=BODY)


def _picture(sheet: Sheet, report: Report, finding: Finding) -> None:
    context, indent = sheet.context, BODY + 4
    drawer = Pictures(
        report, sheet.width - indent, verbose=context.verbose, plain=context.ascii
    )
    sheet.blank()
    sheet.drawing(drawer.of(finding.shards), indent=indent)
    sheet.blank()


def last_lines(sheet: Sheet, report: Report) -> None:
    """What was judged, the counted line, and the commands that come next."""
    for note in report.notes:
        sheet.line(f"Note: {shortened(note, sheet.context.verbose)}.")
    if report.pace:
        sheet.line((f"{sentence(report.pace)}", "yellow"))
    if judged := what_was_judged(report):
        sheet.line(judged)
    sheet.blank()
    sheet.line((tally(report), "bold"))
    _next(sheet, report)


def tally(report: Report) -> str:
    """The sums of a report: `2 errors, 1 warning, 1 info.  3 fixable.`."""
    if not report.findings:
        return " ".join(["No findings", supposed(report)]).rstrip() + "."
    forecast = f" {condition_text}" if (condition_text := supposed(report)) else ""
    sentences = [f"{', '.join(counted(report.counts()))}{forecast}."]
    if report.snapshot.foreseen is not None:
        sentences.append(new_ones(report))
    elif any(f.severity > Severity.INFO for f in report.findings):
        sentences.append(f"{len(fixable(report))} fixable.")
    return "  ".join(filter(None, sentences))


def retention_advice_first(sheet: Sheet, report: Report) -> None:
    """Write the command that extends retention, above those that repair."""
    if (aid := retention_advice(report)) is None:
        return
    if aid.since is None or aid.since <= report.snapshot.now:
        when = "Records may be expiring already:"
    else:
        when = f"If you cannot fix this before {instant(aid.since)},"
    sheet.line(f"{when} extend the retention period to keep unread records (costs money):")
    sheet.command([shlex.quote(word) for word in aid.argv()])
    sheet.blank()


def _after_a_forecast(sheet: Sheet, report: Report) -> None:
    """What can be done before the reshard, and what is to be done after it."""
    suggested = sheet.context.suggested_command
    if any(is_already(report, f) for f in report.findings if f.severity > Severity.INFO):
        sheet.command(command("inspect", *suggested), "what is already the case, and its fix")
    sheet.command(command("inspect", *suggested, "--wait", "15m"), "after the reshard")


def ask(sheet: Sheet, report: Report, question: Ask) -> None:
    """Each answer's command below what it changes."""
    context, told = sheet.context, explained(report, question)
    for index, arguments in enumerate(answers(report, question, context.suggested_command)):
        if told:
            sheet.remark(told[index])
        sheet.command(command(context.verb, "--dry-run", *arguments, *context.sink))


def _next(sheet: Sheet, report: Report) -> None:
    if report.snapshot.foreseen is not None:
        _after_a_forecast(sheet, report)
        return
    retention_advice_first(sheet, report)
    suggested = sheet.context.suggested_command
    grave = [f for f in report.findings if f.severity > Severity.INFO]
    if fixable(report):
        sheet.command(command("fix", "--dry-run", *suggested), "see the exact writes")
    elif flags := [r.flag for r in all_residuals(report) if r.flag]:
        argv = accepting(suggested, flags)
        sheet.command(command("fix", "--dry-run", *argv), "see what that would write")
    elif isinstance(report.decision, Ask):
        ask(sheet, report, report.decision)
    if grave:
        sheet.command(command("rule", grave[0].code), "what this means")
