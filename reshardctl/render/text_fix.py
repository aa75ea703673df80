"""The `fix` lines of a finding: what would be written, or why nothing is."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reshardctl.diagnosis.rules import Finding
from reshardctl.model import ShardId
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Ask, Decision, NoSafePlan, Plan, Residual
from reshardctl.render.console import LABEL, Sheet
from reshardctl.render.words import cost, disorders, shards, shortened, widest
from reshardctl.report.changes import (
    Action,
    Changed,
    Mending,
    changes,
    costs_after,
    mending,
    shards_written,
)
from reshardctl.report.report import Report

INDENT = 4
NOT_BEGUN = "not begun"
"""What kinsumer's rows hold instead of a position."""


class Fixes:
    """The `fix` lines of a report's findings; the first one says why there is no plan."""

    def __init__(self, sheet: Sheet, report: Report) -> None:
        self._sheet, self._report, self._verbose = sheet, report, sheet.context.verbose
        decision = report.decision
        steps = decision.steps if isinstance(decision, Plan) else ()
        self._changes = {row.shard: row for row in changes(report, steps)}
        self._left = costs_after(decision)
        self._explained = ""

    def show(self, finding: Finding) -> None:
        """Write the lines for one finding."""
        repair = mending(self._report, finding)
        if repair.writes:
            self._writes(finding, repair)
            return
        decision, reasons = self._report.decision, own_reasons(finding, repair)
        undecided = not reasons and isinstance(decision, Ask | NoSafePlan)
        if undecided and self._explained:
            reasons = [f"same as for {self._explained} above"]
        self._fix(*(reasons or decision_reasons(decision, finding, asked)))
        if undecided:
            self._explained = self._explained or finding.code

    def _fix(self, *lines: str) -> None:
        first, *others = [shortened(line, self._verbose) for line in lines]
        if self._report.snapshot.foreseen is not None:
            first = f"afterwards: {first}"
        self._sheet.labelled(("fix", "bold"), first, indent=INDENT)
        for line in others:
            self._sheet.line(line, indent=INDENT + LABEL)

    def _writes(self, finding: Finding, repair: Mending) -> None:
        changed = [
            self._changes[shard] for w in repair.writes
            for shard in shards_written(self._report, w) if shard in finding.shards
        ]
        self._fix("; ".join(phrases(changed, self._verbose)), *self._costs(changed))
        for effect in repair.remains:
            named = shards((effect.shard,), self._verbose) if effect.shard else "the consumer"
            self._sheet.line(f"remains: {named} {cost(effect)}", indent=INDENT + LABEL)
        for residual in repair.residuals:
            self._sheet.line(left_alone(residual), indent=INDENT + LABEL)

    def _costs(self, changed: Iterable[Changed]) -> list[str]:
        left = [e for row in changed for e in self._left.get(row.shard, ())]
        order = "   out of order" if any(disorders(e) for e in left) else ""
        return [
            f"skips {widest(left, Harm.SKIPPED)}   re-reads {widest(left, Harm.REREAD)}{order}"
        ]


def own_reasons(finding: Finding, repair: Mending) -> list[str]:
    """Why no row is written for a finding itself; none where that depends on the decision."""
    if repair.mended:
        return ["fixed by the fixes of the other findings"]
    if repair.residuals:
        return [left_alone(residual) for residual in repair.residuals]
    if finding.effects and all(e.past or e.gone for e in finding.effects):
        return [f"none: this has already happened. {finding.helps}".rstrip(". ")]
    return []


def decision_reasons(
    decision: Decision, finding: Finding, question: Callable[[Ask], str]
) -> list[str]:
    """Why the decision writes nothing for a finding. question: what an open one is called."""
    match decision:
        case Ask() as ask:
            return [f"none yet: {question(ask)}"]
        case NoSafePlan(why, ways):
            helps = [finding.helps] if finding.helps else []
            return [f"none: {why}", *(f"way out: {way}" for way in [*ways, *helps])]
        case _:
            return [f"none: {finding.helps or 'no known write improves this'}"]


def phrases(changed: Iterable[Changed], verbose: bool) -> list[str]:
    """`start 2, 3 at TRIM_HORIZON`, `set 15 back to 4963…0412`, `complete the row of 2`."""
    groups: dict[tuple[Action, str | None, bool], list[ShardId]] = {}
    for row in changed:
        groups.setdefault((row.action, row.after, row.part), []).append(row.shard)
    return [
        _phrase(action, position, part, shards(group, verbose))
        for (action, position, part), group in groups.items()
    ]


def _phrase(action: Action, position: str | None, part: bool, named: str) -> str:
    if position is None and action is not Action.DELETE:
        return f"{'write' if action is Action.CREATE else 'rewrite'} {named}"
    bare = position == NOT_BEGUN
    match action:
        case Action.CREATE:
            return f"write {named} as {position}" if bare else f"start {named} at {position}"
        case Action.MOVE:
            return f"mark {named} as {position}" if bare else f"set {named} to {position}"
        case Action.KEEP if part:
            return f"read {named} from {position}"
        case Action.KEEP:
            return f"complete the row of {named}, which stays at {position}"
        case Action.DELETE:
            return f"delete the row of {named}"


def left_alone(residual: Residual) -> str:
    """Why a shard is not mended, and the flag that would mend it, or else what helps."""
    named = shards((residual.shard,))
    if residual.why:
        ways = "".join(f"; way out: {way}" for way in residual.ways_out)
        return f"{named} is not mended and {cost(residual.costs)}: {residual.why}{ways}"
    flag = residual.flag or "no flag"
    return f"{named} is left alone, because its fix {cost(residual.costs)}; {flag} accepts that"


def asked(ask: Ask) -> str:
    """What has to be said before there is a plan; the commands that say it come last."""
    if ask.options == ("recreated",):
        return (
            "it depends on whether the stream was deleted and recreated, or another stream is "
            "meant; see below"
        )
    return f"it depends on {ask.named}, which the store does not record; see below"
