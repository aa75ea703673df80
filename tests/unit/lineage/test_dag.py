"""The lineage against networkx, on random histories and in every form of listing."""

from __future__ import annotations

import random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reshardctl.errors import StreamUnsettled
from reshardctl.lineage import Lineage
from reshardctl.model import HASH_SPACE, Shard, ShardId, shard_id, time_of
from tests.support.lineages import lineages, split_in_turn
from tests.unit.lineage.histories import CREATED, STREAM, fresh, listings, number, page_of


def test_a_listing_of_kinesis_is_not_sorted_anew(monkeypatch):
    """Its ids grow with creation; only an emulator's may need networkx."""
    monkeypatch.setattr("reshardctl.lineage.dag._parents_first", pytest.fail)
    lineage = split_in_turn(2, (0, 1, 2))
    assert [*lineage] == [shard_id(n) for n in range(len(lineage))]


def graph_of(shards: list[Shard]) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(shard.id for shard in shards)
    listed = set(graph)
    edges = [(parent, shard.id) for shard in shards for parent in shard.parents]
    graph.add_edges_from(edge for edge in edges if edge[0] in listed)
    return graph


def id_order(shard: Shard) -> tuple[int, str]:
    digits = shard.id.removeprefix("shardId-")
    return (int(digits) if digits.isdigit() else -1, shard.id)


def in_pages(shards: list[Shard], size: int) -> Lineage:
    pages = [shards[at : at + size] for at in range(0, len(shards), size)]
    return Lineage.from_pages(STREAM, map(page_of, pages))


def assert_same(lineage: Lineage, shards: list[Shard]) -> None:
    """Every look-up, asked twice: what is found once is kept."""
    graph = graph_of(shards)
    born = {shard.id: at for at, shard in enumerate(sorted(shards, key=id_order))}
    assert len(lineage) == len(shards)
    assert set(lineage) == set(graph)
    for shard in shards * 2:
        assert lineage[shard.id] == shard
        assert shard.id in lineage
        assert lineage.is_open(shard.id) == (shard.end is None)
        assert set(lineage.parents(shard.id)) == set(graph.predecessors(shard.id))
        listed, unlisted = lineage.parents(shard.id), lineage.unlisted_parents(shard.id)
        assert [*filter(listed.__contains__, shard.parents)] == [*listed]
        assert {*listed, *unlisted} == {*shard.parents} and not {*listed} & {*unlisted}
        assert lineage.first_parent(shard.id) == shard.parent
        assert lineage.children(shard.id) == tuple(
            sorted(graph.successors(shard.id), key=born.__getitem__)
        )
        assert lineage.ancestors(shard.id) == nx.ancestors(graph, shard.id)
        assert lineage.descendants(shard.id) == nx.descendants(graph, shard.id)
        assert lineage.opened_at(shard.id) == time_of(shard.start)
        ended = time_of(shard.end) if shard.end else None
        assert ended is None or lineage.closed_at(shard.id) == ended
        assert lineage.first_number(shard.id) == int(shard.start)
        assert lineage.last_number(shard.id) == (int(shard.end) if shard.end else None)
    assert set(lineage.roots()) == {one for one, degree in graph.in_degree if not degree}
    assert set(lineage.open_shards()) == {s.id for s in shards if s.end is None}
    assert lineage.open_count() == sum(s.end is None for s in shards)
    place = {one: at for at, one in enumerate(lineage)}
    assert all(place[parent] < place[child] for parent, child in graph.edges)
    assert list(reversed(lineage)) == list(lineage)[::-1]


@given(listings(), st.integers(1, 40))
def test_it_is_the_graph_that_networkx_sees(shards: list[Shard], size: int) -> None:
    assert_same(Lineage(STREAM, shards), shards)
    assert_same(in_pages(shards, size), shards)


@given(listings(), st.randoms(use_true_random=False))
def test_the_order_of_the_listing_does_not_matter(
    shards: list[Shard], chance: random.Random
) -> None:
    mixed = chance.sample(shards, len(shards))
    assert list(in_pages(mixed, 7)) == list(in_pages(shards, 7)) == [s.id for s in shards]
    assert_same(in_pages(mixed, 7), shards)


NAMES = {
    "thirteen digits": lambda index: f"shardId-{10**12 + index}",
    "across twelve digits": lambda index: f"shardId-{10**12 - 3 + index:012d}",
    "DynamoDB Streams": lambda index: f"shardId-{1414576573621 + index:020d}-f55eea83",
    "words": lambda index: f"s{index:04d}",
    "mixed": lambda index: f"shardId-{index:012d}" if index > 3 else f"a{index}",
    "beyond four thousand millions": lambda index: f"shardId-{2**32 + index:012d}",
}


@pytest.mark.parametrize("form", NAMES)
def test_ids_may_have_any_form(form: str) -> None:
    history = fresh(2)
    history.merge(history.split(0)[1], 1)
    history.split(4)
    shards = history.shards(NAMES[form])
    for size in (1, 3, 100):
        assert_same(in_pages(shards, size), shards)
        assert_same(in_pages(shards[1:], size), shards[1:])


