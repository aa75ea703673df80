"""The short way to a stream answers like FakeKinesis: the same start does the same on both."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reshardctl.testing import load_topology
from tests.proof.exhaustive.scenes import scene
from tests.proof.exhaustive.trials import Trial
from tests.proof.reference.kcl import Run, run


@pytest.mark.parametrize("start", range(0, 60, 20))
def test_a_start_is_the_same_on_fake_kinesis(start: int) -> None:
    for seed in range(start, start + 20):
        trial = Trial(scene(seed))
        assert _bare(trial.before) == _bare(_on_the_fake(trial)), trial.scene.name


def _on_the_fake(trial: Trial) -> Run:
    case, scene = trial.case, trial.scene
    fake = load_topology(case.stream)

    def put() -> None:
        for shard in case.live.shards:
            for index in range(case.live.n):
                fake.put(case.stream["name"], shard, f"n{shard}-{index}")

    return run(fake, case.stream["name"], case.items(), scene.initial, scene.release, put)


def _bare(ran: Run) -> Run:
    """Error texts may differ, who hangs may not; and only the fake knows when a put arrives."""
    return replace(ran, stuck=dict.fromkeys(ran.stuck, ""), table=[])
