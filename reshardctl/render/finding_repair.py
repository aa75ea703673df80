"""How the decision bears on one finding."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reshardctl.diagnosis.report import Report, make
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.model import ShardId, Write, after, writes_of
from reshardctl.planning.effects import Effect
from reshardctl.planning.plan import Decision, Nothing, Plan, Residual
from reshardctl.render.changes import shards_moved, shards_written


@dataclass(frozen=True, slots=True)
class Mending:
    """mended: nothing of it is left after the plan. writes: those on its own shards.

    remains: its effects that the simulation still shows after the plan. residuals: why some of its
    shards are left alone, with the flag that would change that.
    """

    mended: bool
    writes: tuple[Write, ...] = ()
    remains: tuple[Effect, ...] = ()
    residuals: tuple[Residual, ...] = ()


def mending(report: Report, finding: Finding) -> Mending:
    """What the decision does about a finding."""
    residuals = residuals_of(report, finding)
    if not isinstance(report.decision, Plan) or finding.severity is Severity.INFO:
        return Mending(False, residuals=residuals)
    own = set(finding.shards)
    writes = tuple(
        w for w in writes_of(report.decision.steps)
        if own.intersection(shards_written(report, w))
    )
    left = {(e.harm, e.shard): e for run in report.decision.after for e in run}
    remains = tuple(
        left[mark] for e in finding.effects if (mark := (e.harm, e.shard)) in left
    )
    if remains:
        writes = tuple(w for w in writes if own.intersection(shards_moved(report, w)))
    if not writes and not finding.effects:
        return Mending(not _comes_back(report, report.decision, finding), residuals=residuals)
    return Mending(not remains and not residuals, writes, remains, residuals)


def _comes_back(report: Report, decision: Plan, finding: Finding) -> bool:
    """Whether the planned rows, judged anew, show it too: for findings that rest on no effect."""
    rows = tuple(after(report.snapshot.images, decision.steps))
    then = make(replace(report.snapshot, images=rows), replace(report.options, bootstrap=False))
    own = set(finding.shards)
    return any(f.code == finding.code and own & {*f.shards} for f in then.findings)


def residuals_of(report: Report, finding: Finding) -> tuple[Residual, ...]:
    """Shards left alone that the finding is about, or that its shards wait for."""
    concerned = set(finding.shards) | {shard for e in finding.effects for shard in e.by}
    return tuple(r for r in all_residuals(report) if r.shard in concerned)


def all_residuals(report: Report) -> tuple[Residual, ...]:
    """Every shard that is left alone."""
    decision = report.decision
    return decision.residuals if isinstance(decision, Plan | Nothing) else ()


def fixable(report: Report) -> list[Finding]:
    """The findings of which the plan leaves nothing. None of a forecast: fix would not see them."""
    if report.snapshot.foreseen is not None:
        return []
    return [finding for finding in report.findings if mending(report, finding).mended]


def effects_after(decision: Decision) -> list[Effect]:
    """What the planned rows still cost under any candidate, and what the policy gives up."""
    if not isinstance(decision, Plan):
        return []
    return [e for run in decision.after for e in run] + list(decision.costs)


def costs_after(decision: Decision) -> dict[ShardId, list[Effect]]:
    """The same by shard, without what no write could change any more."""
    by_shard: dict[ShardId, list[Effect]] = {}
    for effect in effects_after(decision):
        if effect.shard is not None and not effect.gone and not effect.past:
            by_shard.setdefault(effect.shard, []).append(effect)
    return by_shard
