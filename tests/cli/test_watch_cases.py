"""Every case of an application that is watched: what inspect finds, and whether fix may write."""

from __future__ import annotations

import pytest

from tests.cli.lab import TRIM_HORIZON
from tests.cli.test_watching import move, renew
from tests.support.case_watch import WatchCase, watch_cases

REFUSALS = {"RSH401": "the consumer is running"}


@pytest.fixture
def lab(case: WatchCase, lab_of):
    """The case's table, and its workers."""
    lab = lab_of(case.table, TRIM_HORIZON)
    for key in case.left:
        lab.alter(key, leaseOwner=None)
    lab.on_sleep += [renew(lab, *case.renewed), move(lab, *case.moved)]
    return lab


every = pytest.mark.parametrize("case", watch_cases(), ids=lambda case: case.name)


@every
def test_inspect(case: WatchCase, lab) -> None:
    probe = ["--probe"] if case.probe else []
    findings = lab.inspect("--watch", "60s", "--format", "json", *probe).json["findings"]
    assert {
        " ".join([f["code"], f["severity"], *(str(int(shard[8:])) for shard in f["shards"])])
        for f in findings
    } == set(case.inspect)


@every
def test_fix(case: WatchCase, lab) -> None:
    done = lab.cli("fix", *lab.where, "--yes", "--watch", "60s")
    if case.fix:
        assert done.code == 4 and done.says(REFUSALS[case.fix])
        assert lab.wire.writes == []
    else:
        assert done.code == 0, done.err
