"""Names in a message: all of a few, the first of many, and the most similar of those there are."""

from __future__ import annotations

import pytest

from reshardctl.model import shard_id
from reshardctl.model.images import batched
from reshardctl.model.phrases import did_you_mean, listed, listed_shards, similar


@pytest.mark.parametrize(("names", "shown"), [
    ("", ""), ("a", "a"), ("abc", "a, b, c"), ("abcd", "a, b, c and 1 more"),
])  # fmt: skip
def test_so_many_names_are_shown_at_most(names, shown):
    assert listed(names, 3) == shown


def test_only_what_is_shown_is_named():
    assert listed([1, 2, 0], 2, lambda number: f"{2 // number}") == "2, 1 and 1 more"


def test_shards_are_named_by_their_numbers():
    assert listed_shards([shard_id(4)], 2) == "shard 4"
    assert listed_shards([shard_id(n) for n in range(4, 8)], 2) == "shards 4, 5 and 2 more"


def test_the_last_part_may_be_smaller():
    assert list(batched("abcde", 2)) == [("a", "b"), ("c", "d"), ("e",)]
    assert list(batched("", 2)) == []


KNOWN = ("orders-etl", "fraud", "Archive")


@pytest.mark.parametrize(("wanted", "found"), [
    ("orders-elt", "orders-etl"),
    ("fruad", "fraud"),
    ("archive", "Archive"),
    ("billing", None),
    ("", None),
])
def test_the_most_similar_name_is_found(wanted, found):
    assert similar(wanted, KNOWN) == found


def test_without_a_similar_name_the_advice_is_the_other_one():
    assert did_you_mean("billing", KNOWN, "it has none") == "it has none"
    assert did_you_mean("fraut", KNOWN, "it has none") == "did you mean fraud? it has none"
