"""A lease that names a younger shard as its parent waits for that one alone, and then goes on:
BlockOnParentShardTask asks whether the named lease is at SHARD_END, and nothing of its age."""

from __future__ import annotations

import pytest

from reshardctl.diagnosis.rules import Severity
from reshardctl.planning.plan import Nothing
from reshardctl.testing import load_topology
from tests.proof.reference.kcl import run
from tests.support.case import CASES, load
from tests.support.case_rows import item_of
from tests.support.dialects.kcl import images_of
from tests.support.judging import Bench, delivered

RELEASES = ["1.13.3", "1.15.3", "2.2.11", "2.7.2", "3.5.1"]


@pytest.mark.parametrize("at", ["TRIM_HORIZON", "SHARD_END"])
@pytest.mark.parametrize("release", RELEASES)
def test_it_starts_when_the_younger_one_has_ended(release: str, at: str) -> None:
    merge = load(CASES / "kcl" / "healthy-merge-waiting.toml")
    closed = [shard.id for shard in merge.topology.values() if shard.closed is not None]
    older, younger = closed[0], closed[-1]
    items = [
        item_of(
            {"shard": one, "checkpoint": at if one == younger else "TRIM_HORIZON",
             "parents": [younger] if one == older else []},
            dict(merge.topology),
        )
        for one in closed
    ]
    options = {"initial": "TRIM_HORIZON", "release": release}
    bench = Bench.on(merge, images_of(items), options, accept="reread=1h,disorder")
    (simulation,) = bench.replays()
    fake = load_topology(merge.stream)
    ran = run(fake, merge.stream["name"], items, "TRIM_HORIZON", release)
    said = delivered(merge, simulation, bench.plan_case.state.lineage)
    stored = {s: [p for p in got if p.startswith("s")] for s, got in said.items()}
    assert {s: got for s, got in stored.items() if got} == ran.delivered
    assert not [f for f in bench.findings() if f.severity is Severity.ERROR]
    assert isinstance(bench.decide(), Nothing)
