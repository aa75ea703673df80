"""The children of each shard, as chains through arrays."""

from __future__ import annotations

import heapq
from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import count, islice
from operator import ge

from reshardctl.errors import StreamUnsettled
from reshardctl.lineage.columns import NOBODY, Columns


class Links:
    """Children by parent. `first[p]` starts p's chain and `later` continues it.

    A link from n on (the number of rows) is that of row - n as the adjacent parent's child.
    Unlisted parents, which have rows -2, -3, ..., count from the back of `first`; its last element
    is that of NOBODY, whose chain nobody follows.
    """

    def __init__(self, columns: Columns) -> None:
        rows = len(columns.ids)
        self._rows = rows
        # Lists while they are filled, which is twice as fast as filling arrays.
        first = [NOBODY] * (rows + len(columns.unlisted) + 1)
        later = [NOBODY] * (2 * rows)
        for row, parent in enumerate(columns.parent):
            later[row] = first[parent]
            first[parent] = row
        for row in columns.mergers:
            parent = columns.adjacent[row]
            later[rows + row] = first[parent]
            first[parent] = rows + row
        self._first, self._later = array("i", first), array("i", later)

    def children(self, row: int) -> list[int]:
        """Rows of the children of a row or of an unlisted shard, ascending."""
        rows, link = [], self._first[row]
        while link != NOBODY:
            rows.append(link if link < self._rows else link - self._rows)
            link = self._later[link]
        if len(rows) > 1:
            rows = sorted(set(rows))
        return rows

    def few_children(self) -> Iterator[tuple[int, int]]:
        """The lower and the upper child of each row, the same twice for an only child.

        NOBODY twice for a row without children, or with more than two.
        """
        later, rows = self._later, self._rows
        for link in islice(self._first, rows):
            if link == NOBODY:
                yield NOBODY, NOBODY
                continue
            child = link if link < rows else link - rows
            other = later[link]
            if other == NOBODY:
                yield child, child
            elif later[other] != NOBODY:
                yield NOBODY, NOBODY
            else:
                other = other if other < rows else other - rows
                yield (child, other) if child < other else (other, child)


def out_of_order(columns: Columns) -> bool:
    """Whether some child has a lower row than a parent, which Kinesis does not do."""
    adjacent = map(columns.adjacent.__getitem__, columns.mergers)
    return any(map(ge, columns.parent, count())) or any(map(ge, adjacent, columns.mergers))


def parents_first(columns: Columns, links: Links) -> list[int]:
    """All rows, parents before children, lower ids first. StreamUnsettled for a cycle."""
    waits: Counter[int] = Counter()
    for row, pair in enumerate(zip(columns.parent, columns.adjacent, strict=True)):
        waits[row] = len({parent for parent in pair if parent >= 0})
    ready = [row for row in range(len(columns.ids)) if not waits[row]]
    order = []
    while ready:
        row = heapq.heappop(ready)
        order.append(row)
        for child in links.children(row):
            waits[child] -= 1
            if not waits[child]:
                heapq.heappush(ready, child)
    if len(order) < len(columns.ids):
        names = sorted(columns.ids.name(row) for row in waits if waits[row])
        raise StreamUnsettled(
            f"the listing makes {names[0]} an ancestor of itself",
            "run this again later; an endpoint that is not AWS's may be defective",
        )
    return order
