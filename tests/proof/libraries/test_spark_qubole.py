"""The Qubole connector on the real Spark judges: recorded checkpoints, as they are and repaired.

What counts is what the query's sink was given, not what lies in the checkpoint.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.proof.libraries.spark import by_hand, executed
from tests.proof.libraries.spark.connector import FORMAT, locator, options, restart, tool
from tests.proof.libraries.spark.growing import Growing, after, before
from tests.proof.libraries.spark.recorded import BY_NAME, FOLDER, RECORDED, Recorded, of
from tests.proof.libraries.spark.session import Spark
from tests.proof.libraries.spark.shapes import GOLDEN

pytestmark = pytest.mark.interop

SOUND = [each for each in RECORDED if each.sound]
BROKEN = [each for each in RECORDED if not each.sound]
IDLE = {"kinesis.client.avoidEmptyBatches": "true"}
EVERYTHING = ("--accept", "reread=all")
BETWEEN_U1S_SHARDS = 3617.0
"""Seconds after its creation: the parent has closed, the children have no record yet."""
CONNECTORS_ORDER = ("metadata", "shardId-000000000001", "shardId-000000000002")


def test_every_recorded_state_is_run() -> None:
    assert {path.name for path in (GOLDEN / FOLDER).iterdir() if path.is_dir()} == set(BY_NAME)


@pytest.mark.parametrize("recorded", RECORDED, ids=str)
def test_restart_as_it_is(recorded: Recorded, spark_3_5: Spark, tmp_path: Path) -> None:
    """What it delivers is what was recorded, and what the tool forecasts."""
    with recorded.shape.planted(tmp_path / "checkpoint") as planted:
        forecast = tool(planted).inspect(locator(planted), "st", "--count")
        executed.note(f"qubole {recorded} as it is")
        outcome = restart(spark_3_5, planted)
    print(outcome)
    assert outcome.delivered == sorted(recorded.as_it_is)
    assert recorded.dies in outcome.died
    assert bool(outcome.died) is bool(recorded.dies) is bool(forecast.harmed("crashes"))
    lost = () if recorded.dies else recorded.lost
    assert forecast.counted("skipped") == Counter(map(_shard, lost))


@pytest.mark.parametrize("recorded", SOUND, ids=str)
def test_sound_state_plans_nothing(recorded: Recorded, tmp_path: Path) -> None:
    with recorded.shape.planted(tmp_path / "checkpoint") as planted:
        before = by_hand.tree(planted.checkpoint)
        answer = tool(planted).fix(locator(planted), "st")
        assert (answer.decides, answer.writes) == ("nothing", 0)
        assert by_hand.tree(planted.checkpoint) == before


@pytest.mark.parametrize("recorded", BROKEN, ids=str)
def test_repaired_delivers_all_that_is_due_once(
    recorded: Recorded, spark_3_5: Spark, tmp_path: Path
) -> None:
    """And then there is nothing to repair: neither before the batch has run, nor after."""
    with recorded.shape.planted(tmp_path / "checkpoint") as planted:
        mended = tool(planted).fix(locator(planted), "st")
        assert mended.writes == 1
        waiting = tool(planted).inspect(locator(planted), "st")
        assert waiting.decides == "nothing"
        assert not (waiting.harmed("crashes") or waiting.harmed("skipped"))
        executed.note(f"qubole {recorded} repaired")
        outcome = restart(spark_3_5, planted)
        print(outcome)
        again = tool(planted).fix(locator(planted), "st")
    assert outcome.died == ""
    assert outcome.delivered == recorded.due
    assert (again.decides, again.writes) == ("nothing", 0)


def test_it_starts_at_the_positions_of_a_file(spark_3_5: Spark, tmp_path: Path) -> None:
    """A file of `export` in which the parent was moved three records on; the rest stays."""
    recorded = BY_NAME["s1"]
    with recorded.shape.planted(tmp_path / "checkpoint") as planted:
        told = tool(planted).run("export", locator(planted), "--stream", "st").document
        parent = next(one for one in told["positions"] if one["shard"].endswith("0"))
        skipped = planted.fake.stream("st").shards[0].records[6]
        parent |= {"number": str(skipped.number), "kind": "AFTER_SEQUENCE_NUMBER", "stored": ""}
        file = tmp_path / "told.positions"
        file.write_text(json.dumps(told), encoding="utf-8")
        accept = ("--accept", "skip=all,reread=all,disorder")
        done = tool(planted).fix(locator(planted), "st", "--positions", str(file), *accept)
        assert done.writes == 1
        executed.note("qubole s1 at the positions of a file")
        outcome = restart(spark_3_5, planted)
    print(outcome)
    assert outcome.died == ""
    assert outcome.delivered == sorted(of(s0=range(7, 10), s1=range(3), s2=range(3)))


def test_repaired_batch_does_not_run_twice(spark_3_5: Spark, tmp_path: Path) -> None:
    """The connector may answer that nothing is new; then the offset has to be its very text."""
    recorded = BY_NAME["s4"]
    with recorded.shape.planted(tmp_path / "checkpoint") as planted:
        tool(planted).fix(locator(planted), "st")
        executed.note("qubole s4 repaired, no empty batches")
        outcome = restart(spark_3_5, planted, **IDLE)
    print(outcome)
    assert outcome.delivered == recorded.due
    assert len(outcome.batches) == 1


def test_other_order_of_keys_runs_a_batch_twice(spark_3_5: Spark, tmp_path: Path) -> None:
    """Spark compares offsets by their text: a repair that gets it wrong is noticed here."""
    recorded = BY_NAME["s4"]
    with recorded.shape.planted(tmp_path / "checkpoint") as planted:
        by_hand.append(planted.checkpoint, recorded.shape.repair, CONNECTORS_ORDER[::-1])
        executed.note("qubole s4 by hand, keys in another order")
        outcome = restart(spark_3_5, planted, **IDLE)
    print(outcome)
    assert outcome.delivered == sorted(recorded.due * 2)


def test_plan_that_forgets_the_parent_loses_it(spark_3_5: Spark, tmp_path: Path) -> None:
    """The comparison has to fail for a repair that loses records, or it proves nothing."""
    recorded = BY_NAME["s1"]
    positions = dict(recorded.shape.repair)
    positions.pop("shardId-000000000000")
    with recorded.shape.planted(tmp_path / "checkpoint") as planted:
        by_hand.append(planted.checkpoint, positions, ["metadata", *sorted(positions)])
        executed.note("qubole s1 by hand, without the parent")
        outcome = restart(spark_3_5, planted)
    print(outcome)
    assert set(recorded.due) - set(outcome.delivered) == set(of(s0=range(4, 10)))


def test_planned_batch_is_edited_where_it_stands(spark_3_5: Spark, tmp_path: Path) -> None:
    """u1, but its parent expired meanwhile: the batch that was planned names a shard that is gone.

    As it is the query dies; edited in place, with the log of the batch away, it reads the rest."""
    shape = BY_NAME["u1"].shape
    with shape.planted(tmp_path / "as it is", BETWEEN_U1S_SHARDS) as planted:
        executed.note("qubole u1 expired, as it is")
        assert restart(spark_3_5, planted).died
    with shape.planted(tmp_path / "checkpoint", BETWEEN_U1S_SHARDS) as planted:
        found = tool(planted).inspect(locator(planted), "st")
        assert found.harmed("crashes")
        mended = tool(planted).fix(locator(planted) + "&sink=other", "st")
        assert {path.name for path in (planted.checkpoint / "offsets").glob("[0-9]*")} == {"0", "1"}
        executed.note("qubole u1 expired, repaired")
        outcome = restart(spark_3_5, planted)
    print(mended.document["steps"], outcome)
    assert (outcome.delivered, outcome.died) == (sorted(of(s1=range(3), s2=range(3))), "")


@pytest.mark.parametrize(("key", "text", "again"), [
    ("commits/0", "", of(s0=range(4), s1=range(1), s2=range(1))), ("metadata", "{", of()),
])  # fmt: skip
def test_file_that_keeps_spark_from_starting(
    spark_3_5: Spark, tmp_path: Path, key: str, text: str, again: Sequence[str]
) -> None:
    """A commit as a power loss leaves it: its batch runs again. Spark does not start before."""
    recorded = BY_NAME["s2"]
    with recorded.shape.planted(tmp_path / "checkpoint") as planted:
        spoiled = planted.checkpoint / key
        spoiled.write_text(text)
        (spoiled.parent / f".{spoiled.name}.crc").unlink(missing_ok=True)
        before = by_hand.tree(planted.checkpoint)
        assert tool(planted).inspect(locator(planted), "st").harmed("crashes")
        mended = tool(planted).fix(locator(planted) + "&sink=other", "st", *EVERYTHING)
        executed.note(f"qubole s2 without its {key}, repaired")
        outcome = restart(spark_3_5, planted)
        print(outcome)
        assert (outcome.delivered, outcome.died) == (sorted([*recorded.due, *again]), "")
    with recorded.shape.planted(tmp_path / "as it is") as planted:
        spoiled = planted.checkpoint / key
        spoiled.write_text(text)
        (spoiled.parent / f".{spoiled.name}.crc").unlink(missing_ok=True)
        mended = tool(planted).fix(locator(planted) + "&sink=other", "st", *EVERYTHING)
        tool(planted).undo(mended.document["journal"])
        assert by_hand.tree(planted.checkpoint) == before


def test_undone_directory_is_as_it_was(spark_3_5: Spark, tmp_path: Path) -> None:
    """To the byte; and the restart does again what it did before."""
    recorded = BY_NAME["s3"]
    with recorded.shape.planted(tmp_path / "checkpoint") as planted:
        before = by_hand.tree(planted.checkpoint)
        mended = tool(planted).fix(locator(planted), "st")
        assert by_hand.tree(planted.checkpoint) != before
        tool(planted).undo(mended.document["journal"])
        assert by_hand.tree(planted.checkpoint) == before
        executed.note("qubole s3 repaired and undone")
        outcome = restart(spark_3_5, planted)
    print(outcome)
    assert outcome.delivered == sorted(recorded.as_it_is)


def test_file_sink_gets_each_row_once(spark_3_5: Spark, tmp_path: Path) -> None:
    """The state is made by the query itself: a split while it is down, and a start at LATEST."""
    files, stream = str(tmp_path / "rows"), Growing(tmp_path / "checkpoint")
    with stream.at(before()) as planted:
        executed.note("qubole file sink, before the split")
        # Without this the connector runs empty batches for ever, and the stop may leave one
        # uncommitted: then the sink may hold it, and there is rightly no line (seen in CI).
        first = restart(spark_3_5, planted, files, **IDLE)
    assert sorted(first.rows) == sorted(of(s0=range(4)))
    with stream.at(after()) as planted:
        at_latest = locator(planted).replace("TRIM_HORIZON", "LATEST") + "&sink=file"
        mended = tool(planted).fix(at_latest, "st")
        assert mended.writes == 1
        executed.note("qubole file sink, repaired")
        now = {**options(planted), "startingPosition": "LATEST"}
        last = spark_3_5.query(FORMAT, now, planted.checkpoint, files=files)
    print(last)
    assert sorted(last.rows) == sorted(of(s0=range(6), s1=range(2), s2=range(2)))


def _shard(payload: str) -> str:
    """The id of the shard that a payload came from: ``s1-0`` from the second."""
    return f"shardId-{int(payload[1:].partition('-')[0]):012d}"
