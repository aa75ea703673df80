"""Spark Streaming's Kinesis receiver (kinesis-asl 3.3.0, KCL 1.12.0 inside) on the real Spark.

What counts is what the streams' batches held. A streaming context starts once a process, so every
application runs in one, side by side, each with its own lease table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.proof.libraries.spark import executed, receivers
from tests.proof.libraries.spark.receivers import MERGED, SPLIT, recorded
from tests.proof.libraries.spark.session import Spark
from tests.proof.libraries.spark.tool import Answer, Tool
from tests.support.needs import needs

pytestmark = pytest.mark.interop

PATIENCE_SECONDS = 150
QUIET_SECONDS = 12.0  # longer than a receiver waits before it looks for a parent's end: 10 s
RELEASE = "1.12.0"
SENTINEL = "LATEST"
CHILD = "shardId-000000000001"


def _child_at_latest() -> list[dict[str, Any]]:
    """The rows of d3, as if the first child had been entered at LATEST and nothing read of it."""
    return [
        {**row, "checkpoint": {"S": SENTINEL}} if row["leaseKey"]["S"] == CHILD else row
        for row in recorded("d3-followed")["items"]
    ]


@dataclass(frozen=True)
class Application:
    """One lease table before the start, and what the receiver then delivers."""

    name: str
    stream: str
    items: list[dict[str, Any]]
    delivers: list[str]
    fixed: bool = False

    def __str__(self) -> str:
        return self.name


def _since(later: str, earlier: str) -> list[str]:
    before = recorded(earlier)["delivered"]
    return [payload for payload in recorded(later)["delivered"] if payload not in before]


APPLICATIONS = (
    Application("split-while-down", SPLIT, recorded("d2-split-while-down")["items"],
                _since("d3-followed", "d2-split-while-down")),
    Application("merge-while-down", MERGED, recorded("d3-followed")["items"],
                _since("d4-merged", "d3-followed")),
    # At LATEST the receiver passes over what lies there. The runs of KCL 1.15.3 in
    # tests/cases/kcl/latest-*.toml say the same of KCL itself.
    Application("child-at-latest", SPLIT, _child_at_latest(), []),
    Application("child-at-latest-fixed", SPLIT, _child_at_latest(), ["s1-0"], fixed=True),
)  # fmt: skip


@dataclass(frozen=True)
class Runs:
    """What was said before the start, what was written, and what was delivered then."""

    inspected: dict[str, Answer]
    fixes: dict[str, Answer]
    delivered: dict[str, list[str]]
    checkpoints: dict[str, dict[str, str]]


@pytest.fixture(scope="module")
@needs("spark-3.5")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """Every application inspected, some fixed, then all of them started together."""
    folder = tmp_path_factory.mktemp("receivers")
    with receivers.servers(receivers.streams(), folder) as servers:
        tool = Tool(folder / "state", {"kinesis": servers.kinesis, "dynamodb": servers.dynamodb})
        for each in APPLICATIONS:
            servers.seed(each.name, each.items)
        inspected = {e.name: tool.inspect(_locator(e), e.stream, "--count") for e in APPLICATIONS}
        fixes = {e.name: tool.fix(_locator(e), e.stream) for e in APPLICATIONS if e.fixed}
        spark = Spark("3.5", servers.configuration)
        try:
            answer = spark.ask(
                "receivers", endpoint=servers.kinesis, patience=PATIENCE_SECONDS,
                quiet=QUIET_SECONDS, receivers=list(map(_asked, APPLICATIONS)),
            )  # fmt: skip
        finally:
            spark.close()
        found = {each.name: servers.checkpoints(each.name) for each in APPLICATIONS}
        yield Runs(inspected, fixes, answer["delivered"], found)


def _asked(each: Application) -> dict[str, Any]:
    enough = len(each.delivers)
    return {"app": each.name, "stream": each.stream, "initial": "Latest", "enough": enough}


def _locator(each: Application) -> str:
    return f"kcl://{each.name}?release={RELEASE}&initial={SENTINEL}"


@pytest.mark.parametrize(
    ("stream", "moment"), [(SPLIT, "d2-split-while-down"), (MERGED, "d4-merged")]
)
def test_streams_list_what_was_recorded(stream: str, moment: str) -> None:
    answer = receivers.streams().client().list_shards(StreamName=stream)
    assert answer["Shards"] == receivers.listing(moment)


@pytest.mark.parametrize("application", APPLICATIONS, ids=str)
def test_receiver_delivers_what_was_recorded(application: Application, runs: Runs) -> None:
    executed.note(f"dstreams {application}")
    print(runs.checkpoints[application.name])
    assert sorted(runs.delivered[application.name]) == sorted(application.delivers)


@pytest.mark.parametrize("application", APPLICATIONS[:2], ids=str)
def test_healthy_tables_plan_nothing(application: Application, runs: Runs) -> None:
    answer = runs.inspected[application.name]
    assert answer.codes == set()
    assert answer.decides == "nothing"


def test_loss_is_forecast_where_it_happens(runs: Runs) -> None:
    answer = runs.inspected["child-at-latest"]
    assert answer.codes == {"RSH208"}
    assert answer.counted("skipped") == {CHILD: 1}


def test_fix_wrote_before_the_receiver_started(runs: Runs) -> None:
    answer = runs.fixes["child-at-latest-fixed"]
    assert answer.writes > 0
    assert answer.document["after"]["decision"]["kind"] == "nothing"
