"""Times in the lines of a batch, found once: numbers of the last records before them.

As the policies have it, the first record that arrived at or after a time decides, because arrival
times are not monotonic. So what ends at a time and what begins at it have each record once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from reshardctl.errors import CannotTell, UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import START, PositionAtTime, ShardId
from reshardctl.model.times import instant
from reshardctl.snapshot.resolve import open_at
from reshardctl.spark.source.lines import Ending
from reshardctl.spark.source.options import (
    AFTER_SEQUENCE_NUMBER,
    AT_TIMESTAMP,
    SHARD_END,
    TRIM_HORIZON,
    Start,
    Starting,
)

Places = Callable[[Mapping[ShardId, float | None], float], Mapping[ShardId, PositionAtTime | None]]
"""Each of these shards' position at a time (`Kinesis.places`)."""


def ends_found(
    lineage: Lineage, ending: Ending, places: Places, now: Callable[[], float] = time.time
) -> Ending:
    """The ends with a number, SHARD_END or nothing (`None`) in place of each time.

    UsageError for a time in the future, CannotTell if the records around one were not reached.
    """
    if ending is None:
        return None
    ends = dict.fromkeys(lineage, ending) if isinstance(ending, float) else dict(ending)
    times = {shard: end for shard, end in ends.items() if isinstance(end, float)}
    found = _found("endingLine", lineage, times, places, now)
    return ends | {s: None if end == TRIM_HORIZON else end for s, end in found.items()}


def starts_found(
    lineage: Lineage, starting: Starting, places: Places, now: Callable[[], float] = time.time
) -> Starting:
    """The starts without times, likewise."""
    shards = dict(starting.shards)
    everywhere = starting.everywhere
    if everywhere is not None and everywhere.kind == AT_TIMESTAMP:
        shards, everywhere = dict.fromkeys(lineage, everywhere), None
    times = {
        shard: start.value for shard, start in shards.items()
        if start.kind == AT_TIMESTAMP and isinstance(start.value, float)
    }
    found = _found("startingLine", lineage, times, places, now)
    return Starting(everywhere, shards | {s: _start(word) for s, word in found.items()})


def _start(word: str) -> Start:
    words = (TRIM_HORIZON, SHARD_END)
    return Start(word) if word in words else Start(AFTER_SEQUENCE_NUMBER, word)


def _found(
    line: str, lineage: Lineage, times: Mapping[ShardId, float], places: Places,
    now: Callable[[], float],
) -> dict[ShardId, str]:
    """Listed shards with the number before their time, TRIM_HORIZON or SHARD_END."""
    found: dict[ShardId, str] = {}
    for at in sorted(set(times.values())):
        if at > now():
            raise UsageError(
                f"{line}: {instant(at)} is in the future", "give a time that has passed, or TIP"
            )
        asked = [shard for shard, time in times.items() if time == at and shard in lineage]
        around = open_at(lineage, at)
        held = {shard: around[shard] for shard in asked if shard in around}
        positions = places(held, at) if held else {}
        if missed := _missed(positions):
            raise CannotTell(
                f"{line}: where {missed} stood at {instant(at)} was not found within the reads "
                "allowed", "run this again, or give numbers, as reshardctl export has them",
            )
        for shard in asked:
            opened, position = lineage.opened_at(shard), positions.get(shard)
            if position is None:
                later = opened is not None and opened >= at
                found[shard] = TRIM_HORIZON if later else SHARD_END
            elif position.nothing_after and not lineage.is_open(shard):
                found[shard] = SHARD_END
            else:
                found[shard] = TRIM_HORIZON if position.at == START else position.at.text
    return found


def _missed(positions: Mapping[ShardId, PositionAtTime | None]) -> str:
    """A shard whose position is not known, or not exactly; "" if there is none."""
    missed: Iterable[str] = (s for s, place in positions.items() if place is None or place.early)
    return next(iter(missed), "")
