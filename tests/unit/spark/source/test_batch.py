"""A frame between two lines, on a real Spark, of a fake Kinesis over HTTP."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reshardctl.errors import UsageError
from reshardctl.kinesis.fast import Reach
from reshardctl.model.times import instant
from reshardctl.testing import FakeKinesis, load_topology, serve

CREATED = 1_795_232_267
SHARD = "shardId-{:012d}".format


@pytest.fixture
def fake(request: pytest.FixtureRequest) -> FakeKinesis:
    """0 was split into 2 and 3, 1 and 3 merged into 4; 2 and 4 are open."""
    created = getattr(request, "param", CREATED)
    shards = [
        {"id": 0, "range": ["0", "1/2"], "close": 600, "records": {"n": 4, "from": 10, "to": 590}},
        {"id": 1, "range": ["1/2", "1"], "close": 1800, "records": {"n": 3, "from": 9, "to": 900}},
        {"id": 2, "range": ["0", "1/4"], "parents": [0], "open": 601,
         "records": {"n": 2, "from": 700, "to": 900}},
        {"id": 3, "range": ["1/4", "1/2"], "parents": [0], "open": 601, "close": 1800,
         "records": {"n": 2, "from": 700, "to": 900}},
        {"id": 4, "range": ["1/4", "1"], "parents": [1, 3], "open": 1801,
         "records": {"n": 3, "from": 2000, "to": 3000}},
    ]  # fmt: skip
    return load_topology({"name": "orders", "created": created, "now": 3600, "shards": shards})



@pytest.fixture
def reach(fake: FakeKinesis) -> Iterator[Any]:
    with serve(fake) as server:
        yield Reach("us-east-1", server.url)


@pytest.fixture
def read(spark: Any, reach: Reach) -> Any:
    """Makes frames of the stream."""
    from reshardctl.spark.source.batch import read_between

    return partial(read_between, spark, reach, "orders")


def payloads(frame: Any) -> list[str]:
    return sorted(bytes(row.data).decode() for row in frame.collect())


def numbers(fake: FakeKinesis, shard: int) -> list[str]:
    return [str(one.number) for one in fake.stream("orders").shards[shard].records]


def put(fake: FakeKinesis, shard: int, text: str) -> None:
    stream = fake.stream("orders")
    now = fake.clock.now()
    stream.shards[shard].put(text.encode(), "k", int(now), now)


EVERYTHING = sorted(
    f"s{shard}-{n}" for shard, many in enumerate((4, 3, 2, 2, 3)) for n in range(many)
)


def test_everything_to_the_tip_in_the_columns_of_the_source(fake: FakeKinesis, read: Any) -> None:
    frame = read()
    assert payloads(frame) == EVERYTHING
    assert frame.dtypes == [
        ("data", "binary"), ("partition_key", "string"), ("sequence_number", "string"),
        ("sub_sequence_number", "bigint"), ("shard_id", "string"), ("stream", "string"),
        ("approximate_arrival_timestamp", "timestamp"),
    ]  # fmt: skip
    row = frame.where("shard_id = 'shardId-000000000001'").orderBy("sequence_number").first()
    assert (bytes(row.data), row.partition_key, row.stream) == (b"s1-0", "k1", "orders")
    assert row.sequence_number == numbers(fake, 1)[0]
    assert row.sub_sequence_number == 0
    assert row.approximate_arrival_timestamp.timestamp() == CREATED + 9


def test_shards_share_tasks_where_there_are_many_for_the_cores(
    read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of tasks reaches the process that plans them."""
    assert read().rdd.getNumPartitions() == 5
    monkeypatch.setattr("reshardctl.spark.source._tasks", lambda _: 2)
    frame = read()
    assert (frame.rdd.getNumPartitions(), payloads(frame)) == (2, EVERYTHING)


def test_the_same_rows_again_whatever_comes_later(fake: FakeKinesis, read: Any) -> None:
    frame = read(shards_per_task=2)
    assert frame.rdd.getNumPartitions() == 3
    put(fake, 2, "later")
    fake.client().split_shard(
        StreamName="orders", ShardToSplit=SHARD(4), NewStartingHashKey=str(2**127)
    )
    fake.settle()
    assert payloads(frame) == EVERYTHING == payloads(frame.select("data"))
    assert frame.count() == len(EVERYTHING)
    assert payloads(read()) == sorted([*EVERYTHING, "later"])


def test_the_lines_as_options_are_pinned_when_the_frame_is_made(
    spark: Any, fake: FakeKinesis, reach: Any
) -> None:
    from reshardctl.spark.source import register

    register(spark)
    frame = (
        spark.read.format("kinesis-lineage").option("STREAMNAME", "orders")
        .option("region", reach.region).option("endpointUrl", reach.endpoint_url)
        .option("startingLine", json.dumps({SHARD(0): numbers(fake, 0)[1], SHARD(1): "SHARD_END"}))
        .option("endingLine", json.dumps({SHARD(2): numbers(fake, 2)[0], SHARD(3): "TIP"}))
        .load()
    )  # fmt: skip
    put(fake, 2, "later")
    expected = ["s0-2", "s0-3", "s2-0", "s3-0", "s3-1"]
    assert payloads(frame) == payloads(frame) == expected


