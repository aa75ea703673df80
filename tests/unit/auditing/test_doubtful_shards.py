"""Which shards need a second look: a table of cases, and rows compared with each other by force."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshardctl.auditing.coverage import Crossing, Doubtful, Life, Orders, doubtful, merged

CASES: list[tuple[str, dict[int, Orders], dict[int, Life], Doubtful]] = [
    ("no rows", {}, {}, Doubtful()),
    ("one shard in order", {0: Orders(1, 9)}, {0: Life(0, 60)}, Doubtful()),
    ("batches that overlap", {0: Orders(1, 9, 2)}, {0: Life(0, 60)}, Doubtful(frozenset({0}))),
    ("a child read after its parent", {0: Orders(1, 4), 1: Orders(5, 9)},
     {0: Life(0, 59), 1: Life(60, 90)}, Doubtful()),
    ("the last batch of the parent is the first of the child", {0: Orders(1, 5), 1: Orders(5, 9)},
     {0: Life(0, 59), 1: Life(60, 90)}, Doubtful()),
    ("a child read beside its parent", {0: Orders(1, 6), 1: Orders(5, 9)},
     {0: Life(0, 59), 1: Life(60, 90)},
     Doubtful(crossings={0: Crossing(first=5), 1: Crossing(last=6)})),
    ("siblings, which live at the same time", {0: Orders(1, 6), 1: Orders(5, 9)},
     {0: Life(0, 59), 1: Life(30, 90)}, Doubtful()),
    ("created in the second of the last record", {0: Orders(1, 6), 1: Orders(5, 9)},
     {0: Life(0, 60), 1: Life(60, 90)}, Doubtful()),
    ("three generations: the least of the later, the greatest of the earlier",
     {0: Orders(7, 8), 1: Orders(4, 9), 2: Orders(2, 3)},
     {0: Life(0, 9), 1: Life(10, 19), 2: Life(20, 29)},
     Doubtful(crossings={0: Crossing(first=2), 1: Crossing(first=2, last=8),
                         2: Crossing(last=9)})),
    ("a life without orders counts for nothing", {1: Orders(5, 9)},
     {0: Life(0, 59), 1: Life(60, 90)}, Doubtful()),
    ("orders that are text", {0: Orders("a", "c"), 1: Orders("b", "d")},
     {0: Life(0, 59), 1: Life(60, 90)},
     Doubtful(crossings={0: Crossing(first="b"), 1: Crossing(last="c")})),
]  # fmt: skip


@pytest.mark.parametrize("orders, lives, wanted", [case[1:] for case in CASES],
                         ids=[case[0] for case in CASES])  # fmt: skip
def test_which_shards_are_doubtful(orders: Any, lives: Any, wanted: Doubtful) -> None:
    found = doubtful(orders, lives)
    assert found == wanted
    assert bool(found) == bool(wanted)
    assert found.shards == {*wanted.overlapping, *wanted.crossings}


def test_lives_of_parts_are_merged() -> None:
    parts = [(0, Life(5, 9)), (1, Life(3, 3)), (0, Life(8, 30)), (0, Life(4, 4)), (0, Life(6, 7))]
    assert merged(parts) == {0: Life(4, 30), 1: Life(3, 3)}


class Row(NamedTuple):
    """A record of one key: its shard, its number (which is its second) and its batch."""

    shard: int
    number: int
    batch: int


BORN = (0, 0, 4, 8, 8, 12)
"""When each shard was created."""
ROWS = st.lists(
    st.builds(lambda shard, after, batch: Row(shard, BORN[shard] + after, batch),
              st.integers(0, 5), st.integers(0, 7), st.integers(0, 5)), max_size=12,
)  # fmt: skip


def overlaps(batches: dict[int, list[int]]) -> int:
    """Batches with a number that is not beyond all earlier and below all later ones."""
    return sum(
        any(min(numbers) <= max(other) for order, other in batches.items() if order < batch)
        or any(max(numbers) >= min(other) for order, other in batches.items() if order > batch)
        for batch, numbers in batches.items()
    )


def summarised(rows: list[Row]) -> tuple[dict[int, Orders], dict[int, Life]]:
    orders, lives = {}, []
    for shard in {row.shard for row in rows}:
        batches: dict[int, list[int]] = defaultdict(list)
        for row in rows:
            if row.shard == shard:
                batches[row.batch].append(row.number)
                lives.append((shard, Life(BORN[shard], row.number)))
        orders[shard] = Orders(min(batches), max(batches), overlaps(batches))
    return orders, merged(lives)


def behind(rows: list[Row], lives: dict[int, Life]) -> list[tuple[Row, Row]]:
    """Every row beside every other: those that came after a later record of their key."""
    return [
        (row, other) for row in rows for other in rows
        if other.batch < row.batch and (
            other.number > row.number if other.shard == row.shard
            else lives[row.shard].ended < lives[other.shard].born
        )
    ]  # fmt: skip


@given(ROWS)
def test_no_row_behind_a_later_one_is_left_out(rows: list[Row]) -> None:
    orders, lives = summarised(rows)
    found = doubtful(orders, lives)
    for row, other in behind(rows, lives):
        if row.shard == other.shard:
            assert row.shard in found.overlapping
        else:
            first, last = found.crossings[row.shard].first, found.crossings[other.shard].last
            assert first is not None and row.batch > first
            assert last is not None and other.batch < last


@given(ROWS)
def test_rows_in_the_order_of_their_lives_are_not_looked_at_again(rows: list[Row]) -> None:
    """A batch a generation, in which numbers rise."""
    generations = sorted({BORN[row.shard] for row in rows})
    ended = {generation: generation + 3 for generation in generations}
    inside = [row for row in rows if row.number <= ended[BORN[row.shard]]]
    ordered = [row._replace(batch=generations.index(BORN[row.shard])) for row in inside]
    assert not doubtful(*summarised(ordered))
