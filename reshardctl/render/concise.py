"""For pipes: one line a finding, a row to write, or a reason, each beginning with the locator.

`LOCATOR: SHARDS CODE [*] name: what (harm, deadline)`; `[*]` where the plan mends it. A fix and an
undo say on each line what became of it: `planned`, `wrote`, `refused` or `left`. Where there is
nothing to say, one line says so. No text of a store can break a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reshardctl.diagnosis.report import Report, question
from reshardctl.diagnosis.rules import Finding
from reshardctl.errors import HalfDone, ReshardError
from reshardctl.exit import Exit
from reshardctl.model import ShardId, Step
from reshardctl.model.times import instant
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import Ask, NoLine, Nothing, Plan
from reshardctl.render.asking import explained
from reshardctl.render.changes import Changed, changes
from reshardctl.render.context import Context
from reshardctl.render.escape import ascii_only, escape
from reshardctl.render.mending import all_residuals, costs_after, mending
from reshardctl.render.outcomes import Fixed, Saved, Undoing
from reshardctl.render.supposed import place
from reshardctl.render.text_undo import nothing
from reshardctl.render.words import (
    condition,
    cost,
    disorders,
    shards,
    shortened,
    widest,
    worst,
)

PLANNED, WROTE, REFUSED, LEFT = "planned", "wrote", "refused", "left"
"""What became of a row or a shard. Refused: a question is open, exit 4."""

Costs = Mapping[ShardId, list[Effect]]


def inspect(report: Report, context: Context) -> str:
    """One line a finding; one that there is none."""
    lines = inspect_lines(report, context.verbose)
    return _lines(lines if report.findings else [*lines, f"{_place(report)}: no findings"], context)


def plan(
    report: Report, context: Context, *,
    dry_run: bool = True,  # noqa: ARG001 - as every format
    saved: Saved | None = None,
) -> str:
    """One line a row to write, then one a shard that is left alone, or the reason for no plan."""
    lines = plan_lines(report, context.verbose)
    if saved is not None:
        lines.append(
            f"{_place(report)}: planned: saved in {saved.path} (sha256 {saved.digest})"
        )
    return _lines(lines, context)


def fixed(outcome: Fixed, context: Context) -> str:
    """One line a row written, then the journal, then what is left."""
    lines = _rows(outcome.before, outcome.steps, None, WROTE, context.verbose)
    lines.append(f"{_place(outcome.before)}: {WROTE}: journal {outcome.journal}")
    after = outcome.after
    left = [_finding(after, finding, context.verbose, f"{LEFT}: ") for finding in after.findings]
    return _lines([*lines, *caveats(after), *left], context)


def undo(undoing: Undoing, context: Context) -> str:
    """One line a row put back, or to be put back."""
    done = PLANNED if undoing.written is None else WROTE
    lines = _rows(undoing.now, undoing.steps, None, done, context.verbose)
    if not lines:
        lines = [f"{_place(undoing.now)}: {nothing(undoing)}"]
    lines += [f"{_place(undoing.now)}: {LEFT}: {line}" for line in undoing.kept]
    return _lines(lines, context)


def error(failure: ReshardError, context: Context) -> str:
    """One line: what, and what next."""
    kind = {Exit.REFUSED: "refused", Exit.HALF_DONE: "half done"}.get(failure.exit, "error")
    parts = [f"{kind}: {failure.what}", failure.next]
    if isinstance(failure, HalfDone) and failure.journal:
        parts.append(f"journal {failure.journal}")
    return _lines(["; ".join(part for part in parts if part)], context)


def inspect_lines(report: Report, verbose: bool = False) -> list[str]:
    """A line for every finding, worst first. Not escaped yet."""
    return caveats(report) + [_finding(report, finding, verbose) for finding in report.findings]


def caveats(report: Report) -> list[str]:
    """A line for everything without which the others would be misread."""
    return [f"{_place(report)}: note: {caveat}" for caveat in report.caveats]


def plan_lines(report: Report, verbose: bool = False) -> list[str]:
    """A line for every row that fix would write, or that or why it would write none."""
    place = _place(report)
    match report.decision:
        case Plan(steps):
            lines = _rows(report, steps, costs_after(report.decision), PLANNED, verbose)
        case Nothing(residuals):
            lines = [] if residuals else [f"{place}: nothing to write"]
        case Ask() as ask:
            told = "".join(f"; {line}" for line in explained(report, ask))
            said = f"{ask.needs}: {question(report, ask)}{told}"
            lines = [f"{place}: {REFUSED}: no plan: {said}"]
        case NoLine(why, ways):
            said = "; ".join([shortened(why, verbose), *ways])
            lines = [f"{place}: {LEFT}: no plan: {said}"]
    lines = caveats(report) + lines
    for residual in all_residuals(report):
        named = shards((residual.shard,), verbose)
        flag = residual.flag or "no flag accepts that"
        lines.append(f"{place}: {LEFT}: {named} {cost(residual.costs)} ({flag})")
    return lines


def _finding(report: Report, finding: Finding, verbose: bool, state: str = "") -> str:
    mark = " [*]" if mending(report, finding).mended else ""
    named = shards(finding.shards, verbose).replace(", ", ",") or "-"
    only = condition(finding.when, [j.candidate for j in report.judged])
    what = shortened(finding.what, verbose) + (f", only if {only}" if only else "")
    gravest = worst(finding.effects)
    harms = [str(finding.severity)]
    if gravest is not None:
        harms.append(cost(gravest))
    if finding.deadline is not None and finding.deadline.starts is not None:
        skipped = gravest is not None and gravest.harm is Harm.SKIPPED
        word = "expires" if skipped else "loss"
        harms.append(f"{word} from {instant(finding.deadline.starts)}")
    rule = f"{finding.code}{mark} {finding.name}"
    return f"{_place(report)}: {state}{named} {rule}: {what} ({', '.join(harms)})"


def _rows(
    report: Report, steps: Iterable[Step], left: Costs | None, state: str, verbose: bool
) -> list[str]:
    """left: what the shards cost afterwards, `None` where that is not told."""
    return [_row(report, one, left, state, verbose) for one in changes(report, steps)]


def _row(report: Report, one: Changed, left: Costs | None, state: str, verbose: bool) -> str:
    now, then = (shortened(place or "-", verbose) for place in (one.now, one.after))
    named = shards((one.shard,), verbose)
    line = f"{_place(report)}: {state}: {named} {one.action} {now} -> {then}"
    if left is None:
        return line
    own = left.get(one.shard, [])
    skipped, again = widest(own, Harm.SKIPPED), widest(own, Harm.REREAD)
    order = ", out of order" if any(disorders(e) for e in own) else ""
    return f"{line} (skips {skipped}, re-reads {again}{order})"


def _place(report: Report) -> str:
    return place(report)


def _lines(lines: Iterable[str], context: Context) -> str:
    safe = (escape(line) for line in lines)
    if context.ascii:
        safe = (ascii_only(line) for line in safe)
    return "".join(f"{line}\n" for line in safe)
