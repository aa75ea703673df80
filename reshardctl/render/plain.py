"""One finding in plain sentences, for formats without room for a picture. Not escaped yet."""

from __future__ import annotations

from reshardctl.diagnosis.rules import Finding
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Plan
from reshardctl.render.forecast_words import already_so, supposed
from reshardctl.render.text_fix import decision_reasons, left_alone, own_reasons, phrases
from reshardctl.render.words import about, absolute, only_if, sentence, shortened, widest
from reshardctl.report.changes import Mending, changes, costs_after, mending
from reshardctl.report.report import Report, question


def title(finding: Finding) -> str:
    """`RSH203 child-not-started`."""
    return f"{finding.code} {finding.name}"


def sentences(report: Report, finding: Finding, verbose: bool = False) -> list[str]:
    """What it is, what it costs, under which options, by when, and the fix: one sentence each."""
    forecast = [f"forecast, {supposition}" if (supposition := supposed(report)) else "",
                already_so(report, finding, verbose)]
    parts = [*forecast, about(finding, verbose), finding.costs]
    if only := only_if(report, finding):
        parts.append(f"only if {only}")
    if finding.deadline is not None and finding.effects:
        parts.append(absolute(finding.effects, finding.deadline))
    parts.append(f"Fix: {remedy(report, finding, verbose)}")
    return [sentence(shortened(part, verbose)) for part in parts if part]


def remedy(report: Report, finding: Finding, verbose: bool) -> str:
    """What fix would write for it, or why it writes nothing."""
    repair = mending(report, finding)
    if repair.writes:
        return _written(report, finding, repair, verbose)
    return "; ".join(own_reasons(finding, repair) or decision_reasons(
        report.decision, finding, lambda ask: f"{ask.needs}: {question(report, ask)}"
    ))


def _written(report: Report, finding: Finding, repair: Mending, verbose: bool) -> str:
    decision = report.decision
    assert isinstance(decision, Plan)
    changed = [
        row for row in changes(report, decision.steps)
        if row.shard in finding.shards and row.write in repair.writes
    ]
    costs = costs_after(decision)
    left = [e for row in changed for e in costs.get(row.shard, ())]
    price = f"skips {widest(left, Harm.SKIPPED)}, re-reads {widest(left, Harm.REREAD)}"
    more = [left_alone(residual) for residual in repair.residuals]
    return "; ".join([*phrases(changed, verbose), price, *more])
