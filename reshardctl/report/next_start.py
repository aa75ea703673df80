"""What the next start does with each shard, in one of a few words: the column of `status`.

The words are read off the simulation and its effects, never off the position. NEVER is what is
lost: a shard that is left alone and has nothing unread is FINISHED, or else LEFT.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import TypeGuard

from msgspec import Struct

from reshardctl.model import Cause, Fate, Frontier, Rank, ShardId, WillRead
from reshardctl.planning.case import Judged
from reshardctl.planning.effects import Effect, Harm
from reshardctl.report.report import Report


class Begins(StrEnum):
    """Where a start reads a shard from, or why it does not."""

    POSITION = "position"
    BEGINNING = "beginning"
    TIP = "tip"
    TIME = "time"
    NEVER = "never"
    PERHAPS = "perhaps"
    """Perhaps never: a loss that is possible and not certain."""
    FINISHED = "finished"
    LEFT = "left"
    """It is not read, and nothing in it is known to be unread."""


class NextStart(Struct, frozen=True):
    """What one start does with a shard, once all of `waits_for` have ended."""

    begins: Begins
    waits_for: tuple[ShardId, ...] = ()


def next_starts(report: Report, frontier: Frontier) -> Mapping[ShardId, tuple[NextStart, ...]]:
    """Each shard's next start; more than one where the application's options make a difference."""
    found: defaultdict[ShardId, dict[NextStart, None]] = defaultdict(dict)
    for judged in report.judged:
        for shard, start in starts_of(judged, frontier).items():
            found[shard][start] = None
    return {shard: tuple(starts) for shard, starts in found.items()}


def crash_of(report: Report) -> str:
    """`may crash at its start: why`; for certain where every candidate does; "" for none."""
    crashes = [judged.simulation.crash for judged in report.judged]
    first_crash = next((crash for crash in crashes if crash is not None), None)
    if first_crash is None:
        return ""
    certain = all(crash is not None and crash.certain for crash in crashes)
    what = "crashes at its start, so no shard is read" if certain else "may crash at its start"
    return f"{what}: {first_crash.why}"


def starts_of(judged: Judged, frontier: Frontier) -> dict[ShardId, NextStart]:
    """What the next start under one candidate's options does with each shard."""
    fates, lost = judged.simulation.fates, _lost(judged)
    over = {shard for shard, fate in fates.items() if _is_over(fate) and fate.ends}
    done = {shard for shard, span in frontier.items() if span.lo.rank is Rank.DONE}
    return {
        shard: _next(fate, over, lost.get(shard), shard in done) for shard, fate in fates.items()
    }


def _lost(judged: Judged) -> dict[ShardId, Begins]:
    """Shards that a start does not read to their end although it should."""
    crash, lost = judged.simulation.crash, dict[ShardId, Begins]()
    if crash is not None:
        word = Begins.NEVER if crash.certain else Begins.PERHAPS
        return dict.fromkeys(judged.simulation.fates, word)
    for effect in judged.effects:
        if effect.shard is not None and _loses(effect, judged.simulation.fates.get(effect.shard)):
            sure = effect.certain or lost.get(effect.shard) is Begins.NEVER
            lost[effect.shard] = Begins.NEVER if sure else Begins.PERHAPS
    return lost


def _loses(effect: Effect, fate: Fate | None) -> bool:
    """Whether the shard, or all that is left of it, is not read."""
    if effect.harm is Harm.STALLED:
        return True
    return effect.harm is Harm.SKIPPED and not effect.past and _is_over(fate)


def _is_over(fate: Fate | None) -> TypeGuard[WillRead]:
    return isinstance(fate, WillRead) and fate.at.lo.rank is Rank.DONE


def _next(fate: Fate, over: Collection[ShardId], lost: Begins | None, done: bool) -> NextStart:
    if lost is not None:
        return NextStart(lost)
    if not isinstance(fate, WillRead):
        return NextStart(Begins.FINISHED if done else Begins.LEFT)
    cut = fate.at.lo
    if cut.rank is Rank.DONE or fate.cause is Cause.GONE:
        return NextStart(Begins.FINISHED)
    if fate.cause is Cause.UNBORN:
        return NextStart(Begins.LEFT)
    by_rank = {Rank.START: Begins.BEGINNING, Rank.TIP: Begins.TIP}
    begins = Begins.TIME if cut.by_time else by_rank.get(cut.rank, Begins.POSITION)
    return NextStart(begins, tuple(sorted(shard for shard in fate.after if shard not in over)))
