"""A checkpoint directory that is gone, written anew, and the reference query started on it.

The reference of kinesis-lineage is written from docs/source.md and from call traces of PySpark 4.0
to 4.3, Qubole's from its sources; neither knows of sinks or lines.
"""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from reshardctl.auditing.sink_frontier import sink_frontier_of
from reshardctl.consumers.base import Cannot
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.consumers.spark.rebuilt import SHOWN
from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, Cut, ShardId, Span, after, at_number, shard_id
from reshardctl.model.times import instant
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import Case as PlanCase
from reshardctl.planning.plan import NoSafePlan
from reshardctl.planning.policy import EVERYTHING, Accept
from reshardctl.planning.rebuild import rebuilt
from tests.proof.exhaustive.histories import random_stream
from tests.proof.reference.spark import LINEAGE
from tests.support.case import Case, from_table
from tests.support.dialects.spark import planted
from tests.support.judging import lineage_of
from tests.support.lineages import split_in_turn
from tests.support.sinks.random import facts

QUBOLE = "qubole-1.2.0_spark-3.0"


def case_of(rng: Random) -> Case:
    table = {
        "title": "random", "source": "reference consumer", "consumer": "kcl",
        "stream": random_stream(rng), "rows": [],
        "expect": [{
            "initial": ["LATEST"], "releases": ["3.5.1"], "delivers": {}, "findings": [],
        }],
    }  # fmt: skip
    return from_table(Path("random.toml"), deepcopy(table))


def lost(case: Case, release: str, initial: str, batch: int) -> PlanCase:
    """A directory without a file."""
    said = {
        "release": "kinesis-lineage" if release == LINEAGE else release,
        "startingPosition": initial, "batch": str(batch), "failOnDataLoss": "false",
        "sink": "other",
    }
    spark = CONSUMERS["spark"].for_options(said)
    spark.validate_options(said)
    lineage = lineage_of(case.shards, case.stream["created"], case.retention_hours)
    candidates = spark.candidates(spark.parse([], lineage.stream), said)
    return PlanCase(
        spark, StreamState(lineage, case.now), [], candidates,
        accept=Accept(reread=EVERYTHING, disorder=True),
    )


def rebuilt_of(lineage: Lineage, begun: dict[ShardId, Cut], **said: str) -> Any:
    """What is written where nothing is left: these shards are begun there, others at their start.
    """
    spark = CONSUMERS["spark"].for_options(said)
    gone = spark.parse([], lineage.stream)
    (candidate, *_) = spark.candidates(gone, said)
    return spark.rebuild(lineage, gone, dict.fromkeys(lineage, START) | begun, candidate.app)


def test_the_files_of_a_lost_checkpoint(tmp_path):
    """Spark's formats: checkpoints of runs on PySpark 4.0 to 4.3, November 2026; the offset is
    docs/source.md's."""
    rng = Random("files")
    case = case_of(rng)
    sink = {s: frozenset(p for _, p, _ in held) for s, held in case.records.items()}
    plain = lost(case, LINEAGE, "LATEST", 7)
    line = sink_frontier_of(facts(case, sink), plain.state.lineage, inside=True)
    decision = rebuilt(replace(plain, line=line.spans))
    assert [w.key for step in decision.steps for w in step.writes] == [
        "offsets/6", "offsets/7", "commits/7", "metadata",
    ]
    planted(after([], decision.steps), tmp_path)
    head, settings, offset = (tmp_path / "offsets" / "7").read_text().split("\n")
    assert head == "v1" and json.loads(settings)["conf"] == {}
    stored = json.loads(offset)
    assert json.dumps(stored) == offset
    assert (stored["stream"], stored["created"]) == ("orders", case.stream["created"])
    for shard, mark in stored["shards"].items():
        held = case.records[shard]
        assert mark["seq"] == (held[-1][0] if held else "")
        assert ("tip" in mark) is not mark["end"]
        assert mark["end"] is bool(case.topology[int(shard[-12:])].end)
    metadata = json.loads((tmp_path / "metadata").read_text())
    assert set(metadata) == {"id"}
    query = UUID(metadata["id"])  # RFC 9562: version 8 is for ids of one's own making
    assert (str(query), query.version) == (metadata["id"], 8)


@pytest.mark.parametrize(("begun", "marked"), [
    ({0: DONE, 1: DONE}, [0, 1, 2, 3]),
    ({0: DONE, 1: DONE, 2: DONE, 3: DONE, 4: at_number("7")}, [0, 1, 2, 3, 4, 5]),
    ({0: at_number("7")}, [0, 1]),
    ({0: at_number("7"), 4: at_number("8")}, [0, 1, 2, 4]),
])  # fmt: skip
def test_a_shard_that_waits_for_its_parents_has_a_mark_only_above_another(begun, marked):
    """The source begins a shard without a mark when its parents have ended, and takes a listed
    ancestor of a marked one for read, with a mark or without (`entrants` in
    reshardctl/spark/source/offset.py). 0 was split into 2 and 3, 2 into 4 and 5."""
    begun_at = {shard_id(n): cut for n, cut in begun.items()}
    steps = rebuilt_of(split_in_turn(2, (0, 2)), begun_at, release="kinesis-lineage", batch="3")
    (offset,) = [write.change.attributes["text"]["S"] for step in steps for write in step.writes
                 if write.key == "offsets/3"]  # fmt: skip
    shards = json.loads(offset.split("\n")[2])["shards"]
    assert list(shards) == [shard_id(n) for n in marked]