def test_an_id_that_only_looks_like_one_is_another_shard() -> None:
    lineage = Lineage(STREAM, fresh(2).shards())
    wide = "shardId-00000000000\N{FULLWIDTH DIGIT ONE}"
    for other in ("shardId-0", "shardId-0000000000001", "shardid-000000000001", wide):
        assert other not in lineage
        assert lineage.children(ShardId(other)) == ()
        with pytest.raises(KeyError):
            lineage[ShardId(other)]


@pytest.mark.parametrize("ids", [("0shardId-00000000000", "shardId-000000000001"),
                                 ("shardId-00000000000", "1shardId-000000000001"),
                                 ("00000001", "00000002"),
                                 ("shardId-0000shardId-0000", "00000002shardId-0000")])  # fmt: skip
def test_prefixes_elsewhere_than_in_front_are_not_mistaken(ids: tuple[str, str]) -> None:
    rows = fresh(2).shards()
    shards = [Shard(ShardId(one), None, None, row.hash_start, row.hash_end, row.start, None)
              for one, row in zip(ids, rows, strict=True)]  # fmt: skip
    assert set(in_pages(shards, 10)) == set(ids)


ODD_NUMBERS = ["0", "9223372036854775807", "000000000000000000000021269319989653",
               "0" + number(1, CREATED)[1:], number(1, CREATED) + "0", "1" * 129]  # fmt: skip
"""moto's, kinesis-mock's ends, DynamoDB Streams'; and lengths that Kinesis does not write."""


@given(listings(), st.data())
def test_numbers_of_any_length_come_back_as_they_were(
    shards: list[Shard], data: st.DataObject
) -> None:
    odd = st.sampled_from(ODD_NUMBERS)
    changed = [
        replace(
            s,
            start=data.draw(odd | st.just(s.start)),
            end=s.end and data.draw(odd | st.just(s.end)),
        )
        for s in shards
    ]
    assert_same(in_pages(changed, 5), changed)
    assert_same(in_pages(changed[::-1], 5), changed)


def test_the_last_of_two_listings_of_a_shard_counts() -> None:
    before, history = fresh(1).shards(), fresh(1)
    history.split(0)
    lineage = Lineage.from_pages(STREAM, [page_of(before), page_of(history.shards())])
    assert_same(lineage, history.shards())


def test_children_with_lower_ids_than_their_parents_still_come_later() -> None:
    """Kinesis counts up; nothing in its documentation promises it."""
    history = fresh(2)
    history.split(history.merge(0, 1))
    shards = history.shards(lambda index: shard_id(9 - index))
    lineage = Lineage(STREAM, shards)
    assert_same(lineage, shards)
    assert list(lineage) == [shard_id(i) for i in (8, 9, 7, 5, 6)]
    assert list(reversed(lineage)) == [shard_id(i) for i in (6, 5, 7, 9, 8)]
    assert list(lineage.roots()) == [shard_id(8), shard_id(9)]
    assert list(lineage.open_shards()) == [shard_id(5), shard_id(6)]


def child(index: int, *parents: int) -> Shard:
    parent, adjacent = [*map(shard_id, parents), None, None][:2]
    return Shard(shard_id(index), parent, adjacent, 0, 1, number(index, CREATED), None)


@pytest.mark.parametrize(
    ("shards", "named"),
    [
        ([child(0, 1), child(1, 0)], 0),
        ([child(4, 4)], 4),
        ([child(7), child(8, 7, 8)], 8),
        ([child(1, 5), child(5, 6), child(6, 5), child(9, 1)], 5),
        ([child(3, 4), child(4, 2), child(2), child(6, 8), child(8, 6)], 6),
    ],
    ids=["two", "one", "beside a parent", "with shards below", "with others out of order"],
)
def test_an_ancestor_of_itself_is_no_lineage(shards: list[Shard], named: int) -> None:
    """A shard of the loop is named, and none that merely lies below it."""
    with pytest.raises(StreamUnsettled, match=f"makes {shard_id(named)} an ancestor of itself"):
        Lineage(STREAM, shards)


def test_unlisted_parents_keep_their_names_and_their_children() -> None:
    history = fresh(3)
    history.split(0)
    history.merge(1, 2)
    lineage = Lineage(STREAM, history.shards()[3:])
    assert lineage.children(shard_id(0)) == (shard_id(3), shard_id(4))
    assert lineage.children(shard_id(2)) == (shard_id(5),)
    assert lineage[shard_id(5)].parents == lineage.unlisted_parents(shard_id(5))
    assert lineage.unlisted_parents(shard_id(5)) == (shard_id(1), shard_id(2))
    assert lineage.parents(shard_id(5)) == lineage.unlisted_parents(shard_id(0)) == ()
    assert lineage.descendants(shard_id(1)) == {shard_id(5)}
    assert shard_id(0) not in lineage
    assert list(lineage.roots()) == [shard_id(3), shard_id(4), shard_id(5)]
    for ask in (lineage.opened_at, lineage.closed_at):
        with pytest.raises(KeyError):
            ask(shard_id(0))


