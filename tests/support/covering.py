"""What of a table is run at every turn: a few rows that between them show what all of them show.

The others are `long`. `covering` takes the first row of each kind, `few` as few cases as a greedy
choice finds, `in_turn` some of a product of parameters. What draws, writes or reads a report asks
little of the other cases: a finding of the same code is the same line.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any, TypeVar

import pytest

from tests.support.case import Case, Expect

T = TypeVar("T")


def covering(
    rows: Iterable[T], shows: Callable[[T], Iterable[Hashable]], name: Callable[[T], str] = str
) -> list[Any]:
    """Parameters: a row that shows something which none before it showed; the others `long`.

    A row that is a tuple has a value for each parameter.
    """
    return list(_marked(rows, shows, name))


def _marked(
    rows: Iterable[T], shows: Callable[[T], Iterable[Hashable]], name: Callable[[T], str]
) -> Iterator[Any]:
    seen: set[Hashable] = set()
    for row in rows:
        new = set(shows(row)) - seen
        seen |= new
        values = row if isinstance(row, tuple) else (row,)
        yield pytest.param(*values, id=name(row), marks=() if new else pytest.mark.long)


def chosen(kinds: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Names of as few things as a greedy choice finds, so that each kind is in one of them; in
    the order in which they are given."""
    missing, chosen = frozenset().union(*kinds.values()), set()
    while missing:
        best = max(kinds, key=lambda name: len(kinds[name] & missing))
        chosen.add(best)
        missing -= kinds[best]
    return tuple(name for name in kinds if name in chosen)


@cache
def few(cases: tuple[Case, ...]) -> tuple[str, ...]:
    """The names of some of the cases, with every kind of finding, decision, row and reshard."""
    return chosen({case.name: frozenset(kinds_of(case)) for case in cases})


def kinds_of(case: Case) -> Iterator[str]:
    """What is in a case, as its file says it."""
    for expect in case.expects:
        yield from _expected(expect)
    yield "rows" if case.rows or case.state else "no rows"
    yield f"stream {case.stream.get('status', 'ACTIVE')}"
    yield f"live {bool(case.live.n)}, several streams {bool(case.multi)}, side {bool(case.side)}"
    listed = {shard["ShardId"] for shard in case.shards}
    for shard in case.shards:
        parents = [shard[name] for name in ("ParentShardId", "AdjacentParentShardId")
                   if name in shard]  # fmt: skip
        yield f"{len(parents)} parents, {len(listed & set(parents))} of them listed"
    for row in (*case.rows, *case.foreign):
        yield from (f"attribute {name}" for name in row)
        position = row.get("checkpoint", {}).get("S", "")
        yield "position " + ("number" if position.isdecimal() else position)


def _expected(expect: Expect) -> Iterator[str]:
    """The codes, what the start does, and what `fix` does about it."""
    codes = {*expect.findings, *(expect.infos or ())}
    yield from codes
    yield f"{len(codes)} findings"
    yield f"dies {expect.dies}, probe {expect.probe}, in order {bool(expect.order)}"
    if expect.fixed is None:
        yield "no fix"
        return
    yield f"policy {expect.fixed.policy.partition(':')[0]}, refused {expect.fixed.refused}"
    yield from (f"remains {code}" for code in expect.fixed.remains)
    for wanted in expect.fixed.writes.values():
        yield f"writes {wanted if wanted.isupper() else 'a number'}"


def in_turn(*axes: Iterable[Any], every: int) -> list[Any]:
    """The parameters of a product of which each value of an axis meets some of the others: every
    so many of the product. The rest of it is `long`."""
    found = []
    for places in product(*(list(enumerate(axis)) for axis in axes)):
        chosen = sum(place for place, _ in places) % every == 0
        marks = () if chosen else pytest.mark.long
        found.append(pytest.param(*(value for _, value in places), marks=marks))
    return found
