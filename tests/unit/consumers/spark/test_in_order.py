"""order=parents-first: the groups of shards, and the steps, between which the reference runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reshardctl.consumers.spark.encode import generations
from reshardctl.consumers.spark.options import read_options
from reshardctl.consumers.spark.positions import BEGINNING
from reshardctl.errors import UsageError
from reshardctl.model import Image, ShardId, Step, after, ahead, shard_id
from reshardctl.planning.plan import Case, Nothing, Plan, decide
from tests.cli.spark_lab import golden_fake
from tests.proof.exhaustive.spark_scenes import images_of
from tests.proof.reference.spark import Query, connector_of
from tests.proof.reference.spark_release import Options
from tests.support.dialects.spark import planted
from tests.support.lineages import lineages, split_in_turn
from tests.support.spark_recorded import FOLDERS, HEAD, QUBOLE, V1, Recorded

# ----
# order=parents-first: the cells "parents first (once), then the children" of the runs on Qubole's
# jar, awslabs 1.4.2 and 0f4c005, November 2026; the reference consumer runs between the steps.

def case(shape: str, release: str) -> Case:
    return Recorded(shape, release, FOLDERS[release], order="parents-first").case()


def steps_of(one: Case) -> tuple[Step, ...]:
    plan = decide(one)
    assert isinstance(plan, Plan)
    return plan.steps


def once(shape: str, release: str, root: Path, files: list[Image]) -> dict[str, int]:
    """One start, one trigger (Trigger.Once). How many rows each shard gives."""
    planted(files, root)
    fake = golden_fake(FOLDERS[release], shape)
    connector = connector_of(fake, "st", root, release, Options("TRIM_HORIZON"))
    query = Query(root, connector, now=fake.clock.now)
    query.start()
    rows = query.trigger() or {}
    return {shard[-1]: len(payloads) for shard, payloads in rows.items() if payloads}


@pytest.mark.parametrize(("shape", "parents", "children"), [("s1", 6, 6), ("m1", 3, 3)])
def test_parents_come_first_and_then_the_children(
    shape: str, parents: int, children: int, tmp_path: Path
) -> None:
    """Rows as the runs of the repair in one batch give them (s1: 12, m1: 6), in two."""
    one = case(shape, HEAD)
    steps = steps_of(one)
    later = [step for step in steps if step.barrier]
    assert [step.barrier for step in later] == ["commits/1"]
    assert [step.title for step in later] == [
        "plan batch 2, when batch 1 has run, alone (Trigger.Once)"
    ]
    first = once(shape, HEAD, tmp_path / "checkpoint", after(one.images, ahead(steps)))
    assert sum(first.values()) == parents
    ran = images_of(tmp_path / "checkpoint")
    assert "commits/1" in {image.key for image in ran}
    released = [replace(step, barrier="") for step in later]
    second = once(shape, HEAD, tmp_path / "two", after(ran, released))
    assert sum(second.values()) == children
    assert not set(first) & set(second)


@pytest.mark.parametrize("release", [QUBOLE, V1])
def test_where_nothing_is_lost_nothing_is_planned_for_order_alone(release: str) -> None:
    assert isinstance(decide(case("s1", release)), Nothing)


def test_without_the_option_one_batch_has_all() -> None:
    one = Recorded("s1", HEAD, HEAD).case()
    assert not any(step.barrier for step in steps_of(one))


def test_the_first_step_alone_is_what_is_proven() -> None:
    """Every batch before the barrier names parents only; what it leaves to startingPosition is an
    effect of the plan that is shown."""
    one = case("s1", HEAD)
    plan = decide(one)
    assert isinstance(plan, Plan)
    (alone,) = [w for step in ahead(plan.steps) for w in step.writes if w.key == "offsets/1"]
    assert "shardId-000000000001" not in str(alone.change)


def test_another_order_is_refused() -> None:
    with pytest.raises(UsageError, match="order=children-first"):
        read_options({"order": "children-first"})


# ----
# The groups of order=parents-first, found in one pass: as they are found by peeling.

UNLISTED = ShardId("shardId-000000099999")


def peeled(lineage, left: set[ShardId]) -> list[set[ShardId]]:
    """Takes the shards off the top that are above others, again and again."""
    groups = []
    while now := {
        shard for shard in left
        if lineage.descendants(shard) & left and not lineage.ancestors(shard) & left
    }:
        groups.append(now)
        left = left - now
    return [*groups, left]


@settings(deadline=None)
@given(lineages(), st.data())
def test_ancestors_come_before_descendants_and_the_lowest_shards_last(lineage, data):
    chosen = data.draw(st.lists(st.sampled_from([*lineage, UNLISTED]), unique=True))
    groups = generations(lineage, dict.fromkeys(chosen, BEGINNING))
    assert [set(group) for group in groups] == peeled(lineage, set(chosen))
    assert all([s for s in chosen if s in group] == list(group) for group in groups)


def test_two_shards_follow_one_another_though_the_one_between_them_has_no_start():
    lineage = split_in_turn(1, [0, 1])
    top, low = shard_id(0), shard_id(3)
    assert generations(lineage, {low: BEGINNING, top: BEGINNING}) == [
        {top: BEGINNING}, {low: BEGINNING}
    ]
