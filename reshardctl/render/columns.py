"""Where the columns of a table go: side by side if nothing is cut for it, else not at all."""

from __future__ import annotations

import re
from collections.abc import Sequence

LEAST = 20
"""Columns that a cell of running text needs to be read."""
GAPS = ((80, 3), (70, 2), (0, 1))
"""From which width on, how many blanks stand between two columns at most."""
_NUMBER = re.compile(r"\d+")


def side_by_side(
    sizes: Sequence[int], least: Sequence[int], room: int
) -> tuple[list[int], int] | None:
    """The width of each column and the gap between two, or None where there is no room.

    sizes: the widest cell of each column. least: how far each may give way.
    """
    widest = next(gap for wide, gap in GAPS if room >= wide)
    for gap in range(widest, 0, -1):
        widths = _widths(sizes, least, room - gap * (len(sizes) - 1))
        if widths is not None:
            return widths, gap
    return None


def _widths(sizes: Sequence[int], least: Sequence[int], room: int) -> list[int] | None:
    """What can give way most gives way first."""
    widths = list(sizes)
    if sum(least) > room:
        return None
    for _ in range(sum(widths) - room):
        widths[max(range(len(widths)), key=lambda i: widths[i] - least[i])] -= 1
    return widths


def least_of(cells: Sequence[str], size: int) -> int:
    """How narrow a column of running text may be: none of its numbers is broken."""
    numbers = (len(number) for cell in cells for number in _NUMBER.findall(cell))
    return max(min(size, LEAST), *numbers, 0)
