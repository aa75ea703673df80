"""A report as text: which stream, positions and store, then its findings with their pictures.

A finding has severity, shards, cost and fix. Its picture shows its shards with their parents,
children and positions.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence

from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, in_birth_order, short
from reshardctl.model.times import instant
from reshardctl.planning.plan import Ask
from reshardctl.render.content.findings import (
    Fixes,
    already_so,
    going,
    happening,
    is_already,
    supposed,
    ways_out,
    what_was_judged,
)
from reshardctl.render.content.questions import CHOICES, answering, choices
from reshardctl.render.content.verdict import remarks_if_healthy, verdict
from reshardctl.render.context import Context
from reshardctl.render.costs import absolute, lead, left_in
from reshardctl.render.escape import ascii_only, cut, escape
from reshardctl.render.graph.text import below
from reshardctl.render.sheet import Part, Sheet
from reshardctl.render.words import (
    REDACTED,
    about,
    accepting,
    ago,
    command,
    count,
    dry_run,
    of_files,
    only_if,
    resharded,
    sentence,
    shortened,
)
from reshardctl.report.changes import all_residuals, fixable
from reshardctl.report.forecast import retention_advice
from reshardctl.report.report import Report

FAMILIES = 2
"""Pictures a finding; the rest is in its list of shards."""
CHILDREN = 6
"""Children a picture shows."""


class Pictures:
    """Draws families of one report, in ASCII where `plain`.

    Words are made harmless before they are laid out: columns rest on their width. width: columns
    that a line may have; a family that needs more has its children below their parents.
    """

    def __init__(
        self, report: Report, width: int, *, verbose: bool = False, plain: bool = False
    ) -> None:
        self._report, self._lineage, self._width = report, report.snapshot.lineage, width
        self._verbose, self._plain = verbose, plain

    def of(self, shards: Iterable[ShardId]) -> list[str]:
        """The lines of every family that these shards belong to, elder ones first."""
        families = dict.fromkeys(f for s in shards if (f := self._family(s)) is not None)
        chosen = list(families) if self._verbose else list(families)[:FAMILIES]
        drawn = [line for parents in chosen for line in self._fitted(parents)]
        hidden = len(families) - len(chosen)
        return [*drawn, f"and {hidden} more like these"] if hidden else drawn

    def _family(self, shard: ShardId) -> tuple[ShardId, ...] | None:
        """The parents at the head of the picture, `None` if neither shard nor relative is listed.

        They are the shard's own parents, or the shard itself with the other parent of its merge.
        """
        listed = shard in self._lineage
        if listed and (parents := self._lineage[shard].parents):
            return tuple(in_birth_order(parents))
        children = self._lineage.children(shard)
        if len(children) == 1:
            return tuple(in_birth_order(self._lineage[children[0]].parents))
        return (shard,) if children or listed else None

    def _fitted(self, parents: tuple[ShardId, ...]) -> list[str]:
        """A family side by side where that fits, else with the children below."""
        beside = list(self._drawn(parents))
        if all(len(line) <= self._width for line in beside):
            return beside
        children = list(self._lineage.children(parents[-1]))
        shown = children if self._verbose else children[:CHILDREN]
        cells = {shard: self._cells(shard) for shard in (*parents, *shown)}
        more = [f"and {hidden} more"] if (hidden := len(children) - len(shown)) else []
        families = {parents: shown} if shown else {}
        return [*below(families, () if shown else parents, cells, self._width), *more]

    def _drawn(self, parents: tuple[ShardId, ...]) -> Iterator[str]:
        """Two parents and their child, or a parent and its children, or one shard alone."""
        children = list(self._lineage.children(parents[-1]))
        shown = children if self._verbose else children[:CHILDREN]
        tails = _columns([self._cells(child) for child in shown])
        if hidden := len(children) - len(shown):
            tails.append(f"and {hidden} more")
        if not tails:
            yield from _columns([self._cells(parent) for parent in parents])
            return
        heads = [self._head(parent) for parent in parents]
        width = max(len(head) for head in heads)
        *upper, last = (f"{head} {'─' * (width - len(head) + 1)}" for head in heads)
        if upper:
            yield from (f"{head}┐" for head in upper)
            yield f"{last}┴─ {tails[0]}"
        else:
            yield from _fork(last, tails)

    def _head(self, shard: ShardId) -> str:
        """`7 ─ SHARD_END`; that it is closed goes without saying."""
        name, life, position = self._cells(shard)
        return f"{name} ─ {position}" + ("" if life.startswith("closed") else f", {life}")

    def _cells(self, shard: ShardId) -> tuple[str, str, str]:
        stored = self._report.positions.get(shard)
        position = "no position" if stored is None else cut(shortened(stored), 40)
        return self._safe(cut(short(shard), 30)), self._life(shard), self._safe(position)

    def _life(self, shard: ShardId) -> str:
        if shard not in self._lineage:
            return "not listed"
        if self._lineage.is_open(shard):
            return "open"
        closed = self._lineage.closed_at(shard)
        return "closed" if closed is None else f"closed {ago(closed, self._report.snapshot.now)}"

    def _safe(self, text: str) -> str:
        return ascii_only(escape(text)) if self._plain else escape(text)


def _fork(head: str, tails: list[str]) -> Iterator[str]:
    blank = " " * len(head)
    for index, tail in enumerate(tails):
        if len(tails) == 1:
            yield f"{head}── {tail}"
        elif index == 0:
            yield f"{head}┬─ {tail}"
        else:
            yield f"{blank}{'└' if index == len(tails) - 1 else '├'}─ {tail}"


def _columns(rows: list[tuple[str, str, str]]) -> list[str]:
    """Cells padded to columns."""
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    return [
        "   ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


SIGNS = {
    Severity.ERROR: ("✗", "red"), Severity.WARNING: ("!", "yellow"), Severity.INFO: ("·", "dim"),
}
BODY = 4
PICTURE = BODY + 4
LEFT = 5
"""Shards whose unread records have a line each; `-v` shows all."""


def findings(sheet: Sheet, report: Report) -> None:
    """Every finding, worst first, and each picture once; leftovers are for `-v`."""
    fixes = Fixes(sheet, report)
    drawn: set[tuple[str, ...]] = set()
    shown = [f for f in report.findings if sheet.context.verbose or f.severity > Severity.INFO]

    def whole(finding: Finding) -> None:
        right = lead(finding.effects, finding.deadline, report.snapshot.now)
        head(sheet, finding, right)
        _sentences(sheet, report, finding)
        picture = _picture(sheet, report, finding)
        sheet.drawing(() if picture in drawn else picture, indent=PICTURE)
        drawn.add(picture)
        fixes.show(finding)

    def brief(finding: Finding) -> str:
        only = only_if(report, finding)
        only = f" (only if {only})" if only else ""
        helps = f"; {finding.helps}" if finding.helps else ""
        verbose = sheet.context.verbose
        return f"{shortened(about(finding, verbose), verbose)}{only}{helps}"

    listed(sheet, shown, whole, brief)
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
    if verbose and finding.deadline is not None and finding.effects:
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


def _picture(sheet: Sheet, report: Report, finding: Finding) -> tuple[str, ...]:
    context = sheet.context
    drawer = Pictures(
        report, sheet.width - PICTURE, verbose=context.verbose, plain=context.ascii
    )
    return tuple(drawer.of(finding.shards))


def last_lines(sheet: Sheet, report: Report) -> None:
    """What was judged, the commands that come next, and the verdict."""
    notes(sheet, report)
    if report.pace:
        sheet.line((f"{sentence(report.pace)}", "yellow"))
    sheet.blank()
    _next(sheet, report)
    sheet.blank()
    more = "" if sheet.context.verbose else _not_shown(report)
    if told := " ".join(filter(None, [what_was_judged(report, sheet.context.verbose), more])):
        sheet.line(told)
    for remark in remarks_if_healthy(report):
        sheet.line(remark)
    sheet.line((verdict(report), "bold"))


def notes(sheet: Sheet, report: Report) -> None:
    """The notes on this report."""
    for note in shown_notes(report, sheet.context.verbose):
        note_of(sheet, report, note)


def shown_notes(report: Report, verbose: bool) -> list[str]:
    """The notes that are shown; with `-v` those on the library, too."""
    return [note for note in report.notes if verbose or note not in report.background]


def note_of(sheet: Sheet, report: Report, note: str) -> None:
    """One of the notes; commands for what was interrupted have lines of their own, to copy."""
    begun = next((each for each in report.interrupted if each.note == note), None)
    text = note if begun is None else begun.what
    sheet.line(sentence(f"Note: {shortened(text, sheet.context.verbose)}"))
    for way in () if begun is None else begun.ways:
        sheet.command(command(*way.words), way.what)


def _not_shown(report: Report) -> str:
    """`-v shows 2 info (stream-on-demand, other-rows).`; "" where there is none."""
    infos = [finding.name for finding in report.findings if finding.severity is Severity.INFO]
    named = ", ".join(dict.fromkeys(infos))
    return f"-v shows {count(len(infos), 'info', 'info')} ({named})." if infos else ""


def retention_advice_first(sheet: Sheet, report: Report) -> None:
    """Write the command that extends retention where that is urgent, above those that repair."""
    if (aid := retention_advice(report)) is None or not aid.urgent(report.snapshot.now):
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
    already = any(is_already(report, f) for f in report.findings if f.severity > Severity.INFO)
    if already:
        sheet.command(command("inspect", *suggested), "what is already the case, and its fix")
    if not of_files(suggested):
        sheet.command(command("inspect", *suggested, "--wait", "15m"), "after the reshard")
    elif not already:
        sheet.command(command("inspect", *suggested), "after the reshard, with new files")


def ask(sheet: Sheet, report: Report, question: Ask) -> None:
    """Each choice's command below what it changes, by number."""
    context, found = sheet.context, choices(report, question)
    shown = found if context.verbose else found[:CHOICES]
    for number, choice in enumerate(shown, 1):
        sheet.remark(f"{number}. {choice.line}")
        argv = answering(report, question, choice.answer, context.suggested_command)
        sheet.command(command(context.verb, "--dry-run", *argv, *context.sink))
    if hidden := len(found) - len(shown):
        sheet.line(f"and {count(hidden, 'more choice')}; -v shows all")


