"""The format concise: one line a finding, a row to write, or a reason, beginning with the locator.

`LOCATOR: SHARDS CODE [*] name: what (harm, deadline)`; `[*]` where the plan mends it. A fix and an
undo say on each line what became of it: `planned`, `wrote`, `refused` or `left`. Where there is
nothing to say, one line says so. No text of a store can break a line.

Of several consumers each line begins with the file and line that name the consumer; a suppressed
finding has no line, but a consumer that could not be judged and a suppression that has run out do.
An audit without a finding has no line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.errors import ReshardError
from reshardctl.model import ShardId, Step
from reshardctl.model.times import instant
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import Ask, NoSafePlan, Nothing, Plan
from reshardctl.render.content.audit import by_when
from reshardctl.render.content.audit import total as audit_total
from reshardctl.render.content.findings import locator_words
from reshardctl.render.content.questions import choices
from reshardctl.render.content.roundup import expired, failed, of_many, result, total
from reshardctl.render.content.undo import nothing
from reshardctl.render.content.verdict import no_findings
from reshardctl.render.context import Context
from reshardctl.render.costs import cost, priced, worst
from reshardctl.render.words import journal_of, only_if, shards, shortened, take_back
from reshardctl.report.audit import AuditReport
from reshardctl.report.changes import Changed, all_residuals, changes, costs_after, mending
from reshardctl.report.report import Report, question
from reshardctl.report.results import Entry, Fixed, Planned, Roundup, Undoing

PLANNED, WROTE, REFUSED, LEFT = "planned", "wrote", "refused", "left"
"""What became of a row or a shard. Refused: a question is open, exit 4."""

Costs = Mapping[ShardId, list[Effect]]


def named(lines: list[str], report: Report, name: str) -> list[str]:
    """The lines with the consumer's name for its locator, which several may have."""
    if not name:
        return lines
    return [f"{name}: {line.removeprefix(f'{locator_words(report)}: ')}" for line in lines]


def roundup_lines(roundup: Roundup, verbose: bool) -> list[str]:
    """The lines of each consumer, or that there is nothing to say."""
    several = of_many(roundup)
    lines = [line for each in roundup.entries for line in entry_lines(each, verbose, several)]
    return lines or [total(roundup)]


def planned_lines(planned: Planned, verbose: bool) -> list[str]:
    """A line for every row that fix would write, and one for the file of the plan."""
    lines = plan_lines(planned.report, verbose)
    if (saved := planned.saved) is not None:
        subject = locator_words(planned.report)
        lines.append(f"{subject}: planned: saved in {saved.path} (sha256 {saved.digest})")
    return lines


def fixed_lines(outcome: Fixed, context: Context) -> list[str]:
    """One line a row written, then the journal with its undo, then what is left to do."""
    after, verbose = outcome.after, context.verbose
    lines = _rows(outcome.before, outcome.steps, None, WROTE, verbose)
    back = take_back(
        outcome.before.snapshot, outcome.typed or outcome.journal, context.suggested_command
    )
    lines.append(
        f"{locator_words(outcome.before)}: {WROTE}: journal {outcome.journal}; undo: "
        + " ".join(back)
    )
    left = [
        _finding(after, finding, verbose, f"{LEFT}: ") for finding in after.findings
        if verbose or finding.severity > Severity.INFO
    ]
    return [*lines, *_caveats(after), *left]


def undo_lines(undoing: Undoing, verbose: bool) -> list[str]:
    """One line a row put back, or to be put back."""
    done = PLANNED if undoing.written is None else WROTE
    lines = _rows(undoing.now, undoing.steps, None, done, verbose)
    if not lines:
        lines = [f"{locator_words(undoing.now)}: {nothing(undoing)}"]
    return lines + [f"{locator_words(undoing.now)}: {LEFT}: {line}" for line in undoing.kept]


def failure_line(failure: ReshardError) -> str:
    """What happened, and what next."""
    journal = journal_of(failure)
    parts = [f"{failure.exit.kind}: {failure.what}", failure.next]
    return "; ".join(filter(None, [*parts, f"journal {journal}" if journal else ""]))


