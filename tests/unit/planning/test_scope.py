"""The plan of some shards: its writes alone are proven, and it names what it needs beside them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reshardctl.model import ShardId, after, shard_id
from reshardctl.planning.decision import Scope
from reshardctl.planning.plan import Case, Decision, NoSafePlan, Nothing, Plan, decide
from reshardctl.planning.within_scope import touched
from tests.support.case import CASES, load
from tests.support.dialects import kinesis_consumer as rows
from tests.support.judging import Bench


def case_of(name: str, *shards: int, whole: bool = True, policy: str = "lossless") -> Case:
    case = load(CASES / "kcl" / f"{name}.toml")
    scope = Scope(frozenset(map(shard_id, shards)), whole)
    return replace(Bench.of(case, "LATEST", "3.5.1", policy).plan_case, scope=scope)


def writes(case: Case, decision: Decision) -> set[ShardId]:
    assert isinstance(decision, Plan), decision
    return set(touched(case, decision.steps))


def test_without_a_scope_all_is_planned() -> None:
    case = replace(case_of("a-both-named"), scope=None)
    assert writes(case, decide(case)) == {shard_id(2), shard_id(3)}


@pytest.mark.parametrize("number", [2, 3])
def test_one_child_of_a_split_is_started_by_itself(number: int) -> None:
    """Each child has a lease of its own, and 0 is finished: neither child needs the other."""
    case = case_of("a-both-named", number)
    decision = decide(case)
    assert writes(case, decision) == {shard_id(number)}
    assert isinstance(decision, Plan) and decision.added == ()
    rows = after(case.images, decision.steps)
    assert decide(replace(case, images=rows)) == Nothing()


def test_a_shard_that_needs_nothing_gets_no_plan() -> None:
    assert decide(case_of("a-both-named", 0)) == Nothing()
    assert decide(case_of("a-both-named", whole=False)) == Nothing()


def test_a_merge_takes_its_other_parent_along() -> None:
    """1 and 2 have no lease; KCL 3 creates none for 1 once 2 is leased (full sync)."""
    case = case_of("full-merge-ended-coparent-lost", 2)
    decision = decide(case)
    assert isinstance(decision, Plan)
    assert [more.shard for more in decision.added] == [shard_id(1)]
    assert decision.added[0].why.startswith(f"a parent of {shard_id(2)}: ")
    case = case_of("full-merge-ended-coparent-lost", 0)
    decision = decide(case)
    assert isinstance(decision, Plan)
    assert decision.added[0].why.startswith(f"the other parent of {shard_id(2)}, beside ")


def test_a_parent_is_ended_with_its_children() -> None:
    """No synchronisation creates leases below a finished one (kcl: a hole)."""
    case = case_of("g-no-children", 0)
    decision = decide(case)
    assert isinstance(decision, Plan)
    assert {more.shard for more in decision.added} == {shard_id(2), shard_id(3)}
    assert all(more.why.startswith(f"a child of {shard_id(0)}: ") for more in decision.added)


def test_a_row_of_an_unrelated_shard_is_not_written_but_asked_for() -> None:
    """3 waits for the end of 0, which fails at the lease of 2, its other child (the case file)."""
    decision = decide(case_of("row-unreadable-child-of-a-reader", 3))
    assert isinstance(decision, NoSafePlan)
    assert decision.needs == (shard_id(2),)
    assert f"it takes writes to {shard_id(2)} (" in decision.why
    assert decision.ways_out == ("select what it needs as well: --shards 2",)


@pytest.mark.parametrize("number", [2, 3])
def test_a_skipping_policy_moves_what_was_selected(number: int) -> None:
    case = case_of("a-both-named", number, policy="latest-at-start")
    assert writes(case, decide(case)) == {shard_id(number)}


@pytest.mark.parametrize("release", ["0.5.0", "master-31e0042"])
def test_the_only_copy_of_another_shard_s_number_is_not_written_over(release: str) -> None:
    """1 and 2 hold each other's numbers (the case file): one number put right alone destroys what
    tells how far the other shard was read, which would then be read again as a whole."""
    case = load(CASES / "kinesis-consumer" / "f-swapped.toml")
    options = {"initial": "TRIM_HORIZON", "release": release, "app": "app"}
    whole = Bench.on(case, rows.images(case), options).plan_case
    alone = decide(replace(whole, scope=Scope(frozenset({shard_id(1)}))))
    assert isinstance(alone, NoSafePlan)
    assert alone.needs == (shard_id(1), shard_id(2))
    for shards in ([1, 2], [0, 1]):
        scope = Scope(frozenset(map(shard_id, shards)))
        assert writes(whole, decide(replace(whole, scope=scope))) == {shard_id(1), shard_id(2)}