def ways_on(sheet: Sheet, report: Report, indent: int = 2) -> None:
    """The command of each way out that an option of ours takes."""
    context = sheet.context
    for way in ways_out(report):
        if argv := going(report, way, context.suggested_command):
            sheet.remark(way, indent)
            sheet.command(command(context.verb, "--dry-run", *argv, *context.sink), indent=indent)


def _next(sheet: Sheet, report: Report) -> None:
    if report.snapshot.foreseen is not None:
        _after_a_forecast(sheet, report)
        return
    retention_advice_first(sheet, report)
    suggested = sheet.context.suggested_command
    grave = [f for f in report.findings if f.severity > Severity.INFO]
    if report.options.redacted:
        if grave:
            sheet.line(REDACTED)
        return
    if fixable(report):
        sheet.command(dry_run(report, suggested))
    elif flags := [r.flag for r in all_residuals(report) if r.flag]:
        argv = accepting(suggested, flags)
        sheet.command(command("fix", "--dry-run", *argv), "see what that would write")
    elif isinstance(report.decision, Ask):
        ask(sheet, report, report.decision)
    ways_on(sheet, report)
    if grave and sheet.context.verbose:
        sheet.command(command("rule", grave[0].code), "what this means")


def forecast(sheet: Sheet, report: Report) -> None:
    """Write which reshards a forecast supposes, above everything that rests on them."""
    if condition := supposed(report):
        what = happening(report, sheet.context.verbose)
        sheet.line(("Forecast", "bold yellow"), f", {condition}: {what}. Nothing was resharded.")
        sheet.blank()


