"""The `fix` lines of a finding: what would be written, or why nothing is."""

from __future__ import annotations

from collections.abc import Iterable

from reshardctl.diagnosis.report import Report
from reshardctl.diagnosis.rules import Finding
from reshardctl.model import ShardId
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Ask, NoSafePlan, Plan, Residual
from reshardctl.render.changes import Action, Changed, changes, shards_written
from reshardctl.render.console import LABEL, Sheet
from reshardctl.render.finding_repair import Mending, costs_after, mending
from reshardctl.render.words import cost, disorders, shards, shortened, widest

INDENT = 4
NEVER_READ = "never read"
"""A place that is no place: how kinsumer's rows spell it."""


class Fixes:
    """Says why there is no plan once, and afterwards only where that stands."""

    def __init__(self, sheet: Sheet, report: Report) -> None:
        self._sheet, self._report, self._verbose = sheet, report, sheet.context.verbose
        decision = report.decision
        steps = decision.steps if isinstance(decision, Plan) else ()
        self._changes = {one.shard: one for one in changes(report, steps)}
        self._left = costs_after(decision)
        self._said = ""

    def show(self, finding: Finding) -> None:
        """The lines for one finding."""
        found = mending(self._report, finding)
        if found.writes:
            self._writes(finding, found)
        elif found.mended:
            self._fix("comes right with the fixes of the other findings")
        elif found.residuals:
            self._fix(*(left_alone(residual) for residual in found.residuals))
        elif finding.effects and all(e.past or e.gone for e in finding.effects):
            self._fix(f"none: it has happened. {finding.helps}".rstrip(". "))
        else:
            self._none(finding)

    def _fix(self, *lines: str) -> None:
        first, *others = [shortened(line, self._verbose) for line in lines]
        if self._report.snapshot.foreseen is not None:
            first = f"afterwards: {first}"
        self._sheet.labelled(("fix", "bold"), first, indent=INDENT)
        for line in others:
            self._sheet.line(line, indent=INDENT + LABEL)

    def _writes(self, finding: Finding, found: Mending) -> None:
        changed = [
            self._changes[shard] for w in found.writes
            for shard in shards_written(self._report, w) if shard in finding.shards
        ]
        self._fix("; ".join(phrases(changed, self._verbose)), *self._costs(changed))
        for effect in found.remains:
            named = shards((effect.shard,), self._verbose) if effect.shard else "the consumer"
            self._sheet.line(f"remains: {named} {cost(effect)}", indent=INDENT + LABEL)
        for residual in found.residuals:
            self._sheet.line(left_alone(residual), indent=INDENT + LABEL)

    def _costs(self, changed: Iterable[Changed]) -> list[str]:
        left = [e for one in changed for e in self._left.get(one.shard, ())]
        order = "   out of order" if any(disorders(e) for e in left) else ""
        return [
            f"skips {widest(left, Harm.SKIPPED)}   re-reads {widest(left, Harm.REREAD)}{order}"
        ]

    def _none(self, finding: Finding) -> None:
        match self._report.decision:
            case (Ask() | NoSafePlan()) if self._said:
                self._fix(f"as for {self._said} above")
            case Ask() as ask:
                self._said = finding.code
                self._fix(f"none yet: {asked(ask)}")
            case NoSafePlan(why, ways):
                self._said = finding.code
                helps = [finding.helps] if finding.helps else []
                self._fix(f"none: {why}", *(f"way out: {way}" for way in [*ways, *helps]))
            case _:
                why = finding.helps or "no write is known that makes it better"
                self._fix(f"none: {why}")


def phrases(changed: Iterable[Changed], verbose: bool) -> list[str]:
    """`start 2, 3 at TRIM_HORIZON`, `set 15 back to 4963…0412`, `complete the row of 2`."""
    groups: dict[tuple[Action, str | None, bool], list[ShardId]] = {}
    for one in changed:
        groups.setdefault((one.action, one.after, one.part), []).append(one.shard)
    said = {
        Action.CREATE: "start {} at {}", Action.MOVE: "set {} to {}",
        Action.KEEP: "complete the row of {}, which stays at {}",
        Action.DELETE: "delete the row of {}",
    }
    never = {Action.CREATE: "write {} as {}", Action.MOVE: "mark {} as {}"}
    return [
        never[action].format(shards(group, verbose), place)
        if place == NEVER_READ and action in never
        else (said[action] if not part or action is not Action.KEEP else "read {} from {}").format(
            shards(group, verbose), place
        )
        if place is not None or action is Action.DELETE
        else f"{'write' if action is Action.CREATE else 'rewrite'} {shards(group, verbose)}"
        for (action, place, part), group in groups.items()
    ]


def left_alone(residual: Residual) -> str:
    """Why a shard is left alone, and the flag that would mend it."""
    named = shards((residual.shard,))
    flag = residual.flag or "no flag"
    return f"{named} is left alone: its fix {cost(residual.costs)}. {flag} accepts that"


def asked(ask: Ask) -> str:
    """What has to be said before there is a plan; the commands that say it come last."""
    if ask.options == ("recreated",):
        return "nobody has said that the stream was deleted and made again; see below"
    return f"it depends on {ask.named}, which no store holds; see below"
