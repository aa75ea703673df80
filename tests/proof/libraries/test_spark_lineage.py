"""Our own source on the real Spark: what it does from a checkpoint, and from one that was edited.

`kinesis-lineage` of the package, on PySpark 4.0 and the newest, in both formats of the offset log;
the second one names its source. Its offsets are ENDs: the committed line is edited in place.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reshardctl.model.times import instant
from tests.proof.libraries.spark import by_hand, executed
from tests.proof.libraries.spark.growing import STREAM, Growing, after, aged, before, expired
from tests.proof.libraries.spark.recorded import of
from tests.proof.libraries.spark.session import Outcome, Spark
from tests.proof.libraries.spark.shapes import Planted
from tests.proof.libraries.spark.tool import Tool

pytestmark = pytest.mark.interop

FORMAT = "kinesis-lineage"
SOURCE = "kin"
PARENT, CHILD, OTHER = (f"shardId-{index:012d}" for index in range(3))
REREAD = ("--accept", "reread=3h")
"""A position that is none may stand for any place: the tool fears for the whole shard."""
EVOLVING = "spark.sql.streaming.queryEvolution.enableSourceEvolution"
LOSSY = {"failOnDataLoss": "false"}
YOUNGER = 6000.0
"""Seconds since its creation, of a stream that took the place of one created two hours ago."""


@dataclass(frozen=True)
class Log:
    """A release of Spark, one format of its offset log, and what makes Spark write it."""

    release: str
    version: str
    request: dict[str, Any]

    def __str__(self) -> str:
        return self.version if self.release == "4" else f"{self.version} of {self.release}"


LOGS = (
    Log("4.0", "v1", {}),
    Log("4", "v1", {"conf": {EVOLVING: "false"}}),
    Log("4", "v2", {"conf": {EVOLVING: "true"}, "source": SOURCE}),
)


@dataclass(frozen=True)
class Written:
    """A checkpoint that the query wrote: up to the split, then over it."""

    spark: Spark
    log: Log
    stream: Growing
    early: Path
    checkpoint: Path
    delivered: tuple[list[str], list[str]]

    def restart(self, name: str, planted: Planted, checkpoint: Path, **more: str) -> Outcome:
        """Start the query on it."""
        executed.note(f"lineage {self.log} {name}")
        return _restart(self.spark, self.log, planted, checkpoint, more)


@pytest.fixture(scope="module", params=LOGS, ids=str)
def written(
    request: pytest.FixtureRequest, packaged: Callable[[str], Spark],
    tmp_path_factory: pytest.TempPathFactory,
) -> Written:
    """Started twice: before the split and after it."""
    log = request.param
    spark = packaged(log.release)
    folder = tmp_path_factory.mktemp("written")
    checkpoint = folder / "checkpoint"
    stream, delivered = Growing(checkpoint), []
    for name, shards in (("before", before()), ("after", after())):
        with stream.at(shards) as planted:
            executed.note(f"lineage {log} {name} the split")
            delivered.append(_restart(spark, log, planted, checkpoint, {}).delivered)
        shutil.copytree(checkpoint, folder / name)
    early = folder / "before"
    return Written(spark, log, stream, early, checkpoint, (delivered[0], delivered[1]))


def _restart(
    spark: Spark, log: Log, planted: Planted, checkpoint: Path, more: dict[str, str]
) -> Outcome:
    options = {"endpointUrl": planted.address, "streamName": STREAM, "region": "us-east-1"}
    outcome = spark.query(FORMAT, {**options, **more}, checkpoint, **log.request)
    print(outcome)
    return outcome


def _copy(checkpoint: Path, folder: Path, **said: str) -> tuple[Path, str]:
    copy = Path(shutil.copytree(checkpoint, folder / "checkpoint"))
    options = "&".join(f"{name}={value}" for name, value in said.items())
    return copy, f"spark:{copy}?{options}" if options else f"spark:{copy}"


def test_source_delivers_everything_once(written: Written) -> None:
    first, then = written.delivered
    assert first == sorted(of(s0=range(4)))
    assert then == sorted(of(s0=range(4, 6), s1=range(2), s2=range(2)))
    path, _, shards = by_hand.newest_line(written.checkpoint)
    assert path.read_text().split("\n")[0] == written.log.version
    assert [shards[shard]["end"] for shard in sorted(shards)] == [True, False, False]


def test_healthy_checkpoint_plans_nothing(written: Written, tmp_path: Path) -> None:
    checkpoint, locator = _copy(written.checkpoint, tmp_path)
    found = by_hand.tree(checkpoint)
    with written.stream.at(after()) as planted:
        answer = _tool(planted, tmp_path).fix(locator, STREAM)
    assert (answer.decides, answer.codes, answer.writes) == ("nothing", set(), 0)
    assert by_hand.tree(checkpoint) == found


def test_unread_tail_of_a_split_parent_is_no_finding(written: Written, tmp_path: Path) -> None:
    """What the source then does is the second start of the fixture: parent first, then children."""
    _, locator = _copy(written.early, tmp_path)
    with written.stream.at(after()) as planted:
        answer = _tool(planted, tmp_path).inspect(locator, STREAM)
    assert (answer.decides, answer.codes) == ("nothing", set())


def test_number_of_another_shard_is_taken_back(written: Written, tmp_path: Path) -> None:
    """As it is the query dies; repaired, it reads that shard on from the mark before it."""
    checkpoint, locator = _copy(written.checkpoint, tmp_path)
    by_hand.misplace(checkpoint, CHILD, PARENT)
    asis = Path(shutil.copytree(checkpoint, tmp_path / "as it is"))
    with written.stream.at(after()) as planted:
        died = written.restart("misplaced, as it is", planted, asis).died
        assert "is a number of shard 0" in died
        tool = _tool(planted, tmp_path)
        assert tool.inspect(locator, STREAM).codes == {"RSH207"}
        assert tool.fix(locator, STREAM, *REREAD).writes == 1
        assert tool.inspect(locator, STREAM).decides == "nothing"
        outcome = written.restart("misplaced, repaired", planted, checkpoint)
    assert (outcome.delivered, outcome.died) == (list(of(s1=range(2))), "")


def test_children_that_were_put_before_their_parent_are_held_back(
    written: Written, tmp_path: Path
) -> None:
    """As it is they are read beside it, in one batch; repaired, they come behind it."""
    checkpoint, locator = _copy(written.early, tmp_path)
    for child in (CHILD, OTHER):
        by_hand.mark(checkpoint, child, seq="", end=False)
    asis = Path(shutil.copytree(checkpoint, tmp_path / "as it is"))
    with written.stream.at(after()) as planted:
        outcome = written.restart("children ahead, as it is", planted, asis)
        assert sorted(outcome.batches[0]) == written.delivered[1]
        tool = _tool(planted, tmp_path)
        assert tool.inspect(locator, STREAM).codes == {"RSH201"}
        assert tool.fix(locator, STREAM).writes == 1
        assert tool.inspect(locator, STREAM).decides == "nothing"
        outcome = written.restart("children ahead, repaired", planted, checkpoint)
    first, *others = outcome.batches
    assert list(first) == list(of(s0=range(4, 6)))
    assert sorted(sum(others, ())) == list(of(s1=range(2), s2=range(2)))


def test_parent_that_expired_unread(written: Written, tmp_path: Path) -> None:
    """As it is the query dies; with failOnDataLoss=false or a repair it goes on with the rest."""
    left = list(of(s1=range(2), s2=range(2)))
    checkpoint, locator = _copy(written.early, tmp_path, failOnDataLoss="true")
    asis = Path(shutil.copytree(checkpoint, tmp_path / "as it is"))
    lossy = Path(shutil.copytree(checkpoint, tmp_path / "lossy"))
    with written.stream.at(expired()) as planted:
        died = written.restart("parent expired, as it is", planted, asis).died
        assert "unread records have expired in shard 0" in died
        outcome = written.restart("parent expired, failOnDataLoss=false", planted, lossy, **LOSSY)
        assert (outcome.delivered, outcome.died) == (left, "")
        tool = _tool(planted, tmp_path)
        assert tool.inspect(locator, STREAM).codes == {"RSH204"}
        assert tool.fix(locator, STREAM).writes == 1
        assert tool.inspect(locator, STREAM).decides == "nothing"
        outcome = written.restart("parent expired, repaired", planted, checkpoint)
    assert (outcome.delivered, outcome.died) == (left, "")


def test_place_past_retention(written: Written, tmp_path: Path) -> None:
    """The tip that the source noted proves that nothing was lost; without it nothing does."""
    checkpoint, locator = _copy(written.early, tmp_path, failOnDataLoss="true")
    stale = Path(shutil.copytree(checkpoint, tmp_path / "stale"))
    by_hand.mark(stale, PARENT, tip=None)
    lossy = Path(shutil.copytree(stale, tmp_path / "lossy"))
    with written.stream.at(aged(), retention_hours=1) as planted:
        tool = _tool(planted, tmp_path)
        assert tool.inspect(locator, STREAM).codes == set()
        outcome = written.restart("past retention, with its tip", planted, checkpoint)
        assert (outcome.delivered, outcome.died) == (list(of(s0=range(4, 6))), "")
        named = locator.replace(str(checkpoint), str(stale))
        assert tool.inspect(named, STREAM).codes == {"RSH204"}
        died = written.restart("past retention, as it is", planted, stale).died
        assert "position of the query is older than the retention period" in died
        outcome = written.restart("past retention, failOnDataLoss=false", planted, lossy, **LOSSY)
    assert (outcome.delivered, outcome.died) == (list(of(s0=range(4, 6))), "")


def test_stream_that_was_created_again(written: Written, tmp_path: Path) -> None:
    """Nothing is written before the operator says so; then the new stream is read whole."""
    checkpoint, locator = _copy(written.early, tmp_path, failOnDataLoss="true")
    asis = Path(shutil.copytree(checkpoint, tmp_path / "as it is"))
    stream = Growing(checkpoint, YOUNGER)
    with stream.at(after()) as planted:
        died = written.restart("created again, as it is", planted, asis).died
        assert "deleted and created again" in died
        tool = _tool(planted, tmp_path)
        answer = tool.inspect(locator, STREAM)
        assert (answer.codes, answer.decides) == ({"RSH102"}, "ask")
        word = instant(stream.moment(0))
        assert tool.fix(locator, STREAM, "--recreated", word).writes == 1
        answer = tool.inspect(locator, STREAM)
        assert (answer.codes, answer.decides) == (set(), "nothing")
        outcome = written.restart("created again, repaired", planted, checkpoint)
    assert (outcome.delivered, outcome.died) == (of_all(), "")
    assert list(outcome.batches[0]) == list(of(s0=range(6)))


def of_all() -> list[str]:
    return list(of(s0=range(6), s1=range(2), s2=range(2)))


def test_line_of_a_policy_is_read_again_from_there(written: Written, tmp_path: Path) -> None:
    """In place, in the newest committed batch: what lies after the moment comes once more."""
    checkpoint, locator = _copy(written.checkpoint, tmp_path)
    found = by_hand.tree(checkpoint)
    with written.stream.at(after()) as planted:
        tool = _tool(planted, tmp_path)
        moment = instant(written.stream.moment(3615))
        mended = tool.fix(locator, STREAM, "--policy", f"at-timestamp={moment}")
        outcome = written.restart("rewound", planted, checkpoint)
        assert outcome.delivered == ["s1-1", "s2-1"]
        assert mended.writes == 1
    newest = f"offsets/{by_hand.newest_line(written.checkpoint)[0].name}"
    assert by_hand.tree(checkpoint)[newest] != found[newest]


def test_undone_directory_is_as_it_was(written: Written, tmp_path: Path) -> None:
    checkpoint, locator = _copy(written.checkpoint, tmp_path)
    by_hand.misplace(checkpoint, CHILD, PARENT)
    found = by_hand.tree(checkpoint)
    with written.stream.at(after()) as planted:
        tool = _tool(planted, tmp_path)
        mended = tool.fix(locator, STREAM, *REREAD)
        assert by_hand.tree(checkpoint) != found
        tool.undo(mended.document["journal"])
        assert by_hand.tree(checkpoint) == found
        outcome = written.restart("misplaced, repaired and undone", planted, checkpoint)
    assert "is a number of shard 0" in outcome.died


def _tool(planted: Planted, folder: Path) -> Tool:
    return Tool(folder / "state", {"kinesis": planted.address})
