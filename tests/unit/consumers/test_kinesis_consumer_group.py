"""The experimental consumer group: its leases gate children and mark ends, and are never written.

Expectations from group/consumergroup of v0.5.0: `isClaimable` and `parentCompleted` in planner.go
(a lease is claimed once the leases of its parents are completed or missing), `SyncShardLeases` in
ddb/repository.go (every listed shard gets a lease), `emitShardIfNeeded` in group.go (only a listed
shard is read). It was not run.
"""

from __future__ import annotations

from typing import Any

import pytest

from reshardctl.model import Image, canonical, shard_id
from reshardctl.planning.plan import NoSafePlan, Nothing, Plan
from tests.support.case import CASES, Case, load
from tests.support.dialects import kinesis_consumer as dialect
from tests.support.judging import Bench, delivered

OPTIONS = {"app": "app", "release": "group-0.5", "initial": "LATEST"}


def case(name: str = "a") -> Case:
    return load(CASES / "kinesis-consumer" / f"{name}.toml")


def lease(shard: int, *, completed: bool, group: str = "app", **more: Any) -> Image:
    key = f"LEASE#shardId-{shard:012d}"
    return Image(f"{group}#orders/{key}", canonical({
        "namespace": {"S": f"{group}#orders"}, "shard_id": {"S": key},
        "lease_owner": {"S": ""}, "lease_expires_at": {"N": "0"}, "parent_shard_id": {"S": ""},
        "adjacent_parent_shard_id": {"S": ""}, "completed": {"BOOL": completed}, **more,
    }))  # fmt: skip


def bench(name: str, *leases: Image, **options: str) -> Bench:
    one = case(name)
    return Bench.on(one, [*dialect.images(one), *leases], OPTIONS | options)


def codes(one: Bench) -> set[str]:
    return {f.code for f in one.findings() if str(f.severity) != "info"}


def payloads(one: Bench) -> dict[str, tuple[str, ...]]:
    (run,) = one.replays()
    found = delivered(one.case, run, one.plan_case.state.lineage)
    return {shard[-1]: records for shard, records in found.items()}


def test_a_completed_parent_is_not_read_and_its_children_begin() -> None:
    found = payloads(bench("a", lease(0, completed=True), initial="TRIM_HORIZON"))
    assert found["0"] == ()
    assert found["1"][:6] == tuple(f"s1-{n}" for n in range(6))


def test_a_completed_parent_s_children_are_lost_at_latest_and_written() -> None:
    one = bench("a", lease(0, completed=True))
    assert codes(one) == {"RSH209"}
    decision = one.decide()
    assert isinstance(decision, Plan)
    assert dialect.spelled(one.case, decision.steps) == {1: "START", 2: "START"}


def test_a_parent_that_is_not_completed_is_read_first() -> None:
    """Unlike on master, a child's row says nothing of its parent."""
    one = bench("b4", lease(0, completed=False), initial="TRIM_HORIZON")
    assert payloads(one)["0"] == tuple(f"s0-{n}" for n in range(4, 10))
    assert isinstance(one.decide(), Nothing)


@pytest.mark.parametrize("initial", ["TRIM_HORIZON", "LATEST"])
@pytest.mark.parametrize("name", ["d", "d-finished"])
def test_a_lease_of_an_expired_shard_that_is_not_completed_blocks_its_children(
    name: str, initial: str
) -> None:
    """Nothing is written for them: no row of theirs is looked at."""
    one = bench(name, lease(0, completed=False), initial=initial)
    assert payloads(one) == {"1": (), "2": ()}
    assert "RSH213" in codes(one)
    decision = one.decide()
    assert isinstance(decision, NoSafePlan)
    assert "waits for ever for shard 0" in decision.why


def test_no_lease_of_an_expired_shard_blocks_when_it_is_completed() -> None:
    assert codes(bench("d", lease(0, completed=True), initial="TRIM_HORIZON")) <= {"RSH204"}


def test_an_open_shard_whose_lease_is_completed_is_never_read() -> None:
    one = bench("a", lease(0, completed=True), lease(1, completed=True), initial="TRIM_HORIZON")
    assert payloads(one)["1"] == ()
    assert "RSH206" in codes(one)


