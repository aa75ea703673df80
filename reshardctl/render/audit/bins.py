"""Buckets of different widths as bars of one width: sums are kept, a bucket is spread evenly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reshardctl.auditing.facts import Bucket

MOST = 120
"""Bars of a chart."""


@dataclass(frozen=True, slots=True)
class Bars:
    """since, until: Unix seconds. Of every bar: rows in the sink, records missing, rows too many.

    rows: the rows too many among them.
    """

    since: float
    until: float
    rows: Sequence[float]
    missing: Sequence[float]
    extra: Sequence[float]

    @property
    def highest(self) -> float:
        """Of the stack of rows and missing records; at least 1."""
        return max((r + m for r, m in zip(self.rows, self.missing, strict=True)), default=1) or 1


def span(buckets: Iterable[Bucket]) -> tuple[float, float] | None:
    """From the first to the last bucket in which something is."""
    full = [bucket for bucket in buckets if bucket.rows or bucket.missing or bucket.extra]
    if not full:
        return None
    ends = (bucket.since + bucket.seconds for bucket in full)
    return min(bucket.since for bucket in full), max(ends)


def bars(buckets: Iterable[Bucket], ends: tuple[float, float], count: int = MOST) -> Bars:
    """ends: Unix seconds; what lies outside of them is left out."""
    since, until = ends
    width = (until - since) / count or 1.0
    rows, missing, extra = ([0.0] * count for _ in range(3))
    for bucket in buckets:
        for index, share in _shares(bucket, since, width, count):
            rows[index] += bucket.rows * share
            missing[index] += bucket.missing * share
            extra[index] += bucket.extra * share
    return Bars(since, until, rows, missing, extra)


def _shares(
    bucket: Bucket, since: float, width: float, count: int
) -> Iterable[tuple[int, float]]:
    """Bars that a bucket touches, and which share of it falls into each."""
    begin, end = bucket.since - since, bucket.since + bucket.seconds - since
    first, last = int(begin // width), int(-(-end // width)) - 1
    for index in range(max(first, 0), min(last, count - 1) + 1):
        inside = min(end, (index + 1) * width) - max(begin, index * width)
        if inside > 0 and bucket.seconds > 0:
            yield index, inside / bucket.seconds
