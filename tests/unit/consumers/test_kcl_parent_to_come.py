"""A row that names as its shard's parent what has no lease yet.

Drawn for the real KCL 2.7.2 (`python -m tests.proof.drawn kcl-2.7.2-multi --seeds 60017-60017`):
the row of a shard that is not listed any more named its own child. The fix of the other parent
cleared that one's owner, so a worker took it first; its end made the child's lease, for which the
row then waited, and the child's lease for the row: neither was ever read, twice out of twice.
Where both are taken at once the row is begun before the child has a lease.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reshardctl.model import WillRead, shard_id
from reshardctl.planning.plan import Plan
from reshardctl.testing import load_topology
from tests.proof.reference.kcl import run
from tests.support.case import from_table
from tests.support.dialects import kcl
from tests.support.judging import Bench

GONE, CHILD = shard_id(1), shard_id(2)
SHARDS = [
    {"id": 0, "range": ["0", "1/2"], "open": 0, "close": 600,
     "records": {"n": 2, "from": 60, "to": 500}},
    {"id": 1, "range": ["1/2", "1"], "open": 0, "close": 600, "trimmed": True,
     "records": {"n": 2, "from": 60, "to": 500}},
    {"id": 2, "range": ["0", "1"], "open": 601, "parents": [0, 1],
     "records": {"n": 2, "from": 700, "to": 900}},
]
RELEASES = ["1.15.3", "2.7.2", "3.1.3", "3.5.1"]


def bench(release: str, *rows: dict[str, Any], shards: list[dict[str, Any]] = SHARDS) -> Bench:
    case = from_table(Path("drawn.toml"), {
        "title": "t", "source": "drawn", "consumer": "kcl", "rows": list(rows),
        "stream": {"created": 1_795_219_200, "now": 1200, "shards": shards},
        "expect": [{"findings": []}],
    })
    return Bench.on(case, kcl.images(case), {"initial": "TRIM_HORIZON", "release": release})


def written(decision: Any) -> dict[str, str]:
    """Row → the position that the plan writes."""
    assert isinstance(decision, Plan)
    return {
        write.key: write.change.set["checkpoint"]["S"]
        for step in decision.steps for write in step.writes
    }


@pytest.mark.parametrize("release", RELEASES)
def test_the_row_is_ended_with_the_fix_that_makes_the_lease(release: str) -> None:
    decided = bench(
        release, {"shard": 0, "checkpoint": "s2-0"},
        {"shard": 1, "checkpoint": "s1-0", "parents": [2]},
    ).decide()
    assert written(decided) == {shard_id(0): "TRIM_HORIZON", GONE: "SHARD_END"}


@pytest.mark.parametrize("release", RELEASES)
def test_a_row_waits_for_no_lease_that_the_fix_makes(release: str) -> None:
    """BlockOnParentShardTask goes by the row's parents alone; the fixed rows are started on."""
    split = [
        {**SHARDS[0], "close": 600}, {"id": 1, "range": ["1/2", "1"], "open": 0, "records": []},
        *({"id": n, "range": [f"{n - 2}/4", f"{n - 1}/4"], "open": 601, "parents": [0],
           "records": {"n": 2, "from": 700, "to": 900}} for n in (2, 3)),
    ]  # fmt: skip
    found = bench(
        release, {"shard": 0, "checkpoint": "SHARD_END"},
        {"shard": 1, "checkpoint": "TRIM_HORIZON", "parents": [2]}, shards=split,
    )
    plan = found.decide()
    assert isinstance(plan, Plan)
    rows = [dict(image.attributes) for image in found.after(plan.steps)]
    stream = found.case.stream
    ran = run(load_topology(stream), stream["name"], rows, "TRIM_HORIZON", release)
    assert not ran.stuck and sorted(ran.order) == [f"s{n}-{i}" for n in (2, 3) for i in (0, 1)]


@pytest.mark.parametrize("release", RELEASES)
def test_a_start_that_may_hang_is_told_and_mended(release: str) -> None:
    begun = bench(
        release, {"shard": 0, "checkpoint": "s0-0"},
        {"shard": 1, "checkpoint": "s1-0", "parents": [2]},
    )
    (simulation,) = begun.replays()
    fate = simulation.fates[CHILD]
    assert isinstance(fate, WillRead) and GONE in fate.possible
    assert CHILD in {shard for finding in begun.findings() for shard in finding.shards}
    assert written(begun.decide()) == {GONE: "SHARD_END"}


def test_what_waits_for_two_such_rows_is_in_doubt_once() -> None:
    begun = bench(
        "2.7.2", {"shard": 0, "checkpoint": "s0-0", "parents": [2]},
        {"shard": 1, "checkpoint": "s1-0", "parents": [2]},
    )
    (simulation,) = begun.replays()
    doubts = {s: f.possible for s, f in simulation.fates.items() if isinstance(f, WillRead)}
    assert GONE in doubts[GONE] and shard_id(0) in doubts[shard_id(0)] and doubts[CHILD]


@pytest.mark.parametrize("parents", [[], [0]])
def test_no_other_row_is_in_doubt(parents: list[int]) -> None:
    begun = bench(
        "2.7.2", {"shard": 0, "checkpoint": "s0-0"},
        {"shard": 1, "checkpoint": "s1-0", **({"parents": parents} if parents else {})},
    )
    (simulation,) = begun.replays()
    assert not any(isinstance(f, WillRead) and f.possible for f in simulation.fates.values())
