"""A merge whose one parent is not listed any more: first leases and rebuilt ones let it end.

The reference consumer starts on them (KCL 3.5.1 ShutdownTask: both parents have a lease, or
neither); the same state with a row is `cases/kcl/merge-coparent-expired.toml`.
"""

from __future__ import annotations

import pytest

from reshardctl.consumers.kcl import encode
from reshardctl.consumers.kcl.app import App, Start
from reshardctl.consumers.kcl.rebuild import rebuild
from reshardctl.consumers.kcl.releases import traits_of
from reshardctl.consumers.kcl.rows import LeaseTable
from reshardctl.lineage import Lineage
from reshardctl.model import START, Step, TargetFrontier, after
from reshardctl.testing import load_topology
from tests.differential.states import rows_of
from tests.reference.kcl import run
from tests.support.case import CASES, load
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
