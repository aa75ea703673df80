"""A runbook for one incident: what is wrong, the steps in their order, and the way back.

GitHub-flavoured Markdown to paste into an issue: numbered tasks to tick off with the commands
filled in, a table of the rows before and after, what it costs, and the undo. `docs/runbook.md`
is the same without an incident.
"""

from __future__ import annotations

from collections.abc import Iterable

from reshardctl.model import ShardId, Step
from reshardctl.model.times import instant
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Plan
from reshardctl.render.forecast_words import already_so, happening, supposed
from reshardctl.render.markdown_steps import plan_file, runbook
from reshardctl.render.markdown_words import Page, code, prose
from reshardctl.render.plain import remedy
from reshardctl.render.text_findings import tally
from reshardctl.render.text_fix import left_alone
from reshardctl.render.text_plan import codes, counts, remaining, undo_words
from reshardctl.render.text_undo import nothing
from reshardctl.render.while_running import plan_words, write_words
from reshardctl.render.words import (
    absolute,
    command,
    count,
    elsewhere,
    only_if,
    sentence,
    shortened,
    widest,
)
from reshardctl.report.changes import all_residuals, changes, costs_after
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed, Saved, Undoing


def fixed(page: Page, outcome: Fixed) -> None:
    """What was written, what is left to do, and the way back."""
    suggested = page.context.suggested_command
    page.heading(1, f"Fixed: {code(outcome.before.snapshot.locator.text)}")
    page.line(f"Journal: {code(outcome.journal)}")
    if outcome.recognised:
        page.line(f"{count(outcome.recognised, 'step')} in place already.")
    page.heading(2, "Before and after")
    _rows(page, outcome.before, outcome.steps)
    page.heading(2, "Findings now")
    _findings(page, outcome.after)
    page.bullets(f"Note: {prose(sentence(caveat))}" for caveat in outcome.after.caveats)
    page.heading(2, "Steps")
    page.steps([
        ("Start the application again.", []),
        ("Inspect again.", [command("inspect", *suggested)]),
    ])
    page.heading(2, "Undo")
    page.line("Only before the application saves positions again:")
    page.command(command("undo", outcome.journal, *elsewhere(suggested)))


def undo(page: Page, undoing: Undoing) -> None:
    """The rows that an undo puts back, and what is to be done then."""
    suggested, dry = page.context.suggested_command, undoing.written is None
    page.heading(1, ("Undo: " if dry else "Undone: ") + code(undoing.now.snapshot.locator.text))
    kind = "Plan" if undoing.of_plan and dry else "Journal"
    page.line(f"{kind}: {code(undoing.journal)}" + (
        " – nothing was written." if dry and undoing.dry_run else ""
    ))
    if undoing.steps:
        page.heading(2, "Before and after")
        _rows(page, undoing.now, undoing.steps)
    else:
        page.line(nothing(undoing))
    page.bullets(f"Stays: {prose(line)}" for line in undoing.kept)
    page.heading(2, "Findings after the undo")
    if undoing.after is None:
        page.line("The store holds no position.")
    else:
        _findings(page, undoing.after)
    page.heading(2, "Steps")
    back = command("undo", undoing.journal, *elsewhere(suggested))
    wanted = [
        ("Stop every worker of the application.", []), ("Put the rows back.", [back]),
    ] if dry and undoing.steps else []
    page.steps([*wanted, ("Inspect again.", [command("inspect", *suggested)])])


def runbook_page(page: Page, report: Report, saved: Saved | None = None) -> None:
    """The whole runbook. saved: the file that holds the plan already, if one does."""
    kind = "Runbook" if report.snapshot.foreseen is None else "Forecast"
    page.heading(1, f"{kind}: {code(report.snapshot.locator.text)}")
    if forecast := supposed(report):
        page.line(prose(f"{sentence(forecast)[:-1]}: {happening(report)}. Nothing was resharded."))
    _facts(page, report)
    page.heading(2, "Findings")
    _findings(page, report)
    page.heading(2, "Steps")
    page.steps(runbook(report, page.context, saved))
    if isinstance(report.decision, Plan) and report.snapshot.foreseen is None:
        _planned(page, report, report.decision, saved)
    page.bullets(prose(sentence(left_alone(r))) for r in all_residuals(report))
    notes = [sentence(shortened(note, page.context.verbose)) for note in report.notes]
    page.bullets(f"Note: {prose(note)}" for note in notes)


def _facts(page: Page, report: Report) -> None:
    snapshot = report.snapshot
    stream, opened = snapshot.lineage.stream, snapshot.lineage.open_count()
    page.table(["", ""], [
        ["stream", code(stream.arn)],
        ["created", instant(stream.created)],
        ["shards", f"{opened} open, {len(snapshot.lineage) - opened} closed"],
        ["retention", f"{stream.retention // 3600} h"],
        *([f"store {name}", code(value)] for name, value in sorted(snapshot.store.items())),
        ["read", instant(snapshot.now)],
        ["policy", report.options.policy.name],
    ])


def _findings(page: Page, report: Report) -> None:
    verbose = page.context.verbose
    rows = []
    for finding in report.findings:
        only = only_if(report, finding)
        already = already_so(report, finding, verbose)
        parts = [finding.what, finding.costs, f"only if {only}" if only else "", already]
        by = absolute(finding.effects, finding.deadline) if finding.deadline else ""
        rows.append((finding, parts, by, shortened(remedy(report, finding, verbose), verbose)))
    page.findings(tally(report), "fix", rows)


def _planned(page: Page, report: Report, decided: Plan, saved: Saved | None) -> None:
    """What changes, what that costs, and the way back."""
    changed = changes(report, decided.steps)
    reached = elsewhere(page.context.suggested_command)
    page.heading(2, "Before and after")
    _rows(page, report, decided.steps, decided)
    page.line(counts(changed))
    if running := plan_words(decided.steps):
        page.heading(2, "While the application runs")
        page.line(prose(sentence(running)))
        page.bullets(
            f"{code(row.write.key)}: {prose(write_words(row.write))}"
            for row in changed if not row.part
        )
    page.heading(2, "What it costs")
    left = [e for run in decided.after for e in run]
    costs = remaining([*left, *decided.costs], page.context.verbose)
    page.bullets(prose(line) for line in costs or ["nothing is skipped, nothing is re-read"])
    page.heading(2, "Undo")
    page.line(f"{undo_words(changed).capitalize()}, from the journal:")
    page.command(command("undo", "JOURNAL", *reached))
    page.line("Or, if the journal is lost, from the plan:")
    page.command(command("undo", plan_file(report, page.context, saved), *reached))


def _rows(
    page: Page, report: Report, steps: Iterable[Step], decided: Plan | None = None
) -> None:
    """Row by row; with why and at which cost where the plan is given."""
    heads = ["row", "", "now", "after"]
    priced = ["why", "skips", "re-reads"] if decided else []
    findings, costs = codes(report), costs_after(report.decision)
    rows = []
    for row in changes(report, steps):
        own = costs.get(row.shard, [])
        why = findings.get(row.shard) or (
            "–" if row.part else shortened(row.write.why, page.context.verbose)
        )
        cells = [_name(row.shard), str(row.action), _position(row.now), _position(row.after)]
        more = [prose(why), widest(own, Harm.SKIPPED), widest(own, Harm.REREAD)]
        rows.append([*cells, *more] if decided else cells)
    page.table([*heads, *priced], rows)


def _name(shard: ShardId) -> str:
    return code(shortened(shard, verbose=len(shard) < 60))


def _position(position: str | None) -> str:
    """Whole: a number in a runbook is there to be compared."""
    return "–" if position is None else code(position)
