"""The reference of the Spark connectors against the other runs of November 2026.

Those on offset log v2 and on file sinks used the connectors' own jars; the scenarios that start
from nothing ran on the connectors' sources with the AWS SDK replaced by a stand-in.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reshardctl.testing import FakeKinesis, load_topology
from reshardctl.testing.service import Settings
from tests.proof.reference.spark import LINEAGE, Query, Run, Sink, connector_of, run
from tests.proof.reference.spark_files import COMMIT, DiedError, beside, logged, put, remove
from tests.proof.reference.spark_log import FOLDERS, TableLog
from tests.proof.reference.spark_offset import Position
from tests.proof.reference.spark_qubole import CrashedError
from tests.proof.reference.spark_release import RELEASES, Options
from tests.support.spark_shapes import Shape, shape, shard_id

QUBOLE, OLD, HEAD = "qubole-1.2.0_spark-3.0", "awslabs-1.4.2", "awslabs-head-0f4c005"
BUILDS = (QUBOLE, OLD, HEAD)
ZERO, ONE, TWO = map(shard_id, range(3))


@pytest.mark.parametrize(
    ("scenario", "told", "repaired"),
    [("s1", "6 rows, LOST s0:4-9", "12 rows, ok"), ("s4", "4 rows, ok", "4 rows, ok")],
)
def test_offset_log_v2(scenario: str, told: str, repaired: str, tmp_path: Path) -> None:
    folder = "awslabs-head-0f4c005-spark-4.3"
    stood = shape(scenario, HEAD, tmp_path / "a", folder=folder)
    assert stood.told(stood.start()) == told
    stood = shape(scenario, HEAD, tmp_path / "b", folder=folder)
    stood.append()
    assert stood.read(stood.newest).version == "v2"
    assert stood.told(stood.start()) == repaired


def test_a_named_source(tmp_path: Path) -> None:
    stood = shape("s1", HEAD, tmp_path, folder="awslabs-head-0f4c005-spark-4.3")
    stood.root.joinpath("sources", "0").rename(stood.root / "sources" / "kin")
    newest = stood.read(stood.newest)
    put(stood.offsets / "0", replace(newest, lines={"kin": newest.lines["0"]}).text())
    stood.key = "kin"
    stood.append()
    assert stood.told(stood.start()) == "12 rows, ok"


# File sinks: Spark's sink takes no batch twice and cannot be read when one is missing.


@pytest.mark.parametrize("build", [QUBOLE, HEAD])
def test_a_file_sink_gets_an_appended_batch_once(build: str, tmp_path: Path) -> None:
    stood = shape("s1", build, tmp_path)
    stood.sink = Sink(log=[0])
    stood.append()
    assert stood.told(stood.start()) == "12 rows, ok"


@pytest.mark.parametrize("build", [QUBOLE, HEAD])
def test_a_file_sink_breaks_when_a_batch_is_passed_over(build: str, tmp_path: Path) -> None:
    stood = shape("u1", build, tmp_path)
    stood.sink = Sink(log=[0])
    stood.append()
    ran = stood.start()
    assert ran.died is not None and "_spark_metadata/1 doesn't exist" in ran.died


@pytest.mark.parametrize(("held", "rows"), [([0], 12), ([0, 1], 0)])
def test_a_file_sink_takes_an_edited_batch_only_if_it_has_it_not(
    held: list[int], rows: int, tmp_path: Path
) -> None:
    stood = shape("u1", HEAD, tmp_path)
    stood.sink = Sink(log=held)
    stood.in_place(wipe=True)
    assert sum(stood.start().sizes) == rows


# An uncommitted batch that names an expired shard (S4g), failOnDataLoss=false


@pytest.mark.parametrize(("build", "dies"), [(QUBOLE, False), (OLD, True), (HEAD, False)])
def test_an_uncommitted_batch_names_an_expired_shard(
    build: str, dies: bool, tmp_path: Path
) -> None:
    stood = shape("u1", build, tmp_path)
    stood.options = replace(stood.options, fails=False)
    stood.fake.trim_shard("st", 0)
    ran = stood.start()
    assert (ran.died is not None) == dies
    if dies:
        assert "ResourceNotFoundException" in str(ran.died)


# Spark's own logs


def spark_edit(edit: Callable[[Shape], None], to: Path) -> Run:
    """S1x of the newest build has three committed batches and more; edit it and start."""
    stood = shape("s1x", OLD, to)
    edit(stood)
    return stood.start()


def test_the_batch_before_the_newest_must_be_there(tmp_path: Path) -> None:
    """C4 of the experiments with Spark 3.3.4 to 4.3.0: "batch 1 doesn't exist"."""
    ran = spark_edit(lambda stood: stood.drop(stood.newest - 1), tmp_path)
    assert ran.died is not None and ran.died.endswith("doesn't exist")


def test_a_commit_without_its_offsets_kills_after_a_run(tmp_path: Path) -> None:
    """C3: the batch before runs again, then the log is updated concurrently."""
    ran = spark_edit(lambda stood: stood.drop(stood.newest), tmp_path)
    assert ran.died is not None and "concurrent update" in ran.died


def test_other_versions_of_the_log_are_not_read() -> None:
    """Spark's check of the first line."""
    with pytest.raises(DiedError, match="malformed"):
        logged("v3\n{}\n{}")


