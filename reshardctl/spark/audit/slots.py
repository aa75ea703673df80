"""Divides time into slots: at most two hundred a shard and twenty thousand in all."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

from reshardctl.spark.audit.digits import whole
from reshardctl.spark.audit.shard_table import DIGITS, Known
from reshardctl.spark.functions import F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

A_SHARD = 200
IN_ALL = 20_000
LADDER = (
    1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0, 1800.0, 3600.0, 10800.0, 21600.0, 43200.0,
    86400.0, 604800.0, 2592000.0, 31536000.0, 315360000.0,
)  # fmt: skip
"""Widths in seconds; the smallest sufficient one is taken."""
_DAY = 86_400.0
_PIECE = 7
_PIECES = DIGITS // _PIECE
_LOW36 = (1 << 36) - 1


@dataclass(frozen=True, slots=True)
class Slots:
    """Of one shard: `count` slots of `seconds` each, the first from the Unix second `since`."""

    since: float
    seconds: float
    count: int

    def begin(self, slot: int) -> float:
        """The Unix second at which the slot begins."""
        return self.since + slot * self.seconds


def slots(
    known: Known, created: float, taken: float, span: tuple[float, float] | None
) -> tuple[Slots, ...]:
    """Slots of each shard, then of unlisted ones; span: the sink's first and last arrival."""
    most = max(1, min(A_SHARD, IN_ALL // max(1, len(known.shards))))
    earliest, latest = created - _DAY, taken + _DAY
    if span is not None:
        earliest, latest = max(earliest, span[0]), min(latest, span[1])
    lives = [(shard.opened, shard.closed) for shard in known.shards]
    return tuple(_slots(*life, earliest, latest, most) for life in [*lives, (None, None)])


def _slots(
    opened: float | None, closed: float | None, earliest: float, latest: float, most: int
) -> Slots:
    # Arrivals are up to 2.5 s later than the times in the numbers, by which a shard closes.
    since = earliest if opened is None else max(earliest, opened - 10)
    until = latest if closed is None else min(latest, closed + 10)
    length = max(0.0, until - since)
    fitting = [width for width in LADDER if length / width + 1 <= most]
    seconds = fitting[0] if fitting else max(LADDER[-1], length)
    first = floor(since / seconds)
    return Slots(first * seconds, seconds, max(1, floor(until / seconds) - first + 1))


def span(frame: DataFrame) -> tuple[float, float] | None:
    """First and last arrival; `None` if no row has one."""
    row = frame.agg(F.min("arrival").alias("first"), F.max("arrival").alias("last")).collect()[0]
    return None if row["first"] is None else (float(row["first"]), float(row["last"]))


def slot() -> Column:
    """A row's slot, INT, clamped, by its `time` and its shard's `since`, `seconds`, `slots`."""
    counted = F.floor((F.col("time") - F.col("since")) / F.col("seconds"))
    inside = F.least(F.greatest(counted, F.lit(0)), F.col("slots") - 1)
    return inside.cast("int")


def time_in(name: str, width: int) -> Column:
    """The second in a number of layout v2, bits 36 to 71; NULL for any other.

    The number is eight pieces of seven digits. 10^7j modulo 2^72 is a 2^36 + b: the sum of eight
    products of 24 and 36 bits stays below 2^63, and the carry of the b's is added to the a's.
    """
    upper, lower = [], []
    for index in range(_PIECES):
        first = width - (index + 1) * _PIECE + 1
        piece = whole(name, first, _PIECE)
        weight = 10 ** (_PIECE * index) % (1 << 72)
        upper.append(f"{piece} * {weight >> 36}L")
        lower.append(f"{piece} * {weight & _LOW36}L")
    last = whole(name, width - _PIECE + 1, _PIECE)
    carried = f"shiftright({' + '.join(lower)}, 36)"
    return F.expr(
        f"if({last} & 15 = 2, cast(({' + '.join(upper)} + {carried}) & {_LOW36}L AS double), NULL)"
    )
