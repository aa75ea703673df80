"""A Python source whose offsets are ENDs, on the newest Spark: a committed line, edited in place.

The source is a small one of these tests (tests/interop/spark/inside/lineage_source.py), with the
offsets of `kinesis-lineage`. Its checkpoints are written by Spark, in both formats of the offset
log; the second one names its source.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reshardctl.times import instant
from tests.interop.spark import by_hand, executed
from tests.interop.spark.growing import STREAM, Growing, after, before
from tests.interop.spark.recorded import of
from tests.interop.spark.session import Outcome, Spark
from tests.interop.spark.shapes import Planted
from tests.interop.spark.tool import Tool

pytestmark = pytest.mark.interop

FORMAT = "kinesis-lineage"
SOURCE = "kin"
PARENT, CHILD = "shardId-000000000000", "shardId-000000000001"
REREAD = ("--accept", "reread=3h")
"""A position that is none may stand for any place: the tool fears for the whole shard."""
EVOLVING = "spark.sql.streaming.queryEvolution.enableSourceEvolution"


@dataclass(frozen=True)
class Log:
    """One format of the offset log, and what makes Spark write it."""

    version: str
    request: dict[str, Any]

    def __str__(self) -> str:
        return self.version


LOGS = (
    Log("v1", {"conf": {EVOLVING: "false"}}),
    Log("v2", {"conf": {EVOLVING: "true"}, "source": SOURCE}),
)


@dataclass(frozen=True)
class Written:
    """A checkpoint that the query wrote: up to the split, then over it."""

    log: Log
    stream: Growing
    checkpoint: Path
    delivered: tuple[list[str], list[str]]


@pytest.fixture(scope="module", params=LOGS, ids=str)
def written(
    request: pytest.FixtureRequest, spark_4: Spark, tmp_path_factory: pytest.TempPathFactory
) -> Written:
    """Started twice: before the split and after it."""
    log = request.param
    checkpoint = tmp_path_factory.mktemp(str(log)) / "checkpoint"
    stream, delivered = Growing(checkpoint), []
    for name, shards in (("before", before()), ("after", after())):
        with stream.at(shards) as planted:
            executed.note(f"lineage {log} {name} the split")
            delivered.append(_restart(spark_4, log, planted, checkpoint).delivered)
    return Written(log, stream, checkpoint, (delivered[0], delivered[1]))


def _restart(spark: Spark, log: Log, planted: Planted, checkpoint: Path) -> Outcome:
    options = {"endpoint": planted.address, "streamName": STREAM}
    outcome = spark.query(FORMAT, options, checkpoint, **log.request)
    print(outcome)
    return outcome


def _copy(written: Written, folder: Path) -> tuple[Path, str]:
    checkpoint = Path(shutil.copytree(written.checkpoint, folder / "checkpoint"))
    return checkpoint, f"spark:{checkpoint}?startingPosition=TRIM_HORIZON"


def test_source_delivers_everything_once(written: Written) -> None:
    first, then = written.delivered
    assert first == sorted(of(s0=range(4)))
    assert then == sorted(of(s0=range(4, 6), s1=range(2), s2=range(2)))
    path, _, shards = by_hand.newest_line(written.checkpoint)
    assert path.read_text().split("\n")[0] == written.log.version
    assert [shards[shard]["end"] for shard in sorted(shards)] == [True, False, False]


def test_healthy_checkpoint_plans_nothing(written: Written, tmp_path: Path) -> None:
    checkpoint, locator = _copy(written, tmp_path)
    found = by_hand.tree(checkpoint)
    with written.stream.at(after()) as planted:
        answer = _tool(planted, tmp_path).fix(locator, STREAM)
    assert (answer.decides, answer.codes, answer.writes) == ("nothing", set(), 0)
    assert by_hand.tree(checkpoint) == found


def test_number_of_another_shard_is_taken_back(
    written: Written, spark_4: Spark, tmp_path: Path
) -> None:
    """As it is the query dies; repaired, it reads that shard from its start and nothing else."""
    checkpoint, locator = _copy(written, tmp_path)
    by_hand.misplace(checkpoint, CHILD, PARENT)
    asis = Path(shutil.copytree(checkpoint, tmp_path / "as it is"))
    with written.stream.at(after()) as planted:
        executed.note(f"lineage {written.log} misplaced, as it is")
        assert "InvalidArgumentException" in _restart(spark_4, written.log, planted, asis).died
        tool = _tool(planted, tmp_path)
        assert tool.inspect(locator, STREAM).codes == {"RSH207"}
        assert tool.fix(locator, STREAM, *REREAD).writes == 1
        assert tool.inspect(locator, STREAM).decides == "nothing"
        executed.note(f"lineage {written.log} misplaced, repaired")
        outcome = _restart(spark_4, written.log, planted, checkpoint)
    assert (outcome.delivered, outcome.died) == (list(of(s1=range(2))), "")


def test_line_of_a_policy_is_read_again_from_there(
    written: Written, spark_4: Spark, tmp_path: Path
) -> None:
    """In place, in the newest committed batch: what lies after the moment comes once more."""
    checkpoint, locator = _copy(written, tmp_path)
    found = by_hand.tree(checkpoint)
    with written.stream.at(after()) as planted:
        tool = _tool(planted, tmp_path)
        moment = instant(written.stream.moment(3615))
        mended = tool.fix(locator, STREAM, "--policy", f"at-timestamp={moment}")
        executed.note(f"lineage {written.log} rewound")
        outcome = _restart(spark_4, written.log, planted, checkpoint)
        assert outcome.delivered == ["s1-1", "s2-1"]
        assert mended.writes == 1
    newest = f"offsets/{by_hand.newest_line(written.checkpoint)[0].name}"
    assert by_hand.tree(checkpoint)[newest] != found[newest]


def test_undone_directory_is_as_it_was(written: Written, spark_4: Spark, tmp_path: Path) -> None:
    checkpoint, locator = _copy(written, tmp_path)
    by_hand.misplace(checkpoint, CHILD, PARENT)
    found = by_hand.tree(checkpoint)
    with written.stream.at(after()) as planted:
        tool = _tool(planted, tmp_path)
        mended = tool.fix(locator, STREAM, *REREAD)
        assert by_hand.tree(checkpoint) != found
        tool.undo(mended.document["journal"])
        assert by_hand.tree(checkpoint) == found
        executed.note(f"lineage {written.log} misplaced, repaired and undone")
        outcome = _restart(spark_4, written.log, planted, checkpoint)
    assert "InvalidArgumentException" in outcome.died


def _tool(planted: Planted, folder: Path) -> Tool:
    return Tool(folder / "state", {"kinesis": planted.address})
