"""What two rows prove that hold each other's numbers, before a plan and after it.

Kinesis refuses a number in another shard's row (runs of v0.5.0 and master 31e0042). But it is a
record's, and of these rows the only one of its shard: the plan that writes over it keeps it.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.model import START, ShardId, decode, shard_id
from reshardctl.planning.decision import Scope
from reshardctl.planning.plan import NoSafePlan, Plan, decide, processed_frontier
from reshardctl.planning.within_scope import touched
from reshardctl.testing.shards import SequenceNumber
from tests.support.dialects import kinesis_consumer as dialect
from tests.unit.consumers.test_kinesis_consumer_start_at_a_time import (
    LATE,
    RELEASES,
    bench_of,
    case,
)

PARENT, CHILD = shard_id(2), shard_id(3)
MASTER = "master-31e0042"
INITIAL = ("TRIM_HORIZON", "LATEST", LATE)


@pytest.mark.parametrize("initial", INITIAL)
@pytest.mark.parametrize("release", RELEASES)
def test_a_parent_and_its_child_get_their_numbers_back(release: str, initial: str) -> None:
    """Master never asks for the parent's; it alone tells what is left in the parent."""
    bench = bench_of(case(s2="s3-0", s3="s2-0"), initial, release)
    plan = bench.decide()
    assert isinstance(plan, Plan)
    right = {row.key: row for row in dialect.images(case(s2="s2-0", s3="s3-0"))}
    after = {row.key: row for row in bench.after(plan.steps)}
    assert {key: after[key] for key in right} == right


@pytest.mark.parametrize("shard", [PARENT, CHILD])
def test_a_plan_of_one_of_them_writes_both_or_none(shard: ShardId) -> None:
    whole = bench_of(case(s2="s3-0", s3="s2-0"), "TRIM_HORIZON", MASTER).plan_case
    plan = decide(replace(whole, scope=Scope(frozenset({shard}))))
    if isinstance(plan, Plan):
        assert touched(whole, plan.steps).keys() == {PARENT, CHILD}
    else:
        assert isinstance(plan, NoSafePlan) and set(plan.needs) == {PARENT, CHILD}


@pytest.mark.parametrize("initial", INITIAL)
@pytest.mark.parametrize("release", RELEASES)
def test_they_show_that_the_application_was_at_work(release: str, initial: str) -> None:
    """Of shards without a row the same is known as once the numbers are in their places."""
    swapped, right = (
        processed_frontier(bench_of(rows, initial, release).plan_case)
        for rows in (case(s2="s3-0", s3="s2-0"), case(s2="s2-0", s3="s3-0"))
    )
    for shard in (shard_id(0), shard_id(1)):
        assert swapped[shard] == right[shard]


@pytest.mark.parametrize("spelled", [" {}", "{}\n", "0{}"])
@pytest.mark.parametrize("initial", INITIAL)
@pytest.mark.parametrize("release", RELEASES)
def test_so_does_a_number_that_is_refused_for_its_spelling(
    release: str, initial: str, spelled: str
) -> None:
    """A repair writes it bare: what is known of the others is the same before and after it."""
    right = case(s3="s3-0")
    odd = case(s3=spelled.format(right.number_of("s3-0")))
    before, after = (
        processed_frontier(bench_of(rows, initial, release).plan_case) for rows in (odd, right)
    )
    for shard in map(shard_id, (0, 1, 2)):
        assert before[shard] == after[shard]


def test_a_number_that_its_shard_cannot_have_is_not_one_of_them() -> None:
    """That row is another stream's, as one with a twin's number: nothing was swapped."""
    rows = case(s2="s3-0", s3="s2-0")
    own = decode(rows.number_of("s3-0"))
    assert own is not None
    twin = SequenceNumber(epoch=own.epoch - 900, index=1, time=own.time - 900, shard=3)
    known = processed_frontier(
        bench_of(case(s2=str(twin), s3="s2-0"), "TRIM_HORIZON", "telegraf-1.39").plan_case
    )
    assert known[PARENT].lo == START
