"""Listings that cannot be true of a settled stream, and unusual ones that can."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reshardctl.lineage import Lineage, uncovered
from reshardctl.model import HASH_SPACE, Shard, shard_id
from tests.unit.lineage.histories import STREAM, fresh, histories, listings


def found(shards: list[Shard]) -> dict[str, set[str]]:
    """Shards by code of the breach."""
    by_code: dict[str, set[str]] = {}
    for breach in Lineage(STREAM, shards).breaches():
        by_code.setdefault(breach.code, set()).update(breach.shards)
    return by_code


def naive(shards: list[Shard]) -> dict[str, set[str]]:
    """The same by the definitions alone, checked at every edge of every range."""
    opened = [s for s in shards if s.end is None]
    points = {p for s in shards for p in (s.hash_start, s.hash_end, s.hash_end + 1)} | {0}
    points = {p for p in points if p < HASH_SPACE}

    def holders(point: int, among: list[Shard]) -> list[Shard]:
        return [s for s in among if s.hash_start <= point <= s.hash_end]

    result: dict[str, set[str]] = {}
    if any(not holders(p, opened) for p in points):
        result["RSH103"] = set()
    if any(len(holders(p, opened)) > 1 for p in points):
        result.setdefault("RSH103", set())
    children = {s.id: [c for c in shards if s.id in c.parents] for s in shards}
    if parents := {s.id for s in opened if children[s.id]}:
        result["RSH104"] = set(parents)
    childless = {
        s.id for s in shards
        if s.end is not None
        and any(s.hash_start <= p <= s.hash_end and not holders(p, children[s.id]) for p in points)
    }  # fmt: skip
    if childless:
        result["RSH105"] = set(childless)
    return result


@given(listings())
def test_every_history_passes_whatever_was_trimmed_from_its_front(shards: list[Shard]) -> None:
    assert Lineage(STREAM, shards).breaches() == []


@given(histories(), st.data())
def test_torn_listings_are_seen_as_the_definitions_see_them(
    history: object, data: st.DataObject
) -> None:
    shards = history.shards()  # type: ignore[attr-defined]
    absent = data.draw(st.sets(st.sampled_from(shards), max_size=3))
    reopened = data.draw(st.sets(st.sampled_from(shards), max_size=2))
    torn = [replace(s, end=None) if s in reopened else s for s in shards if s not in absent]
    mine, expected = found(torn), naive(torn)
    assert mine.keys() == expected.keys()
    for code in ("RSH104", "RSH105"):
        assert mine.get(code) == expected.get(code)


@pytest.mark.parametrize(
    ("absent", "reopened", "expected"),
    [
        ({2}, set(), {"RSH103": set(), "RSH105": {shard_id(0)}}),
        ({2, 3}, set(), {"RSH103": set(), "RSH105": {shard_id(0)}}),
        (set(), {0}, {"RSH103": {shard_id(i) for i in (0, 2, 3)}, "RSH104": {shard_id(0)}}),
        ({2, 3}, {0}, {}),
        ({1}, set(), {"RSH103": set()}),
    ],
    ids=["one child", "both children", "torn", "before the split", "hole"],
)
def test_a_split_torn_in_every_way(
    absent: set[int], reopened: set[int], expected: dict[str, set[str]]
) -> None:
    history = fresh(2)
    history.split(0)
    shards = history.shards()
    torn = [
        replace(s, end=None) if i in reopened else s
        for i, s in enumerate(shards) if i not in absent
    ]  # fmt: skip
    assert found(torn) == expected


def test_a_child_that_covers_one_key_too_few() -> None:
    history = fresh(2)
    history.merge(0, 1)
    *parents, child = history.shards()
    short = replace(child, hash_end=child.hash_end - 1)
    assert found([*parents, short]) == {"RSH103": set(), "RSH105": {shard_id(1)}}


def test_open_shards_that_share_one_key() -> None:
    one, other = fresh(2).shards()
    assert found([one, replace(other, hash_start=one.hash_end)]) == {"RSH103": {one.id, other.id}}


def test_breaches_are_named_with_their_keys() -> None:
    lineage = Lineage(STREAM, fresh(2).shards()[:1])
    (breach,) = lineage.breaches()
    assert (breach.code, breach.name) == ("RSH103", "hash-range-hole")
    assert f"{HASH_SPACE // 2}–{HASH_SPACE - 1}" in breach.why


@pytest.mark.parametrize(("holes", "rest"), [(3, ""), (4, " and 1 more")])
def test_three_holes_are_named_and_the_others_counted(holes: int, rest: str) -> None:
    shards = fresh(2 * holes).shards()[1::2]
    (breach,) = Lineage(STREAM, shards).breaches()
    edges = [n * HASH_SPACE // (2 * holes) for n in range(2 * holes + 1)]
    named = [f"{edges[n]}–{edges[n + 1] - 1}" for n in range(0, 6, 2)]
    assert breach.why == f"no open shard has the hash keys {', '.join(named)}{rest}"


@pytest.mark.parametrize(
    ("ranges", "gaps"),
    [
        ([], [(0, 9)]),
        ([(0, 9)], []),
        ([(5, 9), (0, 4)], []),
        ([(0, 3), (5, 9)], [(4, 4)]),
        ([(1, 8)], [(0, 0), (9, 9)]),
        ([(0, 6), (2, 3), (7, 20)], []),
        ([(0, 8), (9, 9)], []),
        ([(0, 9), (12, 15)], []),
        ([(20, 30)], [(0, 9)]),
    ],
)
def test_what_ranges_leave_open(ranges: list[tuple[int, int]], gaps: list[tuple[int, int]]) -> None:
    assert uncovered(ranges, 0, 9) == gaps


@pytest.mark.parametrize(("parent", "one", "other", "covered"), [
    ((0, 9), (0, 4), (5, 9), True), ((0, 9), (5, 9), (0, 4), True),
    ((0, 9), (0, 4), (6, 9), False), ((0, 9), (0, 9), (3, 4), True),
    ((0, 9), (3, 4), (0, 9), True), ((0, 9), (0, 7), (4, 9), True),
    ((0, 9), (1, 4), (5, 9), False), ((0, 9), (0, 4), (5, 8), False),
    ((5, 10), (0, 1), (5, 20), True),
])  # fmt: skip
def test_two_children_of_any_ranges(
    parent: tuple[int, int], one: tuple[int, int], other: tuple[int, int], covered: bool
) -> None:
    root, *_ = fresh(1).shards()
    closed = replace(root, hash_start=parent[0], hash_end=parent[1], end=root.start)
    children = [
        Shard(shard_id(i), root.id, None, *keys, root.start, None)
        for i, keys in enumerate((one, other), 1)
    ]
    assert ("RSH105" in found([closed, *children])) is not covered
