"""Checkpoints that the real connectors wrote: what the next start delivers, and what mends it.

Expectations are the cells of "runs on the connectors' own jars, November 2026": Qubole's
`spark-sql-kinesis_2.12:1.2.0_spark-3.0` and awslabs 1.4.2 on PySpark 3.5.9, awslabs 0f4c005 on
PySpark 4.1.4 and 4.3.0, each restarted on the recorded checkpoint as it is and repaired. Where
nothing was lost, the right plan is empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from reshardctl.consumers.spark.consumer import Spark
from reshardctl.model import after
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Nothing, Plan, decide
from tests.support.spark_recorded import DIES, FOLDERS, HEAD, QUBOLE, V1, Recorded, delivered

Delivered = Mapping[int, Sequence[int]]

S1: Delivered = {0: range(4, 10), 1: range(3), 2: range(3)}
S1X: Delivered = {1: [3], 2: [3]}
S2: Delivered = {1: [1], 2: [1]}
S3: Delivered = {0: [6], 1: range(2), 2: range(2)}
S4: Delivered = {1: range(2), 2: range(2)}
M1: Delivered = {0: [3, 4], 1: [3], 2: range(3)}
T1: Delivered = {0: [4, 5], 1: range(2), 2: [0], 3: range(2), 4: [0]}


def without(cells: Delivered, *shards: int) -> Delivered:
    return {shard: rows for shard, rows in cells.items() if shard not in shards}


# Shape, release → what came as it is, and what came repaired (`None`: nothing was to be repaired).
CELLS: dict[tuple[str, str], tuple[Delivered | str, Delivered | None]] = {
    ("s1", QUBOLE): (S1, None),
    ("s1", V1): (S1, None),
    ("s1", HEAD): (without(S1, 0), S1),
    ("s1x", QUBOLE): (S1X, None),
    ("s1x", V1): (S1X, None),
    ("s1x", HEAD): (S1X, {**S1X, 0: range(4, 10)}),
    ("s2", QUBOLE): (S2, None),
    ("s2", V1): (S2, None),
    ("s2", HEAD): (S2, {**S2, 0: range(4)}),
    ("s3", QUBOLE): ({0: [6]}, S3),
    ("s3", V1): ({0: [6]}, S3),
    # The run put 0 behind record 5; 4 and 5 came after the query's first start (which offsets/0
    # keeps) and were never delivered: "the lossless start is offsets/0's AT_TIMESTAMP".
    ("s3", HEAD): ({}, {**S3, 0: range(4, 7)}),
    ("s4", QUBOLE): (DIES, S4),
    ("s4", V1): (S4, None),
    ("s4", HEAD): (S4, None),
    ("m1", QUBOLE): (M1, None),
    ("m1", V1): (M1, None),
    ("m1", HEAD): ({2: range(3)}, M1),
    ("t1", QUBOLE): (T1, None),
    ("t1", V1): (T1, None),
    ("t1", HEAD): (without(T1, 0, 1), T1),
    ("u1", QUBOLE): (S1, None),
    ("u1", V1): (S1, None),
    ("u1", HEAD): (without(S1, 0), S1),
}
RESTARTS = [(shape, release, FOLDERS[release]) for shape, release in CELLS] + [
    (shape, HEAD, "awslabs-head-0f4c005-spark-4.3") for shape in ("s1", "s4")
]
MENDED = [one for one in RESTARTS if CELLS[one[:2]][1] is not None]
SOUND = [one for one in RESTARTS if CELLS[one[:2]][1] is None]


def listed(cells: Delivered) -> dict[int, list[int]]:
    return {shard: list(rows) for shard, rows in cells.items()}


@pytest.mark.parametrize(("shape", "release", "folder"), RESTARTS)
def test_the_forecast_is_what_the_real_restart_delivered(
    shape: str, release: str, folder: str
) -> None:
    recorded = Recorded(shape, release, folder)
    expected = CELLS[shape, release][0]
    found = delivered(recorded, recorded.case())
    assert found == (expected if isinstance(expected, str) else listed(expected))


@pytest.mark.parametrize(("shape", "release", "folder"), MENDED)
def test_the_plan_is_the_repair_that_was_proven_on_the_connector(
    shape: str, release: str, folder: str
) -> None:
    """It delivers the cells, its positions are those of `repair` in the recording (for s3 on
    0f4c005 see there), and no prefix of it is worse than before."""
    recorded = Recorded(shape, release, folder)
    case = recorded.case()
    plan = decide(case)
    assert isinstance(plan, Plan), plan
    assert not plan.residuals
    assert not [e for e in plan.after[0] if e.harm is not Harm.DISORDERED]
    images = after(case.images, plan.steps)
    expected = CELLS[shape, release][1]
    assert expected is not None
    assert delivered(recorded, recorded.case(images)) == listed(expected)
    assert decide(recorded.case(images)) == Nothing()
    parsed = Spark().parse(images, recorded.stream)
    assert parsed.newest is not None
    newest = parsed.batches[parsed.newest]
    assert not newest.committed and newest.id == newest.batch_id
    written = {
        str(int(shard[8:])): [position.kind, position.value]
        for shard, position in newest.positions.items()
    }
    proven = recorded.facts["repair"]["shards"]
    if (shape, release) == ("s3", HEAD):
        assert written.pop("0") == ["AT_TIMESTAMP", "1795239329331"]
        proven = {shard: place for shard, place in proven.items() if shard != "0"}
    assert written == proven
    before = delivered(recorded, case)
    for count in range(1, len(plan.steps)):
        halfway = recorded.case(after(case.images, plan.steps[:count]))
        assert isinstance(before, str) or delivered(recorded, halfway) == before
        decided = decide(halfway)
        assert isinstance(decided, Plan) and decided.steps == plan.steps[count:]


@pytest.mark.parametrize(("shape", "release", "folder"), SOUND)
def test_what_loses_nothing_plans_nothing(shape: str, release: str, folder: str) -> None:
    assert decide(Recorded(shape, release, folder).case()) == Nothing()
