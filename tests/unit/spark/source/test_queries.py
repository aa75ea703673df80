"""Real streaming queries, on PySpark 4.0 and on 4.2 and later, against the fake over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reshardctl.testing.fake import FakeKinesis
from reshardctl.testing.http import serve
from reshardctl.testing.topology import load_topology

NAME = "orders"
HOUR = 3600
WAIT = 120
SPLIT = [
    {"id": 0, "range": ["0", "1/2"], "close": 1000, "records": {"n": 4, "from": 1, "to": 900}},
    {"id": 1, "range": ["1/2", "1"], "records": {"n": 5, "from": 1, "to": 3000}},
    {"id": 2, "range": ["0", "1/4"], "parents": [0], "records": {"n": 3, "from": 1100, "to": 2000}},
    {"id": 3, "range": ["1/4", "1/2"], "parents": [0],
     "records": {"n": 3, "from": 1100, "to": 2000}},
]  # fmt: skip
ALL = sorted(f"s{n}-{i}" for n, count in enumerate([4, 5, 3, 3]) for i in range(count))


class Sink:
    """What foreachBatch was given, batch by batch; may be told to die."""

    def __init__(self) -> None:
        self.batches: list[list[tuple[int, str]]] = []
        self.dies = False

    def __call__(self, frame: Any, _number: int) -> None:
        rows = [(int(row.shard_id[-3:]), bytes(row.data).decode()) for row in frame.collect()]
        self.batches.append(rows)
        if self.dies:
            raise RuntimeError("the sink is full")

    def data(self) -> list[str]:
        return sorted(data for rows in self.batches for _, data in rows)

    def shards(self) -> list[set[int]]:
        return [{shard for shard, _ in rows} for rows in self.batches if rows]


class Lab:
    """A stream over HTTP and queries on it with one checkpoint."""

    def __init__(self, spark: Any, fake: FakeKinesis, url: str, home: Path) -> None:
        self.spark, self.fake, self.url = spark, fake, url
        self.checkpoint = home / "checkpoint"
        self.sink = Sink()

    @property
    def new_api(self) -> bool:
        """Whether AvailableNow goes on until the end, as from 4.2 on."""
        return tuple(map(int, self.spark.version.split(".")[:2])) >= (4, 2)

    def start(self, trigger: dict[str, Any], **options: str) -> Any:
        reading = self.spark.readStream.format("kinesis-lineage").option("streamName", NAME)
        reading = reading.option("region", "us-east-1").option("endpointUrl", self.url)
        for name, value in options.items():
            reading = reading.option(name, value)
        writing = reading.load().writeStream.foreachBatch(self.sink)
        return writing.option("checkpointLocation", str(self.checkpoint)).trigger(**trigger).start()

    def available_now(self, **options: str) -> Any:
        query = self.start({"availableNow": True}, **options)
        assert query.awaitTermination(WAIT), "the query did not end"
        return query

    def runs(self, most: int = 9, **options: str) -> None:
        """Runs of AvailableNow until one reads nothing: one batch each on 4.0 and 4.1."""
        for _ in range(most):
            before = self.batches()
            self.available_now(**options)
            if self.new_api or self.batches() == before:
                return
        raise AssertionError("there is always one more batch")

    def batches(self) -> tuple[int, int]:
        """How many are planned, and how many done: a run may do no more than one again."""
        folders = (self.checkpoint / "offsets", self.checkpoint / "commits")
        planned, done = (sum(f.name.isdigit() for f in one.glob("*")) for one in folders)
        return planned, done

    def rests(self) -> bool:
        """Whether nothing is under way: a batch that is stopped before its commit runs again."""
        planned, done = self.batches()
        return planned == done

    def offsets(self) -> list[dict[str, Any]]:
        """What the source wrote into the checkpoint, batch by batch."""
        files = [f for f in (self.checkpoint / "offsets").glob("*") if f.name.isdigit()]
        texts = [f.read_text().split("\n")[2] for f in sorted(files, key=lambda f: int(f.name))]
        return [json.loads(text) for text in texts]


@pytest.fixture
def lab(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    if tuple(map(int, spark.version.split(".")[:2])) < (4, 0):
        pytest.skip("streaming data sources in Python came with PySpark 4.0")
    from reshardctl.spark.source import register

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    register(spark)
    created = int(time.time()) - HOUR
    fake = load_topology(
        {"name": NAME, "created": created, "now": HOUR, "shards": SPLIT}, ticking=True
    )
    with serve(fake) as server:
        yield Lab(spark, fake, server.url, tmp_path)


def until(met: Callable[[], bool], query: Any) -> None:
    end = time.monotonic() + WAIT
    while not met():
        assert time.monotonic() < end, "it did not come to that"
        if query.exception() is not None:
            raise query.exception()
        time.sleep(0.1)


def test_available_now_reads_all_generations_in_their_order(lab: Lab):
    lab.runs()
    assert lab.sink.data() == ALL
    assert lab.sink.shards() == [{0, 1}, {2, 3}]
    lab.fake.put(NAME, 1, "new")
    lab.runs()
    assert lab.sink.data() == sorted([*ALL, "new"])


def test_a_batch_whose_sink_died_runs_again_with_the_same_rows(lab: Lab):
    lab.sink.dies = True
    with pytest.raises(Exception, match="the sink is full"):
        lab.available_now()
    first = sorted(lab.sink.batches.pop())
    lab.sink.dies = False
    lab.fake.put(NAME, 1, "later")
    lab.runs()
    assert sorted(lab.sink.batches[0]) == first
    assert lab.sink.data() == sorted([*ALL, "later"])
    assert lab.sink.shards()[:2] == [{0, 1}, {1, 2, 3}]


def test_a_running_query_goes_through_a_split_and_is_stopped_and_goes_on(lab: Lab):
    query = lab.start({"processingTime": "0 seconds"}, startingPosition="LATEST")
    until(lambda: bool(lab.offsets()) and query.lastProgress is not None, query)
    lab.fake.put(NAME, 1, "a")
    until(lambda: lab.sink.data() == ["a"], query)
    client = lab.fake.client()
    shard = lab.fake.stream(NAME).shards[1]
    client.split_shard(
        StreamName=NAME, ShardToSplit=shard.id,
        NewStartingHashKey=str((shard.low + shard.high) // 2 + 1),
    )
    lab.fake.put(NAME, 1, "b")  # the stream is UPDATING still
    lab.fake.settle()
    lab.fake.put(NAME, 4, "c")
    lab.fake.put(NAME, 5, "d")
    until(lambda: lab.sink.data() == ["a", "b", "c", "d"], query)
    assert lab.sink.shards()[-1] <= {4, 5}
    until(lab.rests, query)
    query.stop()
    lab.fake.put(NAME, 4, "e")
    lab.runs()
    assert lab.sink.data() == ["a", "b", "c", "d", "e"]


def test_the_limit_holds_and_progress_tells_the_milliseconds_behind(lab: Lab):
    query = lab.available_now(maxRecordsPerTrigger="2")
    if not lab.new_api:
        assert [len(rows) for rows in lab.sink.batches] == [2]
        return
    assert lab.sink.data() == ALL
    assert all(len(rows) <= 2 for rows in lab.sink.batches)
    reports = [json.loads(p["sources"][0]["latestOffset"]) if isinstance(
        p["sources"][0]["latestOffset"], str) else p["sources"][0]["latestOffset"]
        for p in query.recentProgress]  # fmt: skip
    assert any(report and report["maxMillisBehindLatest"] > 0 for report in reports)


def test_a_query_dies_with_what_to_do_in_its_words(lab: Lab):
    lab.runs()
    client = lab.fake.client()
    client.delete_stream(StreamName=NAME)
    lab.fake.settle()
    client.create_stream(StreamName=NAME, ShardCount=1)
    lab.fake.settle()
    lab.fake.put(NAME, 0, "anew")
    with pytest.raises(Exception, match="deleted and created again at") as error:
        lab.available_now()
    assert "reshardctl audit SINK --stream orders" in str(error.value)
    assert '.option("failOnDataLoss", "false")' in str(error.value)
    lab.runs(failOnDataLoss="false")
    assert lab.sink.data() == sorted([*ALL, "anew"])


def test_a_wrong_option_is_named_before_anything_runs(lab: Lab):
    with pytest.raises(Exception, match="did you mean maxRecordsPerTrigger"):
        lab.available_now(maxRecordPerTrigger="5")
    assert lab.sink.batches == []