def header(sheet: Sheet, report: Report) -> None:
    """Stream and consumer, one line each where they fit."""
    forecast(sheet, report)
    snapshot, listed = report.snapshot, report.snapshot.lineage.stream
    stream_line(sheet, snapshot.lineage, None if snapshot.foreseen else snapshot.now)
    read = "read" if snapshot.foreseen is None else "foreseen for"
    sheet.fields(*subject(sheet.context, report), f"{read} {instant(snapshot.now)}")
    if sheet.context.verbose:
        sheet.fields(listed.arn, f"created {instant(listed.created)}", listed.mode)
        sheet.fields(*(f"{name} {value}" for name, value in sorted(snapshot.store.items())))
    sheet.blank()


def subject(context: Context, report: Report) -> list[Part]:
    """The consumer: its locator, after its name among several."""
    locator = report.snapshot.locator.text
    name = context.name or locator
    named: Part = (name, "bold")
    return [named] if name.startswith(locator) else [named, locator]


def stream(sheet: Sheet, report: Report, *more: str) -> None:
    """The stream alone. more: what to add at the end."""
    snapshot = report.snapshot
    now = None if snapshot.foreseen else snapshot.now
    stream_line(sheet, snapshot.lineage, now, *more)


def stream_line(sheet: Sheet, lineage: Lineage, now: float | None, *more: str) -> None:
    """Write the stream's name, place and size, and its state where that is not ACTIVE.

    now: since when it was resharded is counted; `None` to leave that out. more: further parts.
    """
    listed, opened = lineage.stream, lineage.open_count()
    parts: list[Part] = [
        (listed.name, "bold"), listed.region, *[s for s in [listed.status] if s != "ACTIVE"],
        f"retention {listed.retention // 3600}h",
        f"{opened} open · {len(lineage) - opened} closed",
    ]
    if now is not None and (then := resharded(lineage)) is not None:
        parts.append(f"resharded {ago(then, now)}")
    sheet.fields(*parts, *more)