def entry_lines(entry: Entry, verbose: bool, several: bool = False) -> Iterator[str]:
    """The lines of one consumer among several. several: whether they are of several streams."""
    where = f"{entry.name} of {entry.stream}" if several and entry.stream else entry.name
    where = f"{entry.origin[0]}:{entry.origin[1]}: {entry.name}" if entry.origin else where
    joint = " " if entry.origin else ": "
    if entry.failure is not None:
        yield f"{where}{joint}{result(entry)}: {'; '.join(failed(entry))}"
    elif entry.report is not None:
        for line in inspect_lines(entry.report, verbose):
            yield where + joint + line.removeprefix(f"{entry.report.snapshot.locator.text}: ")
    for suppression in entry.sifted.expired:
        yield f"{where}{joint}{expired(suppression)}"


def audit_lines(report: AuditReport, verbose: bool) -> list[str]:
    """A line for every finding, or that there is none. Not escaped yet."""
    if not report.findings:
        none = audit_total(report).rstrip(".")
        return [f"{report.facts.sink}: {none[:1].lower()}{none[1:]}"]
    return [_audit_line(report, finding, verbose) for finding in report.findings]


def _audit_line(report: AuditReport, finding: Finding, verbose: bool) -> str:
    """`SINK: SHARDS CODE name: what (severity, until when)`."""
    named = shards(finding.shards, verbose).replace(", ", ",") or "-"
    what = "; ".join(shortened(part, verbose) for part in (finding.what, finding.costs) if part)
    when = by_when(finding, report.facts.taken)
    harms = ", ".join(part for part in (str(finding.severity), when) if part)
    rule = f"{finding.code} {finding.name}"
    return f"{report.facts.sink}: {named} {rule}: {what} ({harms})"


def report_lines(report: Report, verbose: bool = False) -> list[str]:
    """A line for every finding, or that there is none. Not escaped yet."""
    lines = inspect_lines(report, verbose)
    none = f"{locator_words(report)}: {no_findings(report)}"
    return lines if report.findings else [*lines, none]


def inspect_lines(report: Report, verbose: bool = False) -> list[str]:
    """A line for every finding, worst first. Not escaped yet."""
    return _caveats(report) + [_finding(report, finding, verbose) for finding in report.findings]


def _caveats(report: Report) -> list[str]:
    """A line for everything without which the others would be misread."""
    notes = [*report.caveats, *([report.pace] if report.pace else [])]
    return [f"{locator_words(report)}: note: {note}" for note in notes]


def plan_lines(report: Report, verbose: bool = False) -> list[str]:
    """A line for every row that fix would write, or that or why it would write none."""
    subject = locator_words(report)
    match report.decision:
        case Plan(steps):
            lines = _rows(report, steps, costs_after(report.decision), PLANNED, verbose)
        case Nothing(residuals):
            lines = [] if residuals else [f"{subject}: nothing to write"]
        case Ask() as ask:
            told = "".join(f"; {choice.line}" for choice in choices(report, ask))
            reason = f"{ask.needs}: {question(report, ask)}{told}"
            lines = [f"{subject}: {REFUSED}: no plan: {reason}"]
        case NoSafePlan(why, ways):
            reason = "; ".join([shortened(why, verbose), *ways])
            lines = [f"{subject}: {LEFT}: no plan: {reason}"]
    lines = _caveats(report) + lines
    for residual in all_residuals(report):
        named = shards((residual.shard,), verbose)
        flag = residual.why or residual.flag or "no flag accepts that"
        lines.append(f"{subject}: {LEFT}: {named} {cost(residual.costs)} ({flag})")
    return lines


def _finding(report: Report, finding: Finding, verbose: bool, state: str = "") -> str:
    mark = " [*]" if mending(report, finding).mended else ""
    named = shards(finding.shards, verbose).replace(", ", ",") or "-"
    only = only_if(report, finding)
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
    return f"{locator_words(report)}: {state}{named} {rule}: {what} ({', '.join(harms)})"


def _rows(
    report: Report, steps: Iterable[Step], left: Costs | None, state: str, verbose: bool
) -> list[str]:
    """left: what the shards cost afterwards, `None` where that is not told."""
    return [_row(report, row, left, state, verbose) for row in changes(report, steps)]


def _row(report: Report, row: Changed, left: Costs | None, state: str, verbose: bool) -> str:
    now, then = (shortened(position or "-", verbose) for position in (row.now, row.after))
    named = shards((row.shard,), verbose)
    line = f"{locator_words(report)}: {state}: {named} {row.action} {now} -> {then}"
    if left is None:
        return line
    return f"{line} ({priced(left.get(row.shard, ()))})"