# A shard in the log only (R2)


@pytest.mark.parametrize(("build", "first"), [(QUBOLE, "s1-2"), (OLD, "s1-0"), (HEAD, "s1-0")])
def test_a_shard_in_the_log_alone_counts_for_qubole_only(
    build: str, first: str, tmp_path: Path
) -> None:
    stood = shape("s1", build, tmp_path)
    second = str(stood.fake.stream("st").shards[1].records[1].number)
    stood.enter(0, [Position(ONE, "AFTER_SEQUENCE_NUMBER", second)])
    assert stood.start().delivered[ONE][0] == first


# From nothing: starts at LATEST, slow listings, one DynamoDB log for two queries

ROOTS = {
    "name": "st",
    "created": 1795219200,
    "now": 100,
    "shards": [{"id": 0, "range": ["0", "1/2"]}, {"id": 1, "range": ["1/2", "1"]}],
}


def fresh(build: str, root: Path, fake: FakeKinesis, options: Options) -> Query:
    """A query on an empty checkpoint."""
    return Query(root, connector_of(fake, "st", root, build, options))


def triggered(fake: FakeKinesis, query: Query, times: int, each: Callable[[int], None]) -> None:
    """Run so many triggers; ``each`` comes before every one of them."""
    for turn in range(times):
        each(turn)
        fake.clock.advance(2)
        query.trigger()


def rows(query: Query, shard: int) -> list[str]:
    """Everything that one shard gave."""
    return [
        payload for _, batch in query.sink.batches for payload in batch.get(shard_id(shard), [])
    ]


@pytest.mark.parametrize(("build", "came"), [(QUBOLE, 40), (OLD, 40), (HEAD, 0)])
def test_latest_on_an_idle_shard(build: str, came: int, tmp_path: Path) -> None:
    """S9: nobody writes while the first batch is read; then 40 records come, one at a time."""
    fake = load_topology(ROOTS)
    query = fresh(build, tmp_path, fake, Options("LATEST"))
    query.start()

    def put_one(turn: int) -> None:
        if turn >= 2:
            fake.put("st", 0, f"s0-{turn}")

    triggered(fake, query, 42, put_one)
    triggered(fake, query, 3, lambda _: None)
    assert len(rows(query, 0)) == came


@pytest.mark.parametrize(("build", "twice"), [(QUBOLE, True), (OLD, True), (HEAD, False)])
def test_a_parent_that_ends_before_its_children_are_listed(
    build: str, twice: bool, tmp_path: Path
) -> None:
    """S7b, describeShardInterval of 45 s: the ancestor begins again at startingPosition."""
    fake = load_topology(ROOTS, settings=Settings(end_with_last_records=True))
    query = fresh(build, tmp_path, fake, Options("TRIM_HORIZON", interval=45.0))
    for index in range(4):
        fake.put("st", 0, f"s0-{index}")
    query.start()
    triggered(fake, query, 2, lambda _: None)
    client = fake.client()
    client.split_shard(StreamName="st", ShardToSplit=shard_id(0), NewStartingHashKey=str(2**126))
    fake.settle()

    def late(_batch: int) -> None:
        fake.put("st", 1, "s1-0")

    triggered(fake, query, 40, late)
    assert rows(query, 0) == ["s0-0", "s0-1", "s0-2", "s0-3"] * (2 if twice else 1)


