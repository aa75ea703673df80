"""Checkpoints that the real connectors wrote: what the next start delivers, and what mends it.

The expectations are the runs on the connectors' own jars, November 2026, of which
tests/proof/reference/test_spark_runs.py has every cell: as recorded, repaired, and edited by hand.
That nothing is planned where nothing was lost, and what comes after each plan, is executed in
tests/whole/test_spark_golden_repairs.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reshardctl.consumers.spark.consumer import Spark
from reshardctl.model import Image, after
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Nothing, Plan, decide
from tests.proof.reference.spark import Run
from tests.proof.reference.test_spark_runs import (
    BUILDS,
    EDITS,
    REPAIRED,
    SHAPES,
    cells,
    recommended,
)
from tests.support.spark_recorded import DIES, HEAD, Recorded, delivered, images
from tests.support.spark_shapes import FOLDER_OF, Shape, shape, shard_id
from tests.whole.test_spark_golden_repairs import OTHERWISE, SOUND

OFFSET_LOG_V2 = "awslabs-head-0f4c005-spark-4.3"
SEVERAL_STARTS = {
    "twice the same repair", "s1x parents first, then the children",
    "s1x parents first, no second step",
}  # fmt: skip
NO_FORECAST = {
    "s4 another order": "what comes once more in a second batch of one start is not forecast",
    "s1x small fetch limit": "a limit is an option of the query, see test_limits.py",
}
ONE_START = {
    row: line for row, (_, _, line) in EDITS.items()
    if row not in SEVERAL_STARTS and row not in NO_FORECAST
}  # fmt: skip


def told(stood: Shape, folder: str, rows: list[Image]) -> str:
    """The forecast of a start on these files, in the words of the tables."""
    recorded = Recorded(stood.root.name, stood.release, folder)
    came = delivered(recorded, recorded.case(rows))
    if isinstance(came, str):
        return "DIES"
    batch = {shard_id(n): [f"s{n}-{index}" for index in found] for n, found in came.items()}
    return stood.told(Run([(0, batch)], None))


def in_one_batch(cell: str) -> str:
    """A cell without what is not forecast: how many batches, and how far one that dies gets."""
    if cell.endswith("dies"):
        return "DIES"
    rows, said, rest = cell.partition(" rows")
    return f"{sum(map(int, rows.split('+')))}{said}{rest}" if said else cell


@pytest.mark.parametrize(("scenario", "build", "cell"), cells(SHAPES))
def test_the_forecast_is_what_the_real_restart_delivered(
    scenario: str, build: str, cell: str, tmp_path: Path
) -> None:
    stood = shape(scenario, build, tmp_path)
    assert told(stood, FOLDER_OF[build], images(stood.root)) == in_one_batch(cell)


@pytest.mark.parametrize(("scenario", "build", "cell"), cells(REPAIRED))
def test_the_forecast_after_the_repair_is_what_was_delivered_after_it(
    scenario: str, build: str, cell: str, tmp_path: Path
) -> None:
    stood = shape(scenario, build, tmp_path)
    recommended(stood)
    assert told(stood, FOLDER_OF[build], images(stood.root)) == in_one_batch(cell)


@pytest.mark.parametrize(("row", "build", "cell"), cells(ONE_START))
def test_the_forecast_after_an_edit_is_what_was_delivered_after_it(
    row: str, build: str, cell: str, tmp_path: Path
) -> None:
    scenario, edit, _ = EDITS[row]
    stood = shape(scenario, build, tmp_path)
    edit(stood)
    assert told(stood, FOLDER_OF[build], images(stood.root)) == in_one_batch(cell)


@pytest.mark.parametrize(("scenario", "cell"), [("s1", SHAPES["s1"][2]), ("s4", SHAPES["s4"][2])])
def test_offset_log_v2(scenario: str, cell: str, tmp_path: Path) -> None:
    stood = shape(scenario, HEAD, tmp_path, folder=OFFSET_LOG_V2)
    assert told(stood, OFFSET_LOG_V2, images(stood.root)) == cell
    decision = decide(Recorded(scenario, HEAD, OFFSET_LOG_V2).case())
    assert isinstance(decision, Nothing if scenario == "s4" else Plan)


MENDED = [
    (scenario, build, FOLDER_OF[build], OTHERWISE.get((scenario, build), cell))
    for scenario, build, cell in cells(REPAIRED) if (scenario, build) not in SOUND
] + [("s1", HEAD, OFFSET_LOG_V2, REPAIRED["s1"][BUILDS.index(HEAD)])]  # fmt: skip


@pytest.mark.parametrize(("scenario", "build", "folder", "cell"), MENDED)
def test_the_plan_is_the_repair_that_was_proven_on_the_connector(
    scenario: str, build: str, folder: str, cell: str, tmp_path: Path
) -> None:
    """Its positions are those of `repair` in the recording, and no prefix is worse than before.

    s3 on 0f4c005 goes back to the query's first start, which is where its unread records begin.
    """
    recorded = Recorded(scenario, build, folder)
    case = recorded.case()
    plan = decide(case)
    assert isinstance(plan, Plan), plan
    assert not plan.residuals
    assert not [e for e in plan.after[0] if e.harm is not Harm.DISORDERED]
    files = after(case.images, plan.steps)
    assert told(shape(scenario, build, tmp_path, folder=folder), folder, files) == cell
    assert decide(recorded.case(files)) == Nothing()
    parsed = Spark().parse(files, recorded.stream)
    assert parsed.newest is not None
    newest = parsed.batches[parsed.newest]
    assert not newest.committed and newest.id == newest.batch_id
    written = {
        str(int(shard[8:])): [position.kind, position.value]
        for shard, position in newest.positions.items()
    }
    proven = dict(recorded.facts["repair"]["shards"])
    if (scenario, build) == ("s3", HEAD):
        proven["0"] = ["AT_TIMESTAMP", "1795239329331"]
    assert written == proven
    before = delivered(recorded, case)
    for count in range(1, len(plan.steps)):
        halfway = recorded.case(after(case.images, plan.steps[:count]))
        assert before == DIES or delivered(recorded, halfway) == before
        decided = decide(halfway)
        assert isinstance(decided, Plan) and decided.steps == plan.steps[count:]
