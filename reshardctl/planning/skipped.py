"""What a start never reads of the unread records: intervals by shard, to be read beside it.

The intervals of one shard have no record in common, and none with what the start reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cmp_to_key
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.model import (
    Cut,
    Interval,
    ShardId,
    Simulation,
    Span,
    Step,
    WillRead,
)
from reshardctl.planning.case import Case, never_read, processed_frontier
from reshardctl.planning.effects import Effect, Harm, effects
from reshardctl.planning.policy import LOSSLESS


class Skipped(Struct, frozen=True):
    """Records that are skipped. certain: all of them are unread, and none of them will be read."""

    records: Interval
    certain: bool


def skipped(case: Case, steps: Sequence[Step]) -> list[Skipped]:
    """What the first start after these steps skips, parents first, oldest records first.

    It is what any candidate skips; certain is what all of them do. Left out: what was passed over
    by an earlier start or has expired, and shards that wait for others or that nobody would read,
    unless the policy takes them as over.
    """
    lineage, policy = case.state.lineage, case.policy
    checkpoint = case.checkpoint()
    if case.bootstrap and case.consumer.empty(checkpoint):
        processed = never_read(lineage)
    else:
        processed = processed_frontier(case)
    strict = LOSSLESS.frontier(lineage, processed)
    after = case.checkpoint(case.after(steps))
    found: dict[ShardId, list[list[Skipped]]] = {}
    for number, candidate in enumerate(case.candidates):
        run = case.simulation(after, candidate)
        for effect in effects(case.state, strict, processed, run):
            shard = effect.shard
            if shard is None or shard not in lineage or effect.gone or effect.past:
                continue
            over = effect.harm is Harm.STALLED and policy.takes_as_over(lineage, shard)
            if effect.harm is Harm.SKIPPED or over:
                each = found.setdefault(shard, [[] for _ in case.candidates])
                each[number] += _parts(effect, processed[shard], run)
    return [part for shard in lineage if shard in found for part in _joined(found[shard])]


def _parts(effect: Effect, span: Span, run: Simulation) -> Iterator[Skipped]:
    """An interval at its widest, cut where it begins and ends to be certain."""
    assert effect.shard is not None
    since, until = effect.since, effect.until
    fate = run.fates.get(effect.shard)
    first = since if span.hi <= since else span.hi
    last = fate.at.lo if isinstance(fate, WillRead) and until == fate.at.hi else until
    certain = first < last <= until
    inner = [cut for cut in (first, last) if certain and since < cut < until]
    for low, high in pairwise([since, *inner, until]):
        inside = certain and first <= low and high <= last
        yield Skipped(Interval(effect.shard, low, high), inside)


def _joined(by_candidate: Sequence[Sequence[Skipped]]) -> list[Skipped]:
    """The parts of one shard without overlaps: certain where every candidate's is."""
    parts = [part for each in by_candidate for part in each]
    ends = [cut for part in parts for cut in (part.records.since, part.records.until)]
    cuts = _in_order(dict.fromkeys(ends))
    joined: list[Skipped] = []
    for low, high in pairwise(cuts):
        covering = [[p for p in each if _covers(p, low, high)] for each in by_candidate]
        if not any(covering):
            continue
        certain = all(any(part.certain for part in each) for each in covering)
        before = joined[-1] if joined else None
        if before and before.certain is certain and before.records.until == low:
            joined[-1] = replace(before, records=replace(before.records, until=high))
        else:
            joined.append(Skipped(Interval(parts[0].records.shard, low, high), certain))
    return joined


def _covers(part: Skipped, low: Cut, high: Cut) -> bool:
    return part.records.since <= low and high <= part.records.until


def _in_order(cuts: Iterable[Cut]) -> list[Cut]:
    """A start by time that has no order among the others stands where it comes."""
    return sorted(cuts, key=cmp_to_key(_compared))


def _compared(a: Cut, b: Cut) -> int:
    return -1 if a < b else 1 if b < a else 0
