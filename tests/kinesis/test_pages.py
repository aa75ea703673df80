"""Pages read by a pattern against the same pages read as JSON."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshardctl.kinesis.scan import Scanner
from reshardctl.lineage import Lineage, fields_of
from reshardctl.model import Shard
from tests.lineage.histories import STREAM, fresh, listings, page_of

Answer = dict[str, Any]


def expected(answer: Answer) -> tuple[list[list[str]], str]:
    columns = [[] for _ in range(7)]  # type: list[list[str]]
    for fields in fields_of(answer["Shards"]):
        for column, more in zip(columns, fields, strict=True):
            column.extend(more)
    return columns, answer.get("NextToken", "")


def scan(scanner: Scanner, text: str) -> tuple[list[list[str]], str] | None:
    found = scanner.read(text)
    if found is None:
        return None
    columns = [[one for part in found[0] for one in part[at]] for at in range(7)]
    return columns, found[1]


def reordered(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        names = sorted(value)
        chance.shuffle(names)
        return {name: reordered(value[name], chance) for name in names}
    return value


LAYOUTS = [{"separators": (",", ":")}, {}, {"sort_keys": True}, {"separators": (", ", ":")}]


@given(listings(), st.sampled_from(LAYOUTS), st.integers(0, 5), st.integers(1, 9))
def test_a_learned_page_reads_as_its_json(
    shards: list[Shard], layout: dict[str, Any], seed: int, size: int
) -> None:
    """AWS's order of members and its blanks are documented nowhere; any will do."""
    scanner = Scanner()
    for at in range(0, len(shards), size):
        page = [reordered(raw, random.Random(seed)) for raw in page_of(shards[at : at + size])]
        answer = {"Shards": page, "NextToken": f"AAA{at}/+=="}
        text = json.dumps(answer, **layout)
        found = scan(scanner, text)
        if found is None:
            scanner.learn(text, json.loads(text)["Shards"])
            found = scan(scanner, text)
        assert found in (None, expected(answer))


def split_page() -> Answer:
    history = fresh(2)
    history.merge(history.split(0)[1], 1)
    return {"Shards": page_of(history.shards()), "NextToken": "t"}


def learned(**layout: Any) -> tuple[Scanner, Answer, str]:
    answer = split_page()
    text = json.dumps(answer, **layout)
    scanner = Scanner()
    scanner.learn(text, json.loads(text)["Shards"])
    return scanner, answer, text


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_learned(layout: dict[str, Any]) -> None:
    scanner, answer, text = learned(**layout)
    assert scan(scanner, text) == expected(answer)


def test_the_token_may_come_first_or_be_absent() -> None:
    scanner, answer, _ = learned()
    first = {"NextToken": "t", "Shards": answer["Shards"]}
    assert scan(scanner, json.dumps(first)) == expected(answer)
    last = {"Shards": answer["Shards"]}
    assert scan(scanner, json.dumps(last)) == (expected(answer)[0], "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"ShardId": "shardId-000000000002"', '"Name": "shardId-000000000002"'),
        ('"ShardId": "shardId-000000000002"', '"ShardId":  "shardId-000000000002"'),
        ('"ShardId": "shardId-000000000002"', '"ShardId": "shardId\\u002d000000000002"'),
        ('"ShardId": "shardId-000000000002"', '"ShardId": 2'),
        ('"ShardId": "shardId-000000000002"', '"New": [], "ShardId": "shardId-000000000002"'),
        ('"NextToken"', '"More": [], "NextToken"'),
        ('"NextToken"', '"Other"'),
        ("}, {", "},{"),
        ("}}]", "}}, null]"),
        ("}}]", "}"),
        ('"Shards"', '"Things"'),
    ],
)
def test_whatever_looks_otherwise_is_left_to_json(old: str, new: str) -> None:
    scanner, _, text = learned()
    assert old in text
    assert scanner.read(text.replace(old, new, 1)) is None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_page_of_many_pieces(layout: dict[str, Any]) -> None:
    answer = {"Shards": page_of(fresh(1000).shards()), "NextToken": "t"}
    text = json.dumps(answer, **layout)
    scanner = Scanner()
    scanner.learn(text, json.loads(text)["Shards"])
    found = scanner.read(text)
    assert found is not None
    assert len(found[0]) > 3
    assert scan(scanner, text) == expected(answer)
    odd = text.replace("shardId-000000000999", "shardId-00000000099\\u0039")
    assert scanner.read(odd) is None
    assert scanner.read(text.replace('"shardId-000000000999"', "5")) is None


def test_nothing_is_read_before_something_was_learned() -> None:
    assert Scanner().read(json.dumps(split_page())) is None
    for text in ("", "[]", "{}", '{"Shards": []}', "null"):
        assert learned()[0].read(text) is None


@pytest.mark.parametrize("page", [[], [{}], [{"ShardId": "x"}], ["x"], [{"HashKeyRange": 5}]])
def test_what_makes_no_sense_is_not_learned(page: list[Any]) -> None:
    scanner = Scanner()
    scanner.learn(json.dumps({"Shards": page}), page)
    assert scanner.read(json.dumps({"Shards": page})) is None


def test_a_member_that_is_not_known_is_left_to_json() -> None:
    answer = split_page()
    for raw in answer["Shards"]:
        raw["Colour"] = "red"
    scanner = Scanner()
    scanner.learn(json.dumps(answer), answer["Shards"])
    assert scanner.read(json.dumps(answer)) is None


def test_learning_comes_to_an_end() -> None:
    scanner, answer, text = learned()
    for _ in range(20):
        scanner.learn(text, answer["Shards"])
    assert scanner.read(text) is None


def test_scanned_and_parsed_pages_make_the_same_lineage() -> None:
    scanner, answer, text = learned()
    fields, _ = scanner.read(text) or ([], "")
    scanned = Lineage.from_fields(STREAM, fields)
    assert scanned.digest() == Lineage.from_pages(STREAM, [answer["Shards"]]).digest()
