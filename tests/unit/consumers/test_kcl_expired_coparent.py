"""A merge whose one parent is not listed any more: first leases and rebuilt ones let it end.

The reference consumer starts on them (KCL 3.5.1 ShutdownTask: both parents have a lease, or
neither); the same state with a row is `cases/kcl/merge-coparent-expired.toml`.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest

from reshardctl.consumers.kcl import encode
from reshardctl.consumers.kcl.encode import rebuild
from reshardctl.consumers.kcl.releases import App, Start, traits_of
from reshardctl.consumers.kcl.rows import LeaseTable
from reshardctl.lineage import Lineage
from reshardctl.model import START, Step, TargetFrontier, after, shard_id
from reshardctl.planning.plan import Plan
from reshardctl.testing import load_topology
from tests.proof.drawn.states import rows_of
from tests.proof.reference.kcl import run
from tests.support.case import CASES, from_table, load
from tests.support.dialects.kcl import images
from tests.support.judging import Bench

CASE = load(CASES / "kcl" / "merge-coparent-expired.toml")


def _first(lineage: Lineage, want: TargetFrontier, app: App) -> list[Step]:
    return encode.bootstrap(lineage, want, app)


def _rebuilt(lineage: Lineage, want: TargetFrontier, app: App) -> list[Step]:
    return rebuild(lineage, LeaseTable({}, {}, (), False, False), want, app)


@pytest.mark.parametrize("made", [_first, _rebuilt])
@pytest.mark.parametrize("release", ["1.15.3", "2.7.2", "3.5.1"])
def test_the_merged_shard_is_read(made, release):
    lineage = Bench.of(CASE, "TRIM_HORIZON", release).plan_case.state.lineage
    app = App(Start.TRIM_HORIZON, traits_of(release))
    steps = made(lineage, dict.fromkeys(lineage, START), app)
    rows = rows_of(after([], steps))
    assert rows["shardId-000000000000"]["checkpoint"] == {"S": "SHARD_END"}
    fake = load_topology(CASE.stream)
    ran = run(fake, CASE.stream["name"], list(rows.values()), "TRIM_HORIZON", release)
    assert not ran.stuck
    assert ran.order == [f"s1-{i}" for i in range(4)] + [f"s3-{i}" for i in range(4)]


@pytest.mark.parametrize("leave", [set(), {shard_id(0)}])
def test_an_expired_parent_that_is_left_alone_gets_no_row(leave):
    """`BaseConsumer.encode`: leave names the shards that are not to be written."""
    found = Bench.of(CASE, "TRIM_HORIZON", "2.7.2").plan_case
    lineage, app = found.state.lineage, App(Start.TRIM_HORIZON, traits_of("2.7.2"))
    want = dict.fromkeys(lineage, START)
    steps = encode.encode(lineage, found.checkpoint(), want, app, leave)
    written = {write.key for step in steps for write in step.writes}
    assert (shard_id(0) in written) is (not leave)


SHARDS = [
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
        "stream": {"created": 1_795_219_200, "now": 3000, "shards": deepcopy(SHARDS)},
    })
    options = {"initial": "LATEST", "release": release}
    found = Bench.on(case, images(case), options, accept="reread=48h,disorder")
    plan = found.decide()
    assert isinstance(plan, Plan)
    mended = list(rows_of(found.after(plan.steps)).values())
    ran = run(load_topology(case.stream), case.stream["name"], mended, "LATEST", release)
    assert not ran.stuck
    assert sorted(ran.order) == [f"s{shard}-{i}" for shard in (2, 3, 4, 5) for i in (0, 1)]
