"""Names in a message: all of a few, the first of many."""

from __future__ import annotations

import pytest

from reshardctl.model import shard_id
from reshardctl.model.images import batched
from reshardctl.model.phrases import listed, listed_shards


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
