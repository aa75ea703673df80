"""Policies: which line the operator wants, and what it may cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reshardctl.lineage import Lineage
from reshardctl.model import DONE, TIP, Cut, Line, ShardId, Wanted

HOUR = 3600.0
EVERYTHING = 1e12
"""Seconds beyond any stream's retention: a limit that takes what has no known width, too."""


@dataclass(frozen=True, slots=True)
class Accept:
    """What the operator accepts. skip, reread: seconds of stream time a shard; disorder: any."""

    skip: float = 0.0
    reread: float = HOUR
    disorder: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """A line to want. `skips`: the line may lie right of what is settled; that is its point."""

    name: str
    line: Callable[[Lineage, Line], Wanted]
    skips: bool = False


def _lossless(_lineage: Lineage, settled: Line) -> dict[ShardId, Cut]:
    """Skip nothing, re-read as little as possible: the low end of every span."""
    return {shard: span.lo for shard, span in settled.items()}


def _latest_at_start(lineage: Lineage, settled: Line) -> dict[ShardId, Cut]:
    """Every open shard at its tip as of the next start, every closed one over."""
    return {
        shard: TIP if shard in lineage and lineage.is_open(shard) else DONE for shard in settled
    }


LOSSLESS = Policy("lossless", _lossless)
LATEST_AT_START = Policy("latest-at-start", _latest_at_start, skips=True)

POLICIES = {policy.name: policy for policy in (LOSSLESS, LATEST_AT_START)}
