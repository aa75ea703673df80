"""Runs that end by themselves over a resharded stream, and records that retention took unread.

On the oldest and the newest PySpark that the source is for, in one process for each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reshardctl.testing import FakeKinesis, serve
from reshardctl.testing.service import Settings
from tests.proof.libraries.spark.soak.life import Life
from tests.proof.libraries.spark.soak.moving import STREAM
from tests.proof.libraries.spark.soak.scripted import Query

pytestmark = pytest.mark.interop

REGISTER = "reshardctl.spark.source:register"
HOUR = 3600
GENERATIONS = 3


@dataclass
class Running:
    """A process with a release of Spark."""

    release: str
    life: Life

    @property
    def reads_on(self) -> bool:
        """Whether one run of AvailableNow goes on until all is read (PySpark 4.2 and later)."""
        return self.release != "4.0"


@pytest.fixture(
    scope="module",
    params=[pytest.param(each, marks=pytest.mark.needs(f"spark-{each}")) for each in ("4.0", "4")],
)
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    release = request.param
    log = tmp_path_factory.mktemp(f"spark-{release}") / "spark.log"
    life = Life(release, REGISTER, log)
    life.hears("ready")
    yield Running(release, life)
    life.close()


def stream(hours: int = 24, ago: float = 0.0) -> FakeKinesis:
    """A stream of one shard, created so many hours ago, that keeps records so many hours."""
    settings = Settings(create_seconds=0, reshard_seconds=0)
    fake = FakeKinesis(start=time.time() - ago * HOUR - 60, settings=settings)
    fake.call("CreateStream", {"StreamName": STREAM, "ShardCount": 1})
    if hours > 24:
        given = {"StreamName": STREAM, "RetentionPeriodHours": hours}
        fake.call("IncreaseStreamRetentionPeriod", given)
    fake.clock.advance(60)
    return fake


def put(fake: FakeKinesis, shard: int, turns: range) -> None:
    for turn in turns:
        fake.put(STREAM, shard, f"s{shard}|{turn}", f"s{shard}")
        # MillisBehindLatest does not tell records of one millisecond apart.
        fake.clock.advance(0.01)


def split(fake: FakeKinesis, shard: int) -> None:
    one = fake.stream(STREAM).shards[shard]
    middle = str((one.low + one.high) // 2 + 1)
    given = {"StreamName": STREAM, "ShardToSplit": one.id, "NewStartingHashKey": middle}
    fake.clock.advance(5)
    fake.call("SplitShard", given)
    fake.clock.advance(5)


def now(fake: FakeKinesis) -> None:
    """Bring the stream's clock to this machine's."""
    fake.clock.set(max(time.time(), fake.clock.now()))


def of(shard: int, turns: range) -> list[str]:
    return [f"s{shard}|{turn}" for turn in turns]


def test_available_now_reads_over_reshards(running: Running, tmp_path: Path) -> None:
    """4.3 in one run; 4.0, which knows one batch a run, a generation of shards a run."""
    fake = stream(ago=1)
    put(fake, 0, range(3))
    for parent in (0, 1):
        split(fake, parent)
        put(fake, 2 * parent + 1, range(3))
        put(fake, 2 * parent + 2, range(3))
    now(fake)
    with serve(fake) as server:
        query = Query(running.life, server.url, tmp_path)
        runs = 0
        while len(query.batches) < GENERATIONS and runs < 2 * GENERATIONS:
            assert query.run() == ""
            runs += 1
        assert query.run() == ""
    assert [sorted({row.shard[-1] for row in batch}) for batch in query.batches] == [
        ["0"], ["1", "2"], ["3", "4"],
    ]  # fmt: skip
    assert sorted(query.delivered) == sorted(
        one for shard in range(5) for one in of(shard, range(3))
    )
    assert runs == (1 if running.reads_on else GENERATIONS)


def test_records_past_retention_are_told_and_stop_the_query(
    running: Running, tmp_path: Path
) -> None:
    """Ten of thirty were read; then the stream kept 24 hours instead of 48."""
    fake = stream(hours=48, ago=40)
    put(fake, 0, range(30))
    fake.clock.advance(39 * HOUR)
    put(fake, 0, range(30, 35))
    now(fake)
    with serve(fake) as server:
        query = Query(running.life, server.url, tmp_path, {"maxRecordsPerTrigger": "10"})
        told = query.run(die={"how": "fail", "where": "before", "batch": 1})
        assert told == "" or "told to fail" in told
        assert query.delivered == of(0, range(10))
        given = {"StreamName": STREAM, "RetentionPeriodHours": 24}
        fake.call("DecreaseStreamRetentionPeriod", given)
        assert "shard 0" in _told(query.run())
        assert query.delivered == of(0, range(10))
        _on(query, running)
    assert query.delivered == of(0, [*range(10), *range(30, 35)])  # type: ignore[arg-type]


def test_a_parent_that_is_gone_half_read_stops_the_query(running: Running, tmp_path: Path) -> None:
    fake = stream(ago=1)
    put(fake, 0, range(4))
    now(fake)
    with serve(fake) as server:
        query = Query(running.life, server.url, tmp_path)
        assert query.run() == ""
        put(fake, 0, range(4, 8))
        split(fake, 0)
        put(fake, 1, range(2))
        fake.trim_shard(STREAM, 0)
        assert "shard 0" in _told(query.run())
        assert query.delivered == of(0, range(4))
        _on(query, running)
    assert query.delivered == [*of(0, range(4)), *of(1, range(2))]


def test_a_generation_that_came_and_went_unread_stops_the_query(
    running: Running, tmp_path: Path
) -> None:
    """Shard 1 was born, written to, split and gone while nobody looked."""
    fake = stream(ago=1)
    put(fake, 0, range(4))
    split(fake, 0)
    now(fake)
    with serve(fake) as server:
        query = Query(running.life, server.url, tmp_path)
        assert query.run(die={"how": "fail", "where": "before", "batch": 1}) is not None
        put(fake, 1, range(2))
        split(fake, 1)
        put(fake, 3, range(2))
        for gone in (0, 1):
            fake.trim_shard(STREAM, gone)
        assert "shard 1" in _told(query.run())
        assert query.delivered == of(0, range(4))
        _on(query, running)
    assert query.delivered == [*of(0, range(4)), *of(3, range(2))]


def test_a_stream_made_anew_is_told_and_read_from_its_beginning(
    running: Running, tmp_path: Path
) -> None:
    fake = stream(ago=1)
    put(fake, 0, range(4))
    now(fake)
    with serve(fake) as server:
        query = Query(running.life, server.url, tmp_path)
        assert query.run() == ""
        fake.call("DeleteStream", {"StreamName": STREAM})
        fake.clock.advance(10)
        fake.call("CreateStream", {"StreamName": STREAM, "ShardCount": 1})
        fake.clock.advance(10)
        put(fake, 0, range(10, 12))
        assert "created again" in _told(query.run())
        _on(query, running)
    assert query.delivered == [*of(0, range(4)), *of(0, range(10, 12))]


def _told(why: str) -> str:
    """What a query died of, with the way out that it named."""
    assert "failOnDataLoss" in why, why
    return why


def _on(query: Query, running: Running) -> None:
    """Go on past the loss until nothing more comes: a batch a run where PySpark knows no more."""
    for _ in range(1 if running.reads_on else GENERATIONS):
        assert query.run(failOnDataLoss="false") == ""
