"""What a lease waits for: the leases of those that its row names as parents, whoever they are."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from reshardctl.consumers.kcl import encode
from reshardctl.consumers.kcl.encode import rebuild
from reshardctl.consumers.kcl.releases import App, Start, traits_of
from reshardctl.consumers.kcl.rows import LeaseTable
from reshardctl.diagnosis.rules import Severity
from reshardctl.lineage import Lineage
from reshardctl.model import START, Step, TargetFrontier, WillRead, after, shard_id
from reshardctl.planning.plan import Nothing, Plan, processed_frontier
from reshardctl.testing import load_topology
from tests.proof.drawn.states import rows_of
from tests.proof.reference.kcl import run
from tests.support.case import CASES, from_table, load
from tests.support.case_rows import item_of
from tests.support.dialects import kcl
from tests.support.dialects.kcl import images, images_of
from tests.support.judging import Bench, delivered

# ----
# A row that names as its shard's parent what has no lease yet.
#
# Drawn for the real KCL 2.7.2 (`python -m tests.proof.drawn kcl-2.7.2-multi --seeds 60017-60017`):
# the row of a shard that is not listed any more named its own child. The fix of the other parent
# cleared that one's owner, so a worker took it first; its end made the child's lease, for which the
# row then waited, and the child's lease for the row: neither was ever read, twice out of twice.
# Where both are taken at once the row is begun before the child has a lease.

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
    split: list[dict[str, Any]] = [
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


# ----
# A merge whose one parent is not listed any more: first leases and rebuilt ones let it end.
#
# The reference consumer starts on them (KCL 3.5.1 ShutdownTask: both parents have a lease, or
# neither); the same state with a row is `cases/kcl/merge-coparent-expired.toml`.

COPARENT = load(CASES / "kcl" / "merge-coparent-expired.toml")


def _first(lineage: Lineage, want: TargetFrontier, app: App) -> list[Step]:
    return encode.bootstrap(lineage, want, app)


def _rebuilt(lineage: Lineage, want: TargetFrontier, app: App) -> list[Step]:
    return rebuild(lineage, LeaseTable({}, {}, (), False, False), want, app)


@pytest.mark.parametrize("made", [_first, _rebuilt])
@pytest.mark.parametrize("release", ["1.15.3", "2.7.2", "3.5.1"])
def test_the_merged_shard_is_read(made, release):
    lineage = Bench.of(COPARENT, "TRIM_HORIZON", release).plan_case.state.lineage
    app = App(Start.TRIM_HORIZON, traits_of(release))
    steps = made(lineage, dict.fromkeys(lineage, START), app)
    rows = rows_of(after([], steps))
    assert rows["shardId-000000000000"]["checkpoint"] == {"S": "SHARD_END"}
    fake = load_topology(COPARENT.stream)
    ran = run(fake, COPARENT.stream["name"], list(rows.values()), "TRIM_HORIZON", release)
    assert not ran.stuck
    assert ran.order == [f"s1-{i}" for i in range(4)] + [f"s3-{i}" for i in range(4)]


@pytest.mark.parametrize("leave", [set(), {shard_id(0)}])
def test_an_expired_parent_that_is_left_alone_gets_no_row(leave):
    """`BaseConsumer.encode`: leave names the shards that are not to be written."""
    found = Bench.of(COPARENT, "TRIM_HORIZON", "2.7.2").plan_case
    lineage, app = found.state.lineage, App(Start.TRIM_HORIZON, traits_of("2.7.2"))
    want = dict.fromkeys(lineage, START)
    steps = encode.encode(lineage, found.checkpoint(), want, app, leave)
    written = {write.key for step in steps for write in step.writes}
    assert (shard_id(0) in written) is (not leave)


EXPIRED = [
    {"id": 1, "range": ["0", "1/2"], "open": 0, "close": 600, "trimmed": True, "records": []},
    {"id": 2, "range": ["1/2", "1"], "open": 0, "close": 1200,
     "records": {"n": 2, "from": 700, "to": 1100}},
    {"id": 3, "range": ["0", "1"], "open": 1201, "close": 1800, "parents": [1, 2],
     "records": {"n": 2, "from": 1300, "to": 1700}},
    *({"id": 4 + half, "range": [f"{half}/2", f"{half + 1}/2"], "open": 1801, "parents": [3],
       "records": {"n": 2, "from": 1900, "to": 2100}} for half in (0, 1)),
]


@pytest.mark.parametrize("release", ["1.15.3", "2.7.2", "3.5.1"])
def test_its_row_waits_for_no_lease_that_waits_for_it(release):
    """Drawn stores: KCL 2.7.2 of several streams, seed 60020. The expired shard's row names the
    merged shard, whose lease is made because its children wait only for leases that there are;
    BlockOnParentShardTask goes by that attribute alone."""
    names = {"parentShardId": {"SS": ["shardId-000000000003"]}}
    rows = {1: "TRIM_HORIZON", 4: "LATEST", 5: "LATEST"}
    case = from_table(Path("drawn.toml"), {
        "title": "t", "source": "drawn", "consumer": "kcl", "expect": [{"findings": []}],
        "rows": [{"shard": n, "checkpoint": at, "set": names} for n, at in rows.items()],
        "stream": {"created": 1_795_219_200, "now": 3000, "shards": deepcopy(EXPIRED)},
    })
    options = {"initial": "LATEST", "release": release}
    found = Bench.on(case, images(case), options, accept="reread=48h,disorder")
    plan = found.decide()
    assert isinstance(plan, Plan)
    mended = list(rows_of(found.after(plan.steps)).values())
    ran = run(load_topology(case.stream), case.stream["name"], mended, "LATEST", release)
    assert not ran.stuck
    assert sorted(ran.order) == [f"s{shard}-{i}" for shard in (2, 3, 4, 5) for i in (0, 1)]


# ----
# A lease that names a younger shard as its parent waits for that one alone, and then goes on:
# BlockOnParentShardTask asks whether the named lease is at SHARD_END, and nothing of its age.

SYNCHRONISED = ["1.13.3", "1.15.3", "2.2.11", "2.7.2", "3.5.1"]


@pytest.mark.parametrize("at", ["TRIM_HORIZON", "SHARD_END"])
@pytest.mark.parametrize("release", SYNCHRONISED)
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
    posed = bench.plan_case
    want = {shard: span.lo for shard, span in processed_frontier(posed).items()}
    (app,) = (candidate.app for candidate in posed.candidates)
    steps = posed.consumer.encode(posed.state.lineage, posed.checkpoint(), want, app, ())
    assert at != "SHARD_END" or steps == [], "nobody waits for what is finished"