def test_of_the_two_batches_of_qubole_s_log_the_second_is_planned():
    """One without a commit runs at the next start (Spark's MicroBatchExecution)."""
    steps = rebuilt_of(
        split_in_turn(1, ()), {}, release=QUBOLE, batch="3", startingPosition="TRIM_HORIZON"
    )
    told = {write.key: write.why for step in steps for write in step.writes}
    assert told["offsets/3"] == "batch 3, committed" and "commits/3" in told
    assert told["offsets/4"].startswith("batch 4, planned") and "commits/4" not in told


def test_an_empty_directory_is_no_checkpoint_unless_that_is_said():
    rng = Random("said")
    case = case_of(rng)
    lineage = lineage_of(case.shards, case.stream["created"])
    with pytest.raises(UsageError, match="no checkpoint") as refusal:
        CONSUMERS["spark"].for_options({"release": "kinesis-lineage"}).parse([], lineage.stream)
    assert "batch=" in refusal.value.next
    with pytest.raises(UsageError, match="batch=x"):
        CONSUMERS["spark"].validate_options({"batch": "x"})


def test_a_query_of_several_sources_is_not_rebuilt_from_one():
    lineage = split_in_turn(1, ())
    found = rebuilt_of(lineage, {}, release="kinesis-lineage", batch="3", source="1")
    assert isinstance(found, Cannot) and "several sources" in found.why


@pytest.mark.parametrize(("left", "by_time"), [(True, False), (False, True)])
def test_more_shards_than_an_option_holds_begin_by_time_unless_closed_ones_would_be_skipped(
    left, by_time
):
    """awslabs from 1.4.3 on takes every closed shard of a new checkpoint for read."""
    lineage, over = split_in_turn(SHOWN + 1, (0,)), {} if left else {shard_id(0): DONE}
    found = rebuilt_of(lineage, over, release="awslabs-2.0.0", batch="3")
    assert isinstance(found, Cannot)
    assert any("AT_TIMESTAMP" in way for way in found.ways_out) is by_time


def test_a_new_query_of_qubole_s_begins_with_batch_0():
    """As every query of Spark does (MicroBatchExecution)."""
    lineage, said = split_in_turn(1, ()), {"release": QUBOLE, "startingPosition": "TRIM_HORIZON"}
    spark = CONSUMERS["spark"].for_options({**said, "batch": "0"})
    (candidate,) = spark.candidates(spark.parse([], lineage.stream), said)
    found = spark.bootstrap(lineage, dict.fromkeys(lineage, START), candidate.app)
    assert isinstance(found, Cannot)
    (way,) = found.ways_out
    assert json.loads(way.partition("startingPosition=")[2])["metadata"]["batchId"] == "0"


def test_a_start_by_time_looks_at_no_shard_that_is_read():
    """The end of 0 has the number of its last record, before its children were born."""
    lineage = split_in_turn(1, (0,))
    ended = replace(DONE, text=lineage[shard_id(0)].start)
    found = rebuilt_of(lineage, {shard_id(0): ended}, release="databricks", batch="3")
    assert isinstance(found, Cannot)
    since = instant((lineage.opened_at(shard_id(1)) or 0) - 60)
    assert any(f"AT_TIMESTAMP at {since}" in way for way in found.ways_out), found.ways_out


@pytest.mark.parametrize("release", ["awslabs-2.0.0", "awslabs-1.4.2", "databricks"])
def test_connectors_that_skip_what_is_closed_get_ways_out(release):
    case = case_of(Random("cannot"))
    plain = lost(case, release, "LATEST", 0)
    line = {shard: Span(START, START) for shard in plain.state.lineage}
    decision = rebuilt(replace(plain, line=line))
    assert isinstance(decision, NoSafePlan)
    way, *others = decision.ways_out
    if release == "databricks":  # the first shards open three seconds before their stream is there
        since = instant(case.stream["created"] - 3 - 60)
        assert any("initialPosition" in one and since in one for one in others), others
    else:
        assert not others
    if release == "awslabs-1.4.2":  # the option's JSON, as its README has it
        places = json.loads(way.partition("startingPosition=")[2])
        assert places["metadata"]["streamName"] == "orders"
        assert all(one["iteratorType"] == "TRIM_HORIZON" for name, one in places.items()
                   if name != "metadata")
