"""Where things are in the picture: time across, hash space down, both in pixels."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import pairwise

from msgspec import Struct

from reshardctl.model import HASH_SPACE
from reshardctl.render.graph.chart import Box, Chart

LEFT, TOP, BOTTOM = 64.0, 60.0, 46.0
WIDTH = 1000.0
"""Pixels of the time axis."""
RIGHT, RIGHT_WITH_PLACES = 64.0, 256.0
LOWEST, HIGHEST = 300.0, 12000.0
"""Pixels of the hash axis."""
LEAST = 60.0
"""Seconds that the time axis shows at least."""
BEFORE = 0.12
"""How much is shown of the time before the first event, as a share of the time since."""

_ROW = ((16, 26.0), (64, 18.0), (256, 12.0))
_ROW_OF_MANY = 10.0
_STEPS = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400,
    172800, 432000, 864000, 2592000, 8640000, 31536000,
)  # fmt: skip
_TICKS = 9


class Layout(Struct, frozen=True):
    """since, until: Unix seconds at the left and the right end of the time axis."""

    since: float
    until: float
    height: float
    right: float

    def x(self, moment: float) -> float:
        """Pixels from the left; what is older than the axis lies at its left end."""
        inside = min(max(moment, self.since), self.until)
        return LEFT + (inside - self.since) / (self.until - self.since) * WIDTH

    def y(self, key: int) -> float:
        """Pixels from the top of a hash key's upper edge."""
        return TOP + key / HASH_SPACE * self.height

    @property
    def size(self) -> tuple[float, float]:
        """Of the whole picture."""
        return LEFT + WIDTH + self.right, TOP + self.height + BOTTOM

    def ticks(self) -> list[float]:
        """Round moments along the time axis."""
        span = self.until - self.since
        step = next((s for s in _STEPS if span / s <= _TICKS), _STEPS[-1])
        first = int(self.since // step) + 1
        return [float(n * step) for n in range(first, int(self.until // step) + 1)]


def layout_of(chart: Chart) -> Layout:
    """An axis that shows every event of the listed shards, and rows that can be read."""
    until = max([chart.now, *(box.closed for box in chart.boxes)])
    start = _start(chart, until) if chart.since is None else chart.since
    since = min(start, until - LEAST)
    right = RIGHT_WITH_PLACES if chart.consumer else RIGHT
    return Layout(since, until, _height(chart), right)


def _start(chart: Chart, until: float) -> float:
    """A while before the first event: a reshard, or a place where something is unread from.

    What is older than the stream's retention is gone. A shard that has been open for a year must
    not press an hour of resharding into a line.
    """
    oldest = min((box.opened for box in chart.boxes), default=until)
    horizon = chart.now - chart.stream.retention
    events = [box.closed for box in chart.boxes if not box.open]
    events += [box.opened for box in chart.boxes if box.parents]
    for box in chart.boxes:
        if box.unread_since is not None:
            events.append(max(box.unread_since, horizon))
    first = min((e for e in events if e < until), default=max(oldest, horizon))
    return max(oldest, first - BEFORE * (until - first))


def _height(chart: Chart) -> float:
    """All but the smallest open shards get a row in which their number can be read.

    A few shards with a single hash key do not make it taller than twice a row for each.
    """
    opened = [box for box in chart.boxes if box.open] or list(chart.boxes)
    if not opened:
        return LOWEST
    sizes = sorted((box.high - box.low + 1) / HASH_SPACE for box in opened)
    small = sizes[len(sizes) // 8]
    row = next((r for most, r in _ROW if len(opened) <= most), _ROW_OF_MANY)
    return min(max(row / small, LOWEST), max(2 * row * len(opened), LOWEST), HIGHEST)


def open_edge(chart: Chart, until: float) -> list[tuple[int, int, float]]:
    """The consumer's line from top to bottom: hash keys from, to (exclusive), and the moment.

    Left of it everything is processed; a key with nothing unread lies at `until`.
    """
    owing = sorted(
        (box.low, box.high, box.unread_since) for box in chart.boxes
        if box.unread_since is not None
    )
    edges = sorted({0, HASH_SPACE, *_edges(chart.boxes)})
    line: list[tuple[int, int, float]] = []
    active: list[tuple[float, int]] = []
    index = 0
    for low, end in pairwise(edges):
        while index < len(owing) and owing[index][0] <= low:
            heappush(active, (owing[index][2], owing[index][1]))
            index += 1
        while active and active[0][1] < low:
            heappop(active)
        moment = active[0][0] if active else until
        if line and line[-1][2] == moment:
            line[-1] = (line[-1][0], end, moment)
        else:
            line.append((low, end, moment))
    return line


def _edges(boxes: tuple[Box, ...]) -> set[int]:
    return {edge for box in boxes for edge in (box.low, box.high + 1)}