def test_more_than_two_children_are_all_listed() -> None:
    parent, *_ = fresh(1).shards()
    children = [Shard(shard_id(i), parent.id, None, i, i, number(i, CREATED), None)
                for i in range(1, 6)]  # fmt: skip
    lineage = Lineage(STREAM, [parent, *children])
    assert lineage.children(parent.id) == tuple(child.id for child in children)


def test_a_shard_that_names_one_parent_twice_is_one_child() -> None:
    lineage = Lineage(STREAM, [child(0), child(1, 0, 0)])
    assert lineage.children(shard_id(0)) == (shard_id(1),)


def test_an_empty_listing() -> None:
    for lineage in (Lineage(STREAM, []), Lineage.from_pages(STREAM, [[], []])):
        assert (len(lineage), list(lineage), list(lineage.open_shards())) == (0, [], [])
        assert lineage.newest_index() == -1
        assert lineage.children(shard_id(0)) == ()


def test_times_are_those_in_the_numbers() -> None:
    """A child's start is its parent's end and a second, on ten of ten public pairs."""
    history = fresh(1)
    history.split(0)
    lineage = Lineage(STREAM, history.shards())
    assert lineage.opened_at(shard_id(0)) == CREATED
    assert lineage.closed_at(shard_id(0)) == CREATED
    assert lineage.opened_at(shard_id(2)) == CREATED + 1
    assert lineage.closed_at(shard_id(2)) is None


def test_an_end_that_cannot_be_decoded_is_dated_by_the_children() -> None:
    history = fresh(1)
    history.split(0)
    parent, *children = history.shards()
    emulated = Shard(parent.id, None, None, 0, HASH_SPACE - 1, parent.start, "9223372036854775807")
    assert Lineage(STREAM, [emulated, *children]).closed_at(parent.id) == CREATED + 1
    assert Lineage(STREAM, [emulated]).closed_at(parent.id) is None


@pytest.mark.parametrize(
    ("ids", "newest"), [([0, 1, 7], 7), ([2**33], 2**33), ([10**13, 3], 10**13)]
)
def test_the_newest_index(ids: list[int], newest: int) -> None:
    shards = [Shard(shard_id(i), None, None, 0, 1, number(i, CREATED), None) for i in ids]
    assert Lineage(STREAM, shards).newest_index() == newest


@given(listings(), st.integers(1, 9), st.integers(1, 9))
def test_digests_tell_listings_apart(shards: list[Shard], size: int, other: int) -> None:
    digest = in_pages(shards, size).digest()
    assert digest == in_pages(shards, other).digest()
    assert digest != in_pages(shards[1:], size).digest()
    first = shards[0]
    for changed in (
        replace(first, start=number(99, CREATED)),
        replace(first, hash_start=first.hash_start + 1),
        replace(first, parent=shard_id(999)),
    ):
        assert digest != in_pages([changed, *shards[1:]], size).digest()


NO_KEYS = ["", "-1", "1.5", "1_0", " 1", "x", "9" * 41, "\N{FULLWIDTH DIGIT ONE}"]


@pytest.mark.parametrize("edge", ["StartingHashKey", "EndingHashKey"])
@pytest.mark.parametrize("key", NO_KEYS)
def test_a_hash_key_that_is_none_is_refused(key: str, edge: str) -> None:
    page = page_of(fresh(1).shards())
    page[0]["HashKeyRange"][edge] = key
    with pytest.raises(ValueError):
        Lineage.from_pages(STREAM, [page])


def test_what_is_no_text_is_refused() -> None:
    page = page_of(fresh(1).shards())
    page[0]["ShardId"] = 1
    with pytest.raises(TypeError):
        Lineage.from_pages(STREAM, [page])


@given(lineages(), st.data())
def test_many_shards_have_the_descendants_and_ancestors_of_each(lineage, data) -> None:
    chosen = data.draw(st.sets(st.sampled_from(list(lineage))))
    below = {d for shard in chosen for d in lineage.descendants(shard)}
    above = {a for shard in chosen for a in lineage.ancestors(shard)}
    assert lineage.descendants(*chosen) == below
    assert lineage.ancestors(*chosen) == above
    near = {*chosen, *below, *above}
    assert lineage.related(chosen) == near.union(*(lineage[shard].parents for shard in near))


def test_a_shard_is_made_once() -> None:
    lineage = split_in_turn(2, [0])
    assert lineage[shard_id(1)] is lineage[shard_id(1)]
    assert next(iter(lineage)) is next(iter(lineage))


def test_answers_are_kept_for_one_time_of_looking() -> None:
    """What a number means depends on the time at which the stream was looked at."""
    lineage, asked = split_in_turn(1, []), list[float]()
    later = lineage.as_of(lineage.stream.created + 60)

    def ask(of, _shard):
        asked.append(of.stream.as_of)

    for one in (lineage, later, lineage, later):
        one.memo.last(ask, one, shard_id(0))
    assert asked == [lineage.stream.as_of, later.stream.as_of]
    assert later.as_of(later.stream.as_of).memo is later.memo
