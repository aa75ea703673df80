"""ListShards answers as shards, against the same answers read as JSON."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshardctl.kinesis.transport import shards_of
from reshardctl.lineage import shard_of
from reshardctl.model import Shard
from tests.unit.lineage.histories import fresh, listings, page_of

Answer = dict[str, Any]


def expected(answer: Answer) -> tuple[list[Shard], str]:
    return list(map(shard_of, answer["Shards"])), answer.get("NextToken", "")


def read(text: str) -> tuple[list[Shard], str]:
    shards, token = shards_of(text.encode())
    assert shards is not None
    return shards, token


def reordered(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        names = sorted(value)
        chance.shuffle(names)
        return {name: reordered(value[name], chance) for name in names}
    return value


LAYOUTS = [{"separators": (",", ":")}, {}, {"sort_keys": True}, {"separators": (", ", ":")}]


@given(listings(), st.sampled_from(LAYOUTS), st.integers(0, 5), st.integers(1, 9))
def test_a_page_reads_as_its_json(shards, layout, seed, size):
    """AWS's order of members and its blanks are documented nowhere; any will do."""
    for at in range(0, len(shards), size):
        page = [reordered(raw, random.Random(seed)) for raw in page_of(shards[at : at + size])]
        answer = {"Shards": page, "NextToken": f"AAA{at}/+=="}
        assert read(json.dumps(answer, **layout)) == expected(answer)


def split_page() -> Answer:
    history = fresh(2)
    history.merge(history.split(0)[1], 1)
    return {"Shards": page_of(history.shards()), "NextToken": "t"}


def test_the_token_may_be_absent_or_null() -> None:
    shards, _ = expected(split_page())
    last = {"Shards": split_page()["Shards"]}
    assert read('{"Shards": []}') == ([], "")
    assert read(json.dumps(last)) == read(json.dumps({**last, "NextToken": None})) == (shards, "")


@pytest.mark.parametrize(("old", "new"), [
    ('"ShardId": "shardId-000000000002"', '"ShardId":  "shardId-000000000002"'),
    ('"ShardId": "shardId-000000000002"', '"ShardId": "shardId\\u002d000000000002"'),
    ('"ShardId": "shardId-000000000002"', '"New": [], "ShardId": "shardId-000000000002"'),
    ('"NextToken"', '"More": [], "NextToken"'), ("}, {", "},{"),
])  # fmt: skip
def test_what_looks_otherwise_reads_the_same(old: str, new: str) -> None:
    text = json.dumps(split_page())
    assert old in text
    assert read(text.replace(old, new, 1)) == expected(split_page())


@pytest.mark.parametrize("member", ["ParentShardId", "AdjacentParentShardId"])
def test_null_is_absent(member: str) -> None:
    answer = split_page()
    for raw in answer["Shards"]:
        raw[member] = None
        raw["SequenceNumberRange"]["EndingSequenceNumber"] = None
    shards, _ = read(json.dumps(answer))
    parents = [s.parent if member == "ParentShardId" else s.adjacent for s in shards]
    assert {*parents, *(shard.end for shard in shards)} == {None}
    assert shards == expected(answer)[0]


@pytest.mark.parametrize(("old", "new", "path"), [
    ('"ShardId": "shardId-000000000002"', '"Name": "shardId-000000000002"', "Shards[2]"),
    ('"ShardId": "shardId-000000000002"', '"ShardId": 2', "Shards[2].ShardId"),
    ("}}]", "}}, null]", "Shards[5]"), ('"NextToken": "t"', '"NextToken": 5', "NextToken"),
    ('"StartingHashKey": "0"', '"StartingHashKey": 0', "Shards[0].HashKeyRange.StartingHashKey"),
])  # fmt: skip
def test_what_is_no_shard_is_named_by_its_path(old: str, new: str, path: str) -> None:
    text = json.dumps(split_page())
    assert old in text
    with pytest.raises(ValueError) as caught:
        shards_of(text.replace(old, new, 1))
    assert str(caught.value).endswith(f"`$.{path}`")


@pytest.mark.parametrize("page", [[{}], [{"ShardId": "x"}], ["x"], [{"HashKeyRange": 5}], "x", 5])
def test_what_makes_no_sense_is_an_error(page: Any) -> None:
    with pytest.raises(ValueError):
        shards_of(json.dumps({"Shards": page}))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "null", "nothing", '{"Shards": null}', '{"Things": []}', " 7",
     json.dumps(split_page())[:-9], json.dumps(split_page()).replace("}}]", "}")],
)  # fmt: skip
def test_what_is_no_object_or_has_no_shards_is_left_to_botocore(text: str) -> None:
    assert shards_of(text.encode()) == (None, "")


def test_a_hash_key_that_is_none_is_refused() -> None:
    answer = split_page()
    answer["Shards"][0]["HashKeyRange"]["StartingHashKey"] = "x"
    with pytest.raises(ValueError, match="no hash keys"):
        shards_of(json.dumps(answer))