def test_qubole_dies_when_every_shard_has_ended(tmp_path: Path) -> None:
    """S7c, describeShardInterval of an hour: nothing runs, so no log is written."""
    fake = load_topology(ROOTS, settings=Settings(end_with_last_records=True))
    options = Options("TRIM_HORIZON", interval=3600.0)
    query = fresh(QUBOLE, tmp_path, fake, options)
    query.start()
    triggered(fake, query, 1, lambda _: None)
    client = fake.client()
    client.merge_shards(StreamName="st", ShardToMerge=shard_id(0), AdjacentShardToMerge=shard_id(1))
    fake.settle()
    with pytest.raises(DiedError, match="unable to fetch"):
        triggered(fake, query, 5, lambda _: None)
    again = run(fake, "st", tmp_path, QUBOLE, options)
    assert again.died is not None and "unable to fetch" in again.died


def test_two_queries_on_one_table_read_each_others_places(tmp_path: Path) -> None:
    """DynamodbMetadataCommitter of awslabs: the key holds no query (code reading, issue 26)."""
    fake = load_topology(ROOTS)
    table = TableLog()
    for index in range(3):
        fake.put("st", 0, f"s0-{index}")
    options = Options("TRIM_HORIZON")
    first = run(fake, "st", tmp_path / "a", OLD, options, log=table)
    assert first.delivered == {ZERO: ["s0-0", "s0-1", "s0-2"]}
    fake.put("st", 0, "s0-3")
    second = run(fake, "st", tmp_path / "b", OLD, options, log=table)
    assert second.sizes == [3, 1], "its first batch ends where the other query's did"
    third = run(fake, "st", tmp_path / "c", OLD, options, log=TableLog())
    assert third.sizes == [4]


def test_the_places_that_a_start_leaves_are_those_that_the_golden_one_left(tmp_path: Path) -> None:
    """A first start at TRIM_HORIZON writes the very files of the golden s1, but for the times."""
    for build in BUILDS:
        stood = shape("s1", build, tmp_path / build)
        golden = stood.read(0).lines["0"]
        end = (stood.log(0) / ZERO).read_text(encoding="utf-8")
        table = json.loads(json.dumps(stood.truth["streams"][0]))
        table |= {"shards": [{**table["shards"][0], "close": 4000}], "now": 700}
        table["shards"][0].pop("close")
        table["shards"][0]["records"] = table["shards"][0]["records"][:4]
        fake = load_topology({k: v for k, v in table.items() if v is not None})
        root = tmp_path / f"fresh-{build}"
        run(fake, "st", root, build, Options("TRIM_HORIZON"), triggers=1)
        assert logged((root / "offsets" / "0").read_text()).lines["0"] == golden
        log = root / "sources" / "0" / FOLDERS[RELEASES[build].family] / "0" / ZERO
        assert log.read_text(encoding="utf-8") == end
        assert (root / "commits" / "0").read_text() == COMMIT
        assert (
            beside(root / "commits" / "0").read_bytes()
            == beside(stood.root / "commits" / "0").read_bytes()
        )
        remove(root / "commits" / "0")


def test_a_source_whose_offsets_are_ends_reads_everything_once_and_in_order(tmp_path: Path) -> None:
    """A split, a crash between plan and commit, a merge: all once, parents in earlier batches."""
    fake = load_topology(ROOTS)
    client, options = fake.client(), Options("TRIM_HORIZON")
    query = Query(tmp_path, connector_of(fake, "st", tmp_path, LINEAGE, options))
    query.start()
    fake.put("st", 0, "s0-0")
    triggered(fake, query, 2, lambda _: None)
    fake.put("st", 0, "s0-1")
    client.split_shard(StreamName="st", ShardToSplit=ZERO, NewStartingHashKey=str(2**126))
    fake.settle()
    for shard in (2, 3):
        fake.put("st", shard, f"s{shard}-0")
    with pytest.raises(CrashedError):
        query.trigger(tasks=0)
    again = Query(tmp_path, connector_of(fake, "st", tmp_path, LINEAGE, options), sink=query.sink)
    again.start()
    triggered(fake, again, 4, lambda _: None)
    two, three = shard_id(2), shard_id(3)
    client.merge_shards(StreamName="st", ShardToMerge=two, AdjacentShardToMerge=three)
    fake.settle()
    fake.put("st", 4, "s4-0")
    triggered(fake, again, 4, lambda _: None)
    batches = [
        sorted(payload for payloads in batch.values() for payload in payloads)
        for _, batch in again.sink.batches
    ]
    assert [rows for rows in batches if rows] == [["s0-0"], ["s0-1"], ["s2-0", "s3-0"], ["s4-0"]]
