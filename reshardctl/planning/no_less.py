"""Compares what a start without a plan would deliver with a start after the plan.

A shard that is only inferred to be over may not be. If the library itself reads it again, a plan
that prevents this could lose records; a probed end is certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reshardctl.model import Basis, Cut, Fate, Frontier, ShardId, Simulation, Span, WillRead
from reshardctl.planning.effects import Effect, Harm


def delivers_no_less(processed: Frontier, before: Simulation, then: Simulation) -> bool:
    """Whether a start delivers what the other does, except what is stored as processed."""
    return not withheld(processed, before, then)


def withheld(processed: Frontier, before: Simulation, then: Simulation) -> dict[ShardId, Cut]:
    """The shards of which a start delivers less than the other, and where the other reads from.

    A start that crashes is not compared.
    """
    if before.crash is not None and before.crash.certain:
        return {}
    return {
        shard: fate.at.lo for shard, fate in before.fates.items()
        if isinstance(fate, WillRead) and then.fates.get(shard) is not fate
        and not _reads_as_much(processed.get(shard), fate, then.fates.get(shard))
    }


def loses_nothing(effects: Iterable[Effect]) -> bool:
    """Whether a start skips nothing, stalls nothing and does not crash, where avoidable."""
    return not any(
        effect.harm in (Harm.SKIPPED, Harm.STALLED, Harm.CRASHES) for effect in effects
        if not (effect.gone or effect.past or effect.inherent)
    )


def reopened(processed: Frontier, kept: Mapping[ShardId, Cut]) -> Frontier:
    """The frontier with these shards possibly read no further than here."""
    if not kept:
        return processed
    return {
        shard: Span(
            min(span.lo, kept[shard]), span.hi, Basis.INFERRED, "the next start reads it again"
        ) if shard in kept and span.basis is Basis.INFERRED else span
        for shard, span in processed.items()
    }


def _reads_as_much(known: Span | None, fate: WillRead, then: Fate | None) -> bool:
    since = fate.at.lo
    if known is not None and known.basis is not Basis.INFERRED:
        since = max(since, known.lo)
    if since >= fate.until:
        return True
    if not isinstance(then, WillRead) or then.until < fate.until:
        return False
    return then.at == fate.at or then.at.hi <= since
