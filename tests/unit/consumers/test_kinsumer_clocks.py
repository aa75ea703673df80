"""Times of kinsumer's tables that lie in the future.

What a start does is told by the reference consumer, which is written from the libraries' sources;
that nobody captures a row of the future was run on v1.7.0 and 9a48088 (November 2026).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from reshardctl.consumers.kinsumer.clocks import AHEAD, MAX_AGE, ROUND, clocks
from reshardctl.consumers.kinsumer.rows import parse
from reshardctl.model import Image, Update, Write
from reshardctl.planning.plan import Plan
from tests.proof.drawn.families import FAMILIES
from tests.proof.drawn.states import Rows, State
from tests.proof.drawn.trial import bench_of, examine
from tests.support.covering import in_turn
from tests.support.lineages import split_in_turn

DAY = 86_400
SEEDS = range(12)
OTHER = "ffffffff-gone"


def stamped(row: dict, now: float, ahead: float) -> dict:
    return row | {"LastUpdate": {"N": str(int((now + ahead) * 1e9))}}


def owner(rows: Rows, now: float, ahead: float) -> Rows:
    """The newest shard has an owner."""
    key = max(key for key in rows if key.startswith("checkpoints/"))
    owned = {"OwnerID": {"S": OTHER}, "OwnerName": {"S": "judged"}}
    return rows | {key: stamped(rows[key] | owned, now, ahead)}


def client(rows: Rows, now: float, ahead: float) -> Rows:
    row = {"ID": {"S": OTHER}, "Name": {"S": "judged"}}
    return rows | {f"clients/{OTHER}": stamped(row, now, ahead)}


def leader(rows: Rows, now: float, ahead: float) -> Rows:
    row = {"Key": {"S": "Leader"}, "ID": {"S": OTHER}, "Name": {"S": "judged"}}
    return without_the_newest(rows) | {"metadata/Leader": stamped(row, now, ahead)}


def cache(rows: Rows, now: float, ahead: float) -> Rows:
    less = without_the_newest(rows)
    return less | {"metadata/ShardCache": stamped(less["metadata/ShardCache"], now, ahead)}


def without_the_newest(rows: Rows) -> Rows:
    """As before a split: the ShardCache lacks what nobody has a row of."""
    row = rows["metadata/ShardCache"]
    kept = sorted(row["ShardIDs"]["L"], key=lambda one: one["S"])[:-1] or row["ShardIDs"]["L"]
    return rows | {"metadata/ShardCache": row | {"ShardIDs": {"L": kept}}}


WAYS = [owner, client, leader, cache]
RELEASES = ["reference-kinsumer-snowplow", "reference-kinsumer-twitch"]


def honest(family: str) -> list[State]:
    """States that nothing was done to, with a ShardCache of several shards."""
    states = [FAMILIES[family].state(seed) for seed in SEEDS]
    return [
        replace(one, rows=one.honest, damages=()) for one in states
        if len(one.honest["metadata/ShardCache"]["ShardIDs"]["L"]) > 1
    ]


@pytest.mark.parametrize(("family", "way"), in_turn(RELEASES, WAYS, every=2))
def test_it_is_told_mended_and_forecast(family: str, way: Callable) -> None:
    """The forecast is right, nothing is lost after the fix, the next plan is empty (examine)."""
    told = 0
    with FAMILIES[family].judges(1) as judge:
        for state in honest(family):
            ahead = replace(state, rows=way(state.rows, state.case.now, DAY))
            bench = bench_of(ahead, ahead.images)
            codes = {finding.code for finding in bench.findings()}
            told += "RSH404" in codes
            verdict = examine(ahead, judge)
            assert not verdict.violations, f"seed {state.seed}"
            decided = bench.decide()
            if "RSH404" in codes:
                assert isinstance(decided, Plan)
                after = bench_of(ahead, bench.after(decided.steps))
                assert not {f.code for f in after.findings()} & {"RSH404"}
    assert told > 3


@pytest.mark.parametrize("way", WAYS)
def test_a_time_that_is_past_or_a_little_ahead_is_none(way: Callable) -> None:
    for state in honest(RELEASES[0])[:5]:
        for ahead in (-DAY, AHEAD - 1):
            rows = replace(state, rows=way(state.rows, state.case.now, ahead))
            bench = bench_of(rows, rows.images)
            found = clocks(bench.plan_case.state.lineage, parse(rows.images))
            assert found == clocks(bench.plan_case.state.lineage, parse(()))
            assert not {f.code for f in bench.findings()} & {"RSH404"}


def test_a_part_of_a_second_counts() -> None:
    """LastUpdate is UnixNano (clients.go): at the whole second before, the row still holds."""
    lineage = split_in_turn(1, ())
    now = lineage.stream.created + 60
    rows = [Image(key, row) for key, row in client({}, now, DAY + 0.5).items()]
    (until,) = clocks(lineage.as_of(now), parse(rows)).clients.values()
    assert until == now + DAY + 0.5 + MAX_AGE + ROUND


def test_a_time_that_cannot_be_read_holds_nothing() -> None:
    """attributevalue.UnmarshalMap fails on it, which RSH301 tells; the filter of the clients passes
    numbers only."""
    (state, *_) = honest(RELEASES[0])
    rows = client(state.rows, state.case.now, DAY)
    key = f"clients/{OTHER}"
    rows[key] = rows[key] | {"LastUpdate": {"S": "tomorrow"}}
    images = replace(state, rows=rows).images
    assert not clocks(bench_of(state, images).plan_case.state.lineage, parse(images)).clients


def test_nothing_but_the_owner_goes_from_an_owned_row() -> None:
    """What is written besides is written for the same rows without an owner."""
    seen = 0
    for state in honest(RELEASES[0]):
        plain = {write.key: write.change for write in writes_of(state)}
        for write in writes_of(replace(state, rows=owner(state.rows, state.case.now, DAY))):
            seen += 1
            assert write.key.startswith("checkpoints/")
            change = plain.get(write.key, Update({}))
            assert write.change.set == change.set
            assert {*write.change.remove} - {*change.remove} <= {"OwnerID", "OwnerName"}
    assert seen > 3


def writes_of(state: State) -> list[Write]:
    decided = bench_of(state, state.images).decide()
    steps = decided.steps if isinstance(decided, Plan) else ()
    return [write for step in steps for write in step.writes]
