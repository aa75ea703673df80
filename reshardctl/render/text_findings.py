"""Findings as text: sign and word, shards, cost, picture, fix."""

from __future__ import annotations

import shlex

from reshardctl.diagnosis.report import Report
from reshardctl.diagnosis.retention_advice import retention_advice
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.model.times import instant
from reshardctl.planning.plan import Ask
from reshardctl.render.answer_commands import answers
from reshardctl.render.console import Part, Sheet
from reshardctl.render.context import Context
from reshardctl.render.finding_repair import all_residuals, fixable
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
    absolute,
    accepting,
    command,
    condition,
    count,
    lead,
    left_in,
    sentence,
    shards,
    shortened,
)

SIGNS = {
    Severity.ERROR: ("✗", "red"), Severity.WARNING: ("!", "yellow"), Severity.INFO: ("·", "dim"),
}
BODY = 4
LEFT = 5
"""Shards whose records are told one by one; `-v` shows all."""


def findings(sheet: Sheet, report: Report, context: Context) -> None:
    """Every finding, worst first; leftovers in a line or two each."""
    fixes = Fixes(sheet, report, context)
    for index, finding in enumerate(report.findings):
        if finding.severity is Severity.INFO:
            if index and report.findings[index - 1].severity is not Severity.INFO:
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
    if already := already_so(report, finding, context.verbose):
        sheet.line(already, indent=BODY)
    if only := condition(finding.when, [j.candidate for j in report.judged]):
        sheet.line(f"Only if {only}.", indent=BODY)
    if finding.deadline is not None and finding.effects:
        sheet.line(sentence(absolute(finding.effects, finding.deadline)), indent=BODY)
    left = left_in(finding.effects)
    for line in left if context.verbose else left[:LEFT]:
        sheet.line(f"{line}.", indent=BODY)
    if not context.verbose and len(left) > LEFT:
        sheet.line(f"And so in {len(left) - LEFT} more shards; -v shows them.", indent=BODY)
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
    if words := what_was_judged(report):
        sheet.line(words)
    sheet.blank()
    sheet.line((tally(report), "bold"))
    _next(sheet, report, context)


def tally(report: Report) -> str:
    """`2 errors, 1 warning, 1 info.  3 fixable.`"""
    if not report.findings:
        return " ".join(["No findings", supposed(report)]).rstrip() + "."
    counts = report.counts()
    parts = [
        count(counts[str(s)], str(s), "info" if s is Severity.INFO else "")
        for s in (Severity.ERROR, Severity.WARNING, Severity.INFO) if counts[str(s)]
    ]
    mended = len(fixable(report))
    grave = any(f.severity > Severity.INFO for f in report.findings)
    said = [", ".join(parts) + (f" {words}." if (words := supposed(report)) else ".")]
    if report.snapshot.foreseen is not None:
        said.append(new_ones(report))
    elif grave:
        said.append(f"{mended} fixable.")
    return "  ".join(filter(None, said))


def first_aid_first(sheet: Sheet, report: Report) -> None:
    """The command that buys time, before those that mend."""
    if (aid := retention_advice(report)) is None:
        return
    if aid.since is None or aid.since <= report.snapshot.now:
        when = "as records may be expiring already"
    else:
        when = f"if it cannot be mended by {instant(aid.since)}"
    sheet.line(f"First aid, {when}: keep unread records longer, for money.")
    sheet.command([shlex.quote(word) for word in aid.argv()])
    sheet.blank()


def _after_a_forecast(sheet: Sheet, report: Report, context: Context) -> None:
    """What can be done before the reshard, and what is to be done after it."""
    if any(is_already(report, f) for f in report.findings if f.severity > Severity.INFO):
        sheet.command(
            command("inspect", *context.suggested_command), "what is so already, and its fix"
        )
    after = command("inspect", *context.suggested_command, "--wait", "15m")
    sheet.command(after, "once it has been made")


def ask(sheet: Sheet, report: Report, question: Ask, context: Context) -> None:
    """Each answer's command below what it changes."""
    told = explained(report, question)
    for index, words in enumerate(answers(report, question, context.suggested_command)):
        if told:
            sheet.remark(told[index])
        sheet.command(command(context.verb, "--dry-run", *words, *context.sink))


def _next(sheet: Sheet, report: Report, context: Context) -> None:
    if report.snapshot.foreseen is not None:
        _after_a_forecast(sheet, report, context)
        return
    first_aid_first(sheet, report)
    grave = [f for f in report.findings if f.severity > Severity.INFO]
    if fixable(report):
        sheet.command(
            command("fix", "--dry-run", *context.suggested_command), "see the exact writes"
        )
    elif flags := [r.flag for r in all_residuals(report) if r.flag]:
        words = accepting(context.suggested_command, flags)
        sheet.command(command("fix", "--dry-run", *words), "what that would do")
    elif isinstance(report.decision, Ask):
        ask(sheet, report, report.decision, context)
    if grave:
        sheet.command(command("rule", grave[0].code), "what this means")
