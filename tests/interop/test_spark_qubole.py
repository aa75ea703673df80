"""The Qubole connector on the real Spark judges: recorded checkpoints, as they are and repaired.

What counts is what the query's sink was given, not what lies in the checkpoint.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop.spark import by_hand
from tests.interop.spark.connector import restart
from tests.interop.spark.recorded import BY_NAME, FOLDER, RECORDED, Recorded, of
from tests.interop.spark.session import Spark
from tests.interop.spark.shapes import GOLDEN

pytestmark = pytest.mark.interop

CONNECTORS_ORDER = ("metadata", "shardId-000000000001", "shardId-000000000002")


def test_every_recorded_state_is_run() -> None:
    assert {path.stem for path in (GOLDEN / FOLDER).glob("??.json")} <= set(BY_NAME)
    assert {path.name for path in (GOLDEN / FOLDER).iterdir() if path.is_dir()} == set(BY_NAME)


@pytest.mark.parametrize("recorded", RECORDED, ids=str)
def test_restart_as_it_is(recorded: Recorded, spark_3_5: Spark, tmp_path: Path) -> None:
    with recorded.shape.planted(tmp_path / "checkpoint") as planted:
        outcome = restart(spark_3_5, planted)
    print(outcome)
    assert outcome.delivered == sorted(recorded.as_it_is)
    assert recorded.dies in outcome.died
    assert bool(outcome.died) is bool(recorded.dies)


def test_other_order_of_keys_runs_a_batch_twice(spark_3_5: Spark, tmp_path: Path) -> None:
    """Spark compares offsets by their text. So the order has to be the connector's, and a repair
    that gets it wrong is noticed here."""
    shape = BY_NAME["s4"].shape
    with shape.planted(tmp_path / "checkpoint") as planted:
        by_hand.append(planted.checkpoint, shape.repair, CONNECTORS_ORDER[::-1])
        outcome = restart(spark_3_5, planted, **{"kinesis.client.avoidEmptyBatches": "true"})
    rows = of(s1=range(2), s2=range(2))
    print(outcome)
    assert outcome.delivered == sorted(rows + rows)


def test_plan_that_forgets_the_parent_loses_it(spark_3_5: Spark, tmp_path: Path) -> None:
    """The comparison has to fail for a repair that loses records, or it proves nothing."""
    recorded = BY_NAME["s1"]
    positions = dict(recorded.shape.repair)
    positions.pop("shardId-000000000000")
    with recorded.shape.planted(tmp_path / "checkpoint") as planted:
        by_hand.append(planted.checkpoint, positions, ["metadata", *sorted(positions)])
        outcome = restart(spark_3_5, planted)
    print(outcome)
    assert set(recorded.due) - set(outcome.delivered) == set(of(s0=range(4, 10)))
