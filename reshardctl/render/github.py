"""For GitHub Actions: workflow commands, which the runner turns into annotations.

`::error title=RSH203 child-not-started::…`, escaped as actions/toolkit does (packages/core,
command.ts). No file and no line are given: a table has none, and GitHub then shows the annotation
on the run. A step shows ten errors, ten warnings and ten notices; the worst come first, and the
last command counts all. Plans, fixes and undos are notices: they are no defects of a commit.
"""

from __future__ import annotations

from collections.abc import Iterable

from reshardctl.diagnosis.report import Report
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.errors import HalfDone, ReshardError
from reshardctl.exit import Exit
from reshardctl.model import Step
from reshardctl.render.changes import changes
from reshardctl.render.concise import plan_lines
from reshardctl.render.context import Context
from reshardctl.render.escape import ascii_only, cut, escape
from reshardctl.render.outcomes import Fixed, Saved, Undoing
from reshardctl.render.plain import sentences, title
from reshardctl.render.text_findings import tally
from reshardctl.render.text_undo import nothing
from reshardctl.render.words import command, shards, shortened

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
LONGEST = 4000
"""Characters of a message: the runner keeps 4096 (actions/runner, ExecutionContext)."""
ROWS = 30
"""Rows that one notice names."""


def inspect(report: Report, context: Context) -> str:
    """An annotation for every finding, then one notice that counts them."""
    found = [_finding(report, finding, context) for finding in report.findings]
    lines = [_place(report), tally(report)]
    if report.findings:
        lines.append(" ".join(command("inspect", *context.again)))
    last = annotation("notice", "reshardctl inspect", lines, context)
    return "".join([*found, *_caveats(report, context), last])


def plan(
    report: Report, context: Context, *, dry_run: bool = True, saved: Saved | None = None
) -> str:
    """One notice: a line a row that fix would write, or the reason for no plan."""
    lines = _some(plan_lines(report, context.verbose))
    if saved is not None:
        lines.append(f"plan saved in {saved.path} (sha256 {saved.digest})")
    if dry_run:
        lines.append("Nothing was written.")
    return annotation("notice", "reshardctl fix", lines, context)


def fixed(outcome: Fixed, context: Context) -> str:
    """One notice: what was written, its journal; then an annotation for every finding left."""
    lines = [_place(outcome.before), *outcome.after.caveats]
    lines += _rows(outcome.before, outcome.steps, context)
    lines += [f"journal {outcome.journal}", f"now: {tally(outcome.after)}"]
    left = [_finding(outcome.after, finding, context) for finding in outcome.after.findings]
    return "".join([annotation("notice", "reshardctl fix: written", lines, context), *left])


def undo(undoing: Undoing, context: Context) -> str:
    """One notice: a line a row that is put back."""
    lines = [_place(undoing.now), *_rows(undoing.now, undoing.steps, context)]
    if not undoing.steps:
        lines.append(nothing(undoing))
    lines += [f"stays: {line}" for line in undoing.kept]
    lines.append(f"journal {undoing.journal}")
    if undoing.after is not None:
        lines.append(f"after: {tally(undoing.after)}")
    if undoing.written is None:
        lines.append("Nothing was written.")
    return annotation("notice", "reshardctl undo", lines, context)


def error(failure: ReshardError, context: Context) -> str:
    """An error: what, what next, and the journal where there is one."""
    kind = {Exit.REFUSED: "refused", Exit.HALF_DONE: "half done"}.get(failure.exit, "error")
    lines = [failure.what, failure.next]
    if isinstance(failure, HalfDone) and failure.journal:
        lines.append(f"journal {failure.journal}")
    return annotation("error", f"reshardctl: {kind}", [line for line in lines if line], context)


def _caveats(report: Report, context: Context) -> list[str]:
    """A notice for everything without which the findings would be misread."""
    return [
        annotation("notice", "reshardctl: note", [_place(report), caveat], context)
        for caveat in report.caveats
    ]


def _finding(report: Report, finding: Finding, context: Context) -> str:
    lines = [_place(report), *sentences(report, finding, context.verbose)]
    return annotation(COMMANDS[finding.severity], title(finding), lines, context)


def _rows(report: Report, steps: Iterable[Step], context: Context) -> list[str]:
    return _some([
        f"{shards((one.shard,), context.verbose)} {one.action} "
        f"{shortened(one.now or '-', context.verbose)} -> "
        f"{shortened(one.after or '-', context.verbose)}"
        for one in changes(report, steps)
    ])


def _some(lines: list[str]) -> list[str]:
    hidden = len(lines) - ROWS
    return lines if hidden <= 0 else [*lines[:ROWS], f"and {hidden} more"]


def _place(report: Report) -> str:
    return report.snapshot.locator.text


def annotation(name: str, heading: str, lines: Iterable[str], context: Context) -> str:
    """One command on one line; texts of a store are made harmless before ours are joined."""
    message = cut("\n".join(escape(line) for line in lines), LONGEST)
    if context.ascii:
        message = ascii_only(message)
    return f"::{name} title={property_text(heading)}::{data_text(message)}\n"


def data_text(text: str) -> str:
    """A text as a message."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def property_text(text: str) -> str:
    """A text as a property's value."""
    return data_text(text).replace(":", "%3A").replace(",", "%2C")