def test_a_group_is_asked_about_where_it_has_leases() -> None:
    """The library alone does not look at them, and may be what starts next."""
    for leases, groups in (([lease(0, completed=False)], {"group-0.5.0"}), ([], set())):
        one = bench("a", *leases)
        consumer, images = one.plan_case.consumer, one.plan_case.images
        checkpoint = consumer.parse(images, one.plan_case.state.lineage.stream)
        found = {c.options["release"] for c in consumer.candidates(checkpoint, {"app": "app"})}
        assert found == groups | {"0.5.0", "master-31e0042", "telegraf-1.39"}


@pytest.mark.parametrize("group", ["app", "workers"])
def test_a_group_may_have_a_name_of_its_own(group: str) -> None:
    one = bench("a", lease(0, completed=True, group="workers"), group=group, initial="LATEST")
    assert (payloads(one)["0"] == ()) is (group == "workers")


def test_no_lease_is_ever_written() -> None:
    for name in ("a", "b4", "c", "e", "f"):
        decision = bench(name, lease(0, completed=False)).decide()
        steps = decision.steps if isinstance(decision, Plan) else ()
        assert not any("LEASE#" in write.key for step in steps for write in step.writes)


def test_a_proof_rests_on_the_leases_of_the_group_as_well() -> None:
    """A parent that is completed, or not any more, between a plan and its writes is noticed."""
    one = bench("a", lease(0, completed=True))
    consumer, lineage = one.plan_case.consumer, one.plan_case.state.lineage
    family = consumer.family(lineage, {"app-orders/shardId-000000000001"})
    assert {
        "app#orders/LEASE#shardId-000000000000", "app-orders/shardId-000000000000",
    } <= set(family)
    prints = [consumer.footprint(lease(0, completed=completed)) for completed in (True, False)]
    assert prints[0] != prints[1]


WORKER = {
    "namespace": {"S": "app#orders"}, "shard_id": {"S": "WORKER#w1"},
    "worker_expires_at": {"N": "7"}, "ttl": {"N": "9"},
}  # fmt: skip


@pytest.mark.parametrize(("group", "another"), [("app", False), ("b", True)])
def test_a_groups_worker_is_no_other_application(group: str, another: bool) -> None:
    key, item = f"{group}#orders/WORKER#w1", {**WORKER, "namespace": {"S": f"{group}#orders"}}
    own = {"namespace": {"S": "app-orders"}, "shard_id": {"S": "note"}}
    one = bench("a", Image(key, item), Image("app-orders/note", own)).plan_case
    assert (key in (others := one.consumer.others(one.checkpoint()))) is another
    assert "app-orders/note" not in others


@pytest.mark.parametrize(("name", "value", "seen"), [
    ("sequence_number", {"S": "50"}, True), ("lease_expires_at", {"N": "8"}, True),
    ("worker_expires_at", {"N": "8"}, True), ("completed", {"BOOL": True}, False),
    ("ttl", {"N": "10"}, False),
])  # fmt: skip
def test_what_a_watch_sees_move(name: str, value: dict[str, Any], seen: bool) -> None:
    """A position moves with each record; ClaimLease, RenewLeases and HeartbeatWorker of
    ddb/repository.go write the two times."""
    one = bench("a", lease(0, completed=False), Image("app#orders/WORKER#w1", WORKER)).plan_case
    moved = [
        Image(i.key, {**i.attributes, name: value}) if name in i.attributes else i
        for i in one.images
    ]
    before, after = (one.consumer.signs_of_life(images) for images in (one.images, moved))
    assert {key for key in before if before[key] != after[key]} == {
        i.key for i in one.images if seen and name in i.attributes
    }
    assert "with nothing to read" in one.consumer.excluded_by(30)


def test_the_owner_of_a_lease_is_shown_with_the_position() -> None:
    one = bench("a", lease(0, completed=False, lease_owner={"S": "w1"})).plan_case
    owners = one.consumer.owners_by_shard(one.checkpoint())
    assert {shard: held.owner for shard, held in owners.items()} == {shard_id(0): "w1"}