def test_an_empty_line_has_no_rows(fake: FakeKinesis, read: Any) -> None:
    line = {SHARD(2): numbers(fake, 2)[-1], SHARD(4): numbers(fake, 4)[-1]}
    assert read(line, "TIP").collect() == []
    assert read(line, line).count() == 0


def arrived(fake: FakeKinesis, since: float, until: float) -> list[str]:
    """What the stream itself holds of that time."""
    records = [r for shard in fake.stream("orders").shards.values() for r in shard.records]
    return sorted(
        r.payload.decode() for r in records if CREATED + since <= r.arrival < CREATED + until
    )


@pytest.mark.parametrize(("since", "until"), [(500, 800), (0, 3000)])
def test_a_frame_between_two_times_has_what_arrived_between_them(
    fake: FakeKinesis, read: Any, since: int, until: int
) -> None:
    """Across the split and the merge; and times that follow one another have each record once."""
    def between(first: int, last: int) -> list[str]:
        start, end = (f"AT_TIMESTAMP {CREATED + seconds}" for seconds in (first, last))
        return payloads(read(start, end))

    came = between(since, until)
    assert came == arrived(fake, since, until) != []
    middle = (since + until) // 2
    assert sorted(between(since, middle) + between(middle, until)) == came


def test_an_end_by_time_is_found_once(fake: FakeKinesis, read: Any) -> None:
    frame = read("TRIM_HORIZON", f"AT_TIMESTAMP {CREATED + 3599}")
    put(fake, 2, "later")
    assert payloads(frame) == EVERYTHING == payloads(frame)


@pytest.mark.parametrize("end", ["AT_TIMESTAMP 9999999998", "AT_TIMESTAMP soon"])
def test_an_end_that_is_no_time_is_told(read: Any, end: str) -> None:
    with pytest.raises(UsageError, match="endingLine"):
        read("TRIM_HORIZON", end)


@pytest.mark.parametrize("fake", [int(time.time()) - 3600], ids=["young"], indirect=True)
def test_the_intervals_of_a_skip_are_read_and_nothing_else(
    fake: FakeKinesis, read: Any, tmp_path: Path
) -> None:
    """From a file and from its text; what comes later makes no difference. The stream is young: an
    executor's clock is the machine's."""
    file = tmp_path / "skipped.json"
    stream, first, third = fake.stream("orders"), numbers(fake, 1), numbers(fake, 4)

    def place(kind: str, number: str | None = None) -> dict[str, Any]:
        return {"kind": kind, "number": number, "sub_number": None, "time": None}

    def interval(shard: int, after: dict[str, Any], until: dict[str, Any]) -> dict[str, Any]:
        return {"shard": SHARD(shard), "after": after, "until": until, "certain": True}

    after = "AFTER_SEQUENCE_NUMBER"
    body: dict[str, Any] = {
        "schema": "reshardctl/skipped/1", "taken": "2026-11-21T04:37:47Z", "consumer": "kcl://app",
        "stream": {"arn": stream.arn, "created": instant(stream.created)},
        "intervals": [
            interval(1, place("TRIM_HORIZON"), place(after, first[0])),
            interval(1, place(after, first[1]), place("SHARD_END")),
            interval(4, place(after, third[0]), place(after, third[1])),
        ],
    }  # fmt: skip
    file.write_text(json.dumps(body))
    frame = read(intervals=file)
    put(fake, 4, "later")
    assert payloads(frame) == ["s1-0", "s1-2", "s4-1"] == payloads(frame)
    file.unlink()
    assert payloads(frame) == ["s1-0", "s1-2", "s4-1"]
    empty = json.dumps({**body, "intervals": []})
    assert read(intervals=empty).count() == 0
    other = json.dumps({**body, "stream": {**body["stream"], "created": "2026-11-20T00:00:00Z"}})
    with pytest.raises(UsageError, match="created 2026-11-20T00:00:00Z, and not of"):
        read(intervals=other)


@pytest.mark.parametrize(("options", "what"), [
    ({"intervals": "{}", "endingLine": "TIP"}, "intervals and endingLine exclude each other"),
    ({"endingLine": "TIP", "failOnDataLoss": "false"}, "failOnDataLoss belongs to intervals"),
    ({"intervals": "/nowhere/skipped.json"}, "/nowhere/skipped.json"),
    ({"intervals": "{}"}, "not intervals of this version"),
])  # fmt: skip
def test_intervals_that_make_no_sense(reach: Any, options: dict[str, str], what: str) -> None:
    pytest.importorskip("pyspark", reason="needs PySpark, an extra")
    from reshardctl.spark.source.batch import pinned

    given = {"streamName": "orders", "region": reach.region, "endpointUrl": reach.endpoint_url}
    with pytest.raises(UsageError, match=re.escape(what)):
        pinned({**given, **options})
