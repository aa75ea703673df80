"""Which stretches lie between two lines. Needs no PySpark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.errors import CannotTell, UsageError
from reshardctl.kinesis.fast import Begin
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.spark.source.lines import ending_line, spelled, starting_line, stretches
from reshardctl.spark.source.moments import ends_found, starts_found
from reshardctl.testing import FakeKinesis, load_topology
from tests.unit.kinesis.streams import CREATED, in_process

SHARD = "shardId-{:012d}".format
BEGINNING = Begin("TRIM_HORIZON")


@pytest.fixture
def fake() -> FakeKinesis:
    """0 was split into 2 and 3, 1 and 3 merged into 4; 2 and 4 are open."""
    shards = [
        {"id": 0, "range": ["0", "1/2"], "close": 600, "records": {"n": 4, "from": 10, "to": 590}},
        {"id": 1, "range": ["1/2", "1"], "close": 1800, "records": {"n": 3, "from": 9, "to": 900}},
        {"id": 2, "range": ["0", "1/4"], "parents": [0], "open": 601,
         "records": {"n": 2, "from": 700, "to": 900}},
        {"id": 3, "range": ["1/4", "1/2"], "parents": [0], "open": 601, "close": 1800},
        {"id": 4, "range": ["1/4", "1"], "parents": [1, 3], "open": 1801},
    ]  # fmt: skip
    return load_topology({"name": "orders", "created": CREATED, "now": 3600, "shards": shards})


@pytest.fixture
def lineage(fake: FakeKinesis) -> Lineage:
    return in_process(fake).kinesis.lineage("orders")


def numbers(fake: FakeKinesis, shard: int) -> list[str]:
    return [str(one.number) for one in fake.stream("orders").shards[shard].records]


def between(
    lineage: Lineage, start: Any, end: Any, tips: Any = None, fake: FakeKinesis | None = None
) -> dict[int, tuple[Any, Any]]:
    def asked(places: Mapping[ShardId, Begin]) -> dict[ShardId, str | None]:
        return {shard: (tips or {}).get(int(shard[-3:])) for shard in places}

    first = starting_line(start if isinstance(start, str) else json.dumps(start))
    last = ending_line(end if isinstance(end, str) else json.dumps(end))
    if fake is not None:
        places = partial(in_process(fake).kinesis.places, "orders")
        last = ends_found(lineage, last, places, fake.clock.now)
        first = starts_found(lineage, first, places, fake.clock.now)
    found = stretches(lineage, first, last, asked)
    again = spelled(lineage, found)
    pinned = stretches(
        lineage, starting_line(again["startingLine"]), ending_line(again["endingLine"]), asked
    )
    assert pinned == found, "what is spelled is the same"
    return {int(one.shard[-3:]): (one.begin, one.until or "end") for one in found}


def test_from_the_beginning_to_the_tip(fake: FakeKinesis, lineage: Lineage) -> None:
    """Closed shards to their ends; open ones to a number; where nothing lies there is no task."""
    tip = numbers(fake, 2)[-1]
    assert between(lineage, "TRIM_HORIZON", "TIP", {2: tip}) == {
        0: (BEGINNING, "end"), 1: (BEGINNING, "end"), 2: (BEGINNING, tip), 3: (BEGINNING, "end")
    }  # fmt: skip


def test_what_is_before_the_start_or_behind_the_end_is_left_out(
    fake: FakeKinesis, lineage: Lineage
) -> None:
    second, third = numbers(fake, 1)[1:]
    found = between(lineage, {SHARD(2): "TRIM_HORIZON", SHARD(1): second}, {SHARD(4): "TIP"})
    # 0 is before 2; 2 is not before 4; 3 is, and no ancestor of what the start names.
    assert found == {1: (Begin("AFTER_SEQUENCE_NUMBER", second), "end"), 3: (BEGINNING, "end")}
    assert between(lineage, {SHARD(1): second}, {SHARD(1): third}) == {
        1: (Begin("AFTER_SEQUENCE_NUMBER", second), third)
    }
    assert between(lineage, {SHARD(1): third}, {SHARD(1): second}) == {}


def test_an_end_that_is_an_ending_number_is_the_end(fake: FakeKinesis, lineage: Lineage) -> None:
    ending = str(fake.stream("orders").shards[0].ending)
    assert between(lineage, "TRIM_HORIZON", {SHARD(0): ending}) == {0: (BEGINNING, "end")}


def test_a_start_by_time(lineage: Lineage) -> None:
    found = between(lineage, f"AT_TIMESTAMP {CREATED + 500}", {SHARD(0): "SHARD_END"})
    assert found == {0: (Begin("AT_TIMESTAMP", CREATED + 500), "end")}


ALL = "TRIM_HORIZON"


def test_an_end_by_time_is_right_before_the_first_record_since(
    fake: FakeKinesis, lineage: Lineage
) -> None:
    """What closed before is read to its end, what opened later is not read."""
    n0, n1, n2 = (numbers(fake, shard) for shard in range(3))
    found = between(lineage, ALL, f"AT_TIMESTAMP {CREATED + 590}", fake=fake)
    assert found == {0: (BEGINNING, n0[2]), 1: (BEGINNING, n1[1])}
    found = between(lineage, ALL, f"AT_TIMESTAMP {CREATED + 600}", fake=fake)
    assert found == {0: (BEGINNING, "end"), 1: (BEGINNING, n1[1])}
    found = between(lineage, ALL, f"AT_TIMESTAMP {CREATED + 800}", fake=fake)
    # 3 holds no record: whether it is read to its end makes no difference.
    assert found == {
        0: (BEGINNING, "end"), 1: (BEGINNING, n1[1]), 2: (BEGINNING, n2[0]), 3: (BEGINNING, "end")
    }  # fmt: skip
    found = between(lineage, ALL, f"AT_TIMESTAMP {CREATED + 3599}", fake=fake)
    assert found == {
        0: (BEGINNING, "end"), 1: (BEGINNING, "end"), 2: (BEGINNING, n2[1]), 3: (BEGINNING, "end")
    }  # fmt: skip


def test_both_by_time(fake: FakeKinesis, lineage: Lineage) -> None:
    """A shard in which nothing arrived between the two is left out."""
    line, n0, n2 = "AT_TIMESTAMP {}".format, numbers(fake, 0), numbers(fake, 2)
    found = between(lineage, line(CREATED + 500), line(CREATED + 800), fake=fake)
    after = Begin("AFTER_SEQUENCE_NUMBER", n0[2])
    assert found == {0: (after, "end"), 2: (BEGINNING, n2[0]), 3: (BEGINNING, "end")}


def test_an_end_by_time_of_a_shard(fake: FakeKinesis, lineage: Lineage) -> None:
    ends = {SHARD(2): {"AT_TIMESTAMP": CREATED + 800}, SHARD(1): {"AT_TIMESTAMP": CREATED + 1}}
    found = between(lineage, ALL, ends, fake=fake)
    assert found == {0: (BEGINNING, "end"), 2: (BEGINNING, numbers(fake, 2)[0])}


def test_an_end_where_arrivals_are_not_in_order(fake: FakeKinesis, lineage: Lineage) -> None:
    """The first record counts that arrived at or after it: an earlier arrival after it is left."""
    held = fake.stream("orders").shards[2].records
    held[:] = [replace(held[0], arrival=held[1].arrival), replace(held[1], arrival=held[0].arrival)]
    found = between(lineage, ALL, f"AT_TIMESTAMP {CREATED + 800}", fake=fake)
    assert 2 not in found


def test_an_end_in_the_future(fake: FakeKinesis, lineage: Lineage) -> None:
    with pytest.raises(UsageError, match="is in the future"):
        between(lineage, ALL, f"AT_TIMESTAMP {CREATED + 9999}", fake=fake)


def test_an_end_that_is_not_reached_is_no_end(fake: FakeKinesis, lineage: Lineage) -> None:
    nowhere = lambda opened, _time: dict.fromkeys(opened)  # noqa: E731
    with pytest.raises(CannotTell, match="was not found within the reads"):
        ends_found(lineage, CREATED + 800.0, nowhere, fake.clock.now)


def test_a_settled_shard_that_is_not_listed_any_more_is_no_harm(lineage: Lineage) -> None:
    found = between(lineage, {SHARD(9): "SHARD_END", SHARD(0): "SHARD_END"}, {SHARD(0): "TIP"})
    assert found == {}


def test_nothing_in_a_stream_of_open_shards() -> None:
    shards = [{"id": 0, "range": ["0", "1"]}]
    topology = {"name": "orders", "created": CREATED, "now": 3600, "shards": shards}
    new = in_process(load_topology(topology)).kinesis.lineage("orders")
    assert between(new, "TRIM_HORIZON", "TIP") == {}


@pytest.mark.parametrize(
    ("start", "end", "error", "what"),
    [
        ("LATEST", "TIP", UsageError, "nothing lies after LATEST"),
        ("nonsense", "TIP", UsageError, "startingLine is 'nonsense'"),
        ({"shard-1": "TRIM_HORIZON"}, "TIP", UsageError, "startingLine: 'shard-1' is no shard id"),
        ("TRIM_HORIZON", "soon", UsageError, "endingLine is 'soon'"),
        ("TRIM_HORIZON", "{}", UsageError, "endingLine is '{}'"),
        ("TRIM_HORIZON", "[1]", UsageError, "endingLine is"),
        ("TRIM_HORIZON", {"x": "TIP"}, UsageError, "endingLine: 'x' is no shard id"),
        ("TRIM_HORIZON", "AT_TIMESTAMP soon", UsageError, "endingLine: 'soon'"),
        ("TRIM_HORIZON", "AT_TIMESTAMP 1795232267000", UsageError, "no time in Unix seconds"),
        ("TRIM_HORIZON", {SHARD(0): {"AT_TIMESTAMP": "x"}}, UsageError, f"of {SHARD(0)}: 'x'"),
        ("TRIM_HORIZON", {SHARD(0): {"AFTER": "x"}}, UsageError, f"endingLine of {SHARD(0)} is"),
        ("TRIM_HORIZON", {SHARD(0): 5}, UsageError, f"endingLine of {SHARD(0)} is '5'"),
        ("TRIM_HORIZON", {SHARD(2): "SHARD_END"}, UsageError, f"{SHARD(2)} is open"),
        ("TRIM_HORIZON", {SHARD(9): "TIP"}, CannotTell, f"{SHARD(9)}: not listed"),
        ({SHARD(9): "TRIM_HORIZON"}, "TIP", CannotTell, f"{SHARD(9)}: not listed"),
    ],
)
def test_lines_that_make_no_sense(
    lineage: Lineage, start: Any, end: Any, error: type[Exception], what: str
) -> None:
    with pytest.raises(error) as caught:
        between(lineage, start, end)
    assert what in str(caught.value)


def test_a_number_of_another_shard(fake: FakeKinesis, lineage: Lineage) -> None:
    with pytest.raises(UsageError, match="is a number of shard 1"):
        between(lineage, "TRIM_HORIZON", {SHARD(0): numbers(fake, 1)[0]})
