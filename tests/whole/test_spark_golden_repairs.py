"""Plans for the recorded checkpoints with a listing, carried out, and then the reference's start.

What comes is what came on the connectors' own jars after the repair by hand (November 2026); where
nothing was lost, nothing is planned, and what comes is what came without.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reshardctl.model import after
from reshardctl.planning.plan import Nothing, Plan, decide
from tests.proof.reference.test_spark_runs import BUILDS, REPAIRED, SHAPES
from tests.support.dialects.spark import planted
from tests.support.spark_recorded import Recorded
from tests.support.spark_shapes import FOLDER_OF, shape

SOUND = {("u1", build) for build in BUILDS[:2]} | {
    (scenario, build) for scenario in ("s1", "s1x", "s2", "m1", "t1") for build in BUILDS[:2]
}
"""Nothing is lost there: the repairs of the table read again what they were told to."""
SOUND |= {("s4", build) for build in BUILDS[1:]}

OTHERWISE = {("s3", BUILDS[2]): "7 rows, ok"}
"""The run began behind record 5; 4 and 5 came after the first start and were never delivered."""


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("scenario", sorted(SHAPES))
def test_the_plan_delivers_what_the_repair_by_hand_delivered(
    scenario: str, build: str, tmp_path: Path
) -> None:
    recorded = Recorded(scenario, build, FOLDER_OF[build])
    decision = decide(recorded.case())
    stood = shape(scenario, build, tmp_path)
    if (scenario, build) in SOUND:
        assert isinstance(decision, Nothing)
        assert stood.told(stood.start()) == SHAPES[scenario][BUILDS.index(build)]
        return
    assert isinstance(decision, Plan)
    stood.root = tmp_path / "repaired"
    planted(after(recorded.images, decision.steps), stood.root)
    told = REPAIRED[scenario][BUILDS.index(build)]
    assert stood.told(stood.start()) == OTHERWISE.get((scenario, build), told)
