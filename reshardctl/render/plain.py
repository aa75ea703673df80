"""One finding in plain sentences, for formats without room for a picture. Not escaped yet."""

from __future__ import annotations

from reshardctl.diagnosis.report import Report, question
from reshardctl.diagnosis.rules import Finding
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Ask, NoSafePlan, Plan
from reshardctl.render.changes import changes
from reshardctl.render.finding_repair import Mending, costs_after, mending
from reshardctl.render.forecast_words import already_so, supposed
from reshardctl.render.text_fix import left_alone, phrases
from reshardctl.render.words import about, absolute, condition, sentence, shortened, widest


def title(finding: Finding) -> str:
    """`RSH203 child-not-started`."""
    return f"{finding.code} {finding.name}"


def sentences(report: Report, finding: Finding, verbose: bool = False) -> list[str]:
    """What it is, what it costs, under which options, by when, and the fix: one sentence each."""
    forecast = [f"forecast, {words}" if (words := supposed(report)) else "",
                already_so(report, finding, verbose)]
    said = [*forecast, about(finding, verbose), finding.costs]
    if only := condition(finding.when, [j.candidate for j in report.judged]):
        said.append(f"only if {only}")
    if finding.deadline is not None and finding.effects:
        said.append(absolute(finding.effects, finding.deadline))
    said.append(f"Fix: {remedy(report, finding, verbose)}")
    return [sentence(shortened(one, verbose)) for one in said if one]


def remedy(report: Report, finding: Finding, verbose: bool = False) -> str:
    """What fix would write for it, or why it writes nothing."""
    found = mending(report, finding)
    if found.writes:
        return _written(report, finding, found, verbose)
    if found.mended:
        return "comes right with the fixes of the other findings"
    if found.residuals:
        return "; ".join(left_alone(residual) for residual in found.residuals)
    if finding.effects and all(e.past or e.gone for e in finding.effects):
        return f"none: it has happened. {finding.helps}".rstrip(". ")
    match report.decision:
        case Ask() as ask:
            return f"none yet: {ask.needs}: {question(report, ask)}"
        case NoSafePlan(why, ways):
            helps = [finding.helps] if finding.helps else []
            return "; ".join([f"none: {why}", *(f"way out: {way}" for way in [*ways, *helps])])
        case _:
            return f"none: {finding.helps or 'no write is known that makes it better'}"


def _written(report: Report, finding: Finding, found: Mending, verbose: bool) -> str:
    decision = report.decision
    assert isinstance(decision, Plan)
    changed = [
        one for one in changes(report, decision.steps)
        if one.shard in finding.shards and one.write in found.writes
    ]
    costs = costs_after(decision)
    left = [e for one in changed for e in costs.get(one.shard, ())]
    price = f"skips {widest(left, Harm.SKIPPED)}, re-reads {widest(left, Harm.REREAD)}"
    more = [left_alone(residual) for residual in found.residuals]
    return "; ".join([*phrases(changed, verbose), price, *more])
