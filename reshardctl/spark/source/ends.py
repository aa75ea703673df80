"""Where the next batch ends in each shard: at the tip, at a share of a limit, or at a goal.

A batch's limit of records is divided among the shards in turns: shards that had no records last
time come first, then the oldest in the lineage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct, field
from msgspec.structs import replace

from reshardctl.kinesis.fast import order
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.spark.source.latest import begin_of
from reshardctl.spark.source.losses import GRACE, Progress, from_birth, stands_for
from reshardctl.spark.source.offset import OffsetPosition
from reshardctl.spark.tips import IDLE_PACE, Found, Tips

ROUNDS = 4
"""How often the rest of a share is offered to the other shards."""
Count = Callable[[Mapping[ShardId, str | None], int], Mapping[ShardId, Found]]
"""Shards with the last number taken of each (`None`: none yet), and the limit for each; returns
what was taken."""


class Shares(Struct):
    """Divides the records of triggers. _served: when each shard last had records, by trigger."""

    _served: dict[ShardId, int] = field(default_factory=dict)
    _trigger: int = 0

    def taken(self, shards: Sequence[ShardId], most: int, count: Count) -> Mapping[ShardId, Found]:
        """What is taken of each shard that was asked, of `most` records in all.

        shards: in the lineage's order. The counts of all rounds of a shard are one `Found`.
        """
        self._trigger += 1
        waiting = sorted(shards, key=lambda shard: self._served.get(shard, 0))
        taken_by_shard: dict[ShardId, Found] = {}
        again = 0
        # All are asked before any round counts, because empty shards always come first.
        while waiting and most and again < ROUNDS:
            again += all(shard in taken_by_shard for shard in waiting)
            waiting, most = self._round(waiting, most, count, taken_by_shard)
        for shard, taken in taken_by_shard.items():
            if taken.count:
                self._served[shard] = self._trigger
        return taken_by_shard

    def _round(
        self, shards: Sequence[ShardId], most: int, count: Count, taken: dict[ShardId, Found]
    ) -> tuple[list[ShardId], int]:
        """One round; returns shards that may have more, and the number of records still allowed."""
        share = max(1, most // len(shards))
        asked, hungry = shards[: most // share], list(shards[most // share :])
        numbers = {shard: taken.get(shard, Found()).number for shard in asked}
        for shard, counted in count(numbers, share).items():
            most -= counted.count
            taken[shard] = _joined(taken.get(shard, Found()), counted)
            if counted.count >= share and not counted.ended:
                hungry.append(shard)
        return hungry, most


def _joined(before: Found, then: Found) -> Found:
    return Found(
        then.number or before.number,
        before.behind or then.behind,
        then.quiet,
        then.ended,
        before.count + then.count,
    )


AT_ONCE = 10
"""Shards that are asked at the same time, which is the number of connections that boto3 keeps open.
"""
_REFRESH = 4
"""A tip is noted again when it is older than this part of the retention."""


class Goals(Struct, frozen=True):
    """Where a run of AvailableNow ends.

    shards: the number at the tip, "" for an empty open shard, `None` for a closed one: its end. at:
    when that was so, Unix seconds.
    """

    shards: Mapping[ShardId, str | None]
    at: float


class Reached(Struct, frozen=True):
    """The positions after a batch, whether they are worth one, and whether a listed shard ended."""

    places: dict[ShardId, OffsetPosition]
    moved: bool
    unlisted: bool


class Ends(Struct):
    """Finds the ends; asks open shards, several at a time, and closed ones only to count."""

    tips: Tips
    progress: Progress
    clock: Callable[[], float]
    _shares: Shares = field(default_factory=Shares)

    def goals(self, lineage: Lineage) -> Goals:
        """Where the stream ends now."""
        at = self.clock()
        opened = list(lineage.open_shards())
        numbers = self._each(self.tips.tip, opened)
        tip_numbers = {shard: (tip.number or "") for shard, tip in numbers.items()}
        return Goals({shard: tip_numbers.get(shard) for shard in lineage}, at)

    def of(
        self, lineage: Lineage, places: Mapping[ShardId, OffsetPosition], pins: Iterable[ShardId],
        goals: Goals | None, most: int | None,
    ) -> Reached:  # fmt: skip
        """The positions after the next batch. most: records in all, `None` for no limit."""
        pinned = self._pinned(list(pins), goals)
        unfinished = [
            s for s in lineage
            if (position := places.get(s)) is not None and not position.end and s not in pinned
            and (goals is None or s in goals.shards)
        ]  # fmt: skip
        now, ends = self.clock(), dict(places)
        over: set[ShardId] = set()
        seen: Mapping[ShardId, Found]
        if most is None:
            over = {s for s in unfinished if _to_end(lineage, s, goals)}
            asked = [s for s in unfinished if s not in over]
            seen = self._each(lambda s: self._newest(s, places[s], goals), asked)
        else:
            seen = self._counted(places, unfinished, goals, most)
        for shard in over:
            self.progress.unasked(lineage, shard, places[shard], now)
            ends[shard] = replace(places[shard], end=True, tip=None)
        unlisted = False
        for shard, of_shard in seen.items():
            self.progress.behind[shard] = of_shard.behind
            if goals and of_shard.number and not of_shard.behind:
                self.progress.unasked(lineage, shard, places[shard], now)
            if of_shard.ended and lineage.is_open(shard):
                unlisted = True
            ended = of_shard.ended and _to_end(lineage, shard, goals)
            number, before = of_shard.number, places[shard]
            position = before if number is None else before.reached(number)
            ends[shard] = replace(position, end=True, tip=None) if ended else position
        ends.update(pinned)
        moved = any(ends[s].seq != places[s].seq or ends[s].end != places[s].end for s in ends)
        quiet = {s for s, tip in seen.items() if tip.quiet and not ends[s].end}
        at = (goals.at if goals else now) - IDLE_PACE
        return self._noted(lineage, Reached(ends, moved, unlisted), quiet, at)

    def _noted(
        self, lineage: Lineage, reached: Reached, quiet: set[ShardId], at: float
    ) -> Reached:
        """Notes the tips of quiet shards, if the offset changes anyway or they are old."""
        retention = lineage.stream.retention
        stale = any(_age(reached.places[s], at) > retention / _REFRESH for s in quiet)
        places = {
            s: replace(p, tip=round(at, 3)) if s in quiet else p for s, p in reached.places.items()
        }
        for shard, position in places.items():
            # A shard without a share yet has no unread records older than itself.
            if (
                position == OffsetPosition()
                and (born := from_birth(lineage, shard, position).tip) is not None
            ):
                places[shard] = OffsetPosition(tip=max(born, round(at - retention + GRACE, 3)))
        return Reached(places, reached.moved or stale, reached.unlisted)

    def _pinned(self, shards: list[ShardId], goals: Goals | None) -> dict[ShardId, OffsetPosition]:
        """The tips of `shards` as the positions after which to begin."""
        at = goals.at if goals else self.clock()
        if goals:
            numbers = {shard: goals.shards.get(shard) for shard in shards}
        else:
            numbers = {s: tip.number for s, tip in self._each(self.tips.tip, shards).items()}
        return {
            shard: OffsetPosition(number or "", tip=round(at, 3))
            for shard, number in numbers.items()
        }

    def _newest(self, shard: ShardId, position: OffsetPosition, goals: Goals | None) -> Found:
        begin = begin_of(position)
        if goals is None:
            return self.tips.behind(shard, begin)
        goal = goals.shards[shard]
        if goal is None or _reached(position, goal):
            return Found(quiet=True)
        if begin.kind == "AT_TIMESTAMP":
            first = self.tips.count(shard, begin, 1, goal)
            if first.number is None:
                return Found(quiet=True)
        return Found(goal, count=1)

    def _counted(
        self, places: Mapping[ShardId, OffsetPosition], shards: list[ShardId], goals: Goals | None,
        most: int,
    ) -> Mapping[ShardId, Found]:  # fmt: skip
        def count(numbers: Mapping[ShardId, str | None], share: int) -> Mapping[ShardId, Found]:
            def count_shard(shard: ShardId) -> Found:
                number = numbers[shard]
                position = places[shard] if number is None else places[shard].reached(number)
                goal = goals.shards[shard] if goals else None
                if goal is not None and _reached(position, goal):
                    return Found(quiet=True)
                return self.tips.count(shard, begin_of(position), share, goal)

            return self._each(count_shard, list(numbers))

        return self._shares.taken(shards, most, count) if shards else {}

    def _each(
        self, ask: Callable[[ShardId], Found], shards: list[ShardId]
    ) -> dict[ShardId, Found]:
        if len(shards) < 2:
            return {shard: ask(shard) for shard in shards}
        with ThreadPoolExecutor(min(AT_ONCE, len(shards))) as pool:
            return dict(zip(shards, pool.map(ask, shards), strict=True))


def _to_end(lineage: Lineage, shard: ShardId, goals: Goals | None) -> bool:
    """Whether a batch may read the shard to its end."""
    return not lineage.is_open(shard) and (goals is None or goals.shards[shard] is None)


def _reached(position: OffsetPosition, goal: str) -> bool:
    return not goal or (bool(position.seq) and order(position.seq) >= order(goal))


def _age(position: OffsetPosition, now: float) -> float:
    then = stands_for(position)
    return 0.0 if then is None and position.seq else now - (then or 0.0)
