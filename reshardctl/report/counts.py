"""Adds the number of records to effects, where they were counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from reshardctl.diagnosis.rules import Finding
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, TIP, Count, Interval, Probe, ShardId
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import Decision, Judged, Nothing, Plan, Residual

_COUNTABLE = (Harm.SKIPPED, Harm.REREAD, Harm.STALLED)

Counts = Mapping[Interval, Count]


def by_probes(probes: Mapping[ShardId, Probe]) -> dict[Interval, Count]:
    """Counts that probes have made: all records after a position."""
    counts: dict[Interval, Count] = {}
    for shard, probe in probes.items():
        if not probe.silent:
            count = count_of(probe)
            counts |= {Interval(shard, probe.since, until): count for until in (TIP, DONE)}
    return counts


def count_of(probe: Probe) -> Count:
    """What a probe that is not silent has counted from its cut on."""
    return Count(
        probe.count, probe.more, probe.first_arrival, probe.last_arrival, probe.size_bytes
    )


def intervals(
    lineage: Lineage, judged: Iterable[Judged], decision: Decision
) -> list[Interval]:
    """The intervals of the effects, each once, the plan's own first."""
    effects = [*_of_decision(decision), *(e for candidate in judged for e in candidate.effects)]
    all_of_them = (interval_of(e) for e in effects if e.shard in lineage)
    return list(dict.fromkeys(interval for interval in all_of_them if interval is not None))


def interval_of(effect: Effect) -> Interval | None:
    """The records that an effect concerns; `None` where it concerns none, or none are left."""
    if effect.shard is None or effect.harm not in _COUNTABLE or effect.gone:
        return None
    if any(cut.by_time and cut.time is None for cut in (effect.since, effect.until)):
        return None
    return Interval(effect.shard, effect.since, effect.until)


def counted_judged(judged: Iterable[Judged], counts: Counts) -> tuple[Judged, ...]:
    """Every candidate's effects with their counts."""
    return tuple(replace(j, effects=_counted(j.effects, counts)) for j in judged)


def counted_findings(findings: Iterable[Finding], counts: Counts) -> tuple[Finding, ...]:
    """Every finding's effects with their counts."""
    return tuple(replace(f, effects=_counted(f.effects, counts)) for f in findings)


def counted_decision(decision: Decision, counts: Counts) -> Decision:
    """A plan's effects, costs and residuals with their counts."""
    match decision:
        case Plan():
            return replace(
                decision,
                before=tuple(_counted(run, counts) for run in decision.before),
                after=tuple(_counted(run, counts) for run in decision.after),
                costs=_counted(decision.costs, counts),
                price=_counted(decision.price, counts),
                residuals=_of_residuals(decision.residuals, counts),
            )
        case Nothing(residuals):
            return Nothing(_of_residuals(residuals, counts))
        case _:
            return decision


def _of_decision(decision: Decision) -> Iterator[Effect]:
    if isinstance(decision, Plan):
        yield from (*decision.costs, *(e for run in decision.after for e in run))
    if isinstance(decision, Plan | Nothing):
        yield from (residual.costs for residual in decision.residuals)


def _of_residuals(residuals: Iterable[Residual], counts: Counts) -> tuple[Residual, ...]:
    return tuple(replace(r, costs=_with_count(r.costs, counts)) for r in residuals)


def _counted(effects: Iterable[Effect], counts: Counts) -> tuple[Effect, ...]:
    return tuple(_with_count(effect, counts) for effect in effects) if counts else tuple(effects)


def _with_count(effect: Effect, counts: Counts) -> Effect:
    interval = interval_of(effect)
    if interval is None or interval not in counts:
        return effect
    return replace(effect, records=counts[interval])
