"""Rows in a lease table that are no leases, or say that they are none."""

from __future__ import annotations

from typing import Any

import pytest

from reshardctl.consumers.kcl.rows import parse
from reshardctl.consumers.kcl.sync import in_the_way
from reshardctl.errors import UsageError
from reshardctl.model import Image, Stream, WontRead
from reshardctl.planning.plan import NoSafePlan, Nothing, Plan
from reshardctl.testing import load_topology
from tests.proof.reference.kcl import run
from tests.support.case import CASES, load
from tests.support.dialects.kcl import images_of
from tests.support.judging import Bench, delivered

CASE = load(CASES / "kcl" / "c.toml")
MULTI = load(CASES / "kcl-tables" / "multi-healthy.toml")
CHILDREN_LOST = load(CASES / "kcl-tables" / "multi-children-lost.toml")
ARN = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
NOTE = {"leaseKey": {"S": "note"}, "text": {"S": "do not touch"}}
LEASE = {
    "leaseKey": {"S": "shardId-000000000000-old"}, "checkpoint": {"S": "TRIM_HORIZON"},
    "leaseCounter": {"N": "3"}, "ownerSwitchesSinceCheckpoint": {"N": "0"},
}


def bench(items: list[dict[str, Any]], release: str) -> Bench:
    options = {"initial": "TRIM_HORIZON", "release": release}
    return Bench.on(CASE, images_of(items), options)


@pytest.mark.parametrize(("stranger", "release", "dies"), [
    # DynamoDBLeaseRefresher.list: whole before 3.5.0, row by row since.
    (NOTE, "2.7.2", True), (NOTE, "1.15.3", True), (NOTE, "3.5.1", False),
    # All that a lease needs; run on 2.7.2 and 3.5.1, and 1.15.3.
    (LEASE, "2.7.2", False), (LEASE, "1.15.3", False), (LEASE, "3.5.1", False),
])  # fmt: skip
def test_one_row_that_is_no_lease_hides_nothing(
    stranger: dict[str, Any], release: str, dies: bool
) -> None:
    found = bench([*CASE.items(), stranger], release)
    (run,) = found.replays()
    assert (run.crash is not None) is dies
    (told,) = [f for f in found.findings() if f.code == "RSH302"]
    assert stranger["leaseKey"]["S"] in told.what
    assert dies is (told.severity.name == "ERROR")
    assert Image(stranger["leaseKey"]["S"], stranger) in found.plan_case.images
    decision = found.decide()
    assert isinstance(decision, NoSafePlan) is dies
    assert not dies or "delete that row by hand" in str(decision.ways_out)


@pytest.mark.parametrize(("names", "release", "dies"), [
    # DynamoDBMultiStreamLeaseSerializer.fromDynamoRecord sets both on a MultiStreamLease, whose
    # setters throw for null (@NonNull): the list fails as a whole before 3.5.0.
    ((), "2.7.2", True), (("streamName",), "2.7.2", True), (("shardId",), "2.7.2", True),
    (("streamName", "shardId"), "2.7.2", False), ((), "3.1.3", True), ((), "3.5.1", False),
])  # fmt: skip
def test_in_a_multi_stream_table_a_row_has_to_name_a_stream_and_a_shard(
    names: tuple[str, ...], release: str, dies: bool
) -> None:
    stranger = {**LEASE, **{name: {"S": "123456789012:another:1795219200"} for name in names}}
    options = {"initial": "TRIM_HORIZON", "release": release}
    found = Bench.on(MULTI, images_of([*MULTI.items(), stranger]), options)
    (run,) = found.replays()
    assert (run.crash is not None) is dies
    (told,) = [f for f in found.findings() if f.code == "RSH302"]
    assert dies is (told.severity.name == "ERROR")


@pytest.mark.parametrize("release", ["2.7.2", "3.1.3", "3.5.1"])
@pytest.mark.parametrize(("stream", "may_die"), [
    # Runs of November 2026, 90 seconds each: beside epoch 0 the real 2.7.2 and 3.5.1 delivered
    # nothing, 3.1.3 everything; beside the others every release delivered everything.
    ("123456789012:another:0", True), ("orders-x", False), ("acct:another:1795219200", False),
])  # fmt: skip
def test_a_stream_created_at_epoch_0_may_stop_everything(
    stream: str, may_die: bool, release: str
) -> None:
    names = {"leaseKey": f"{stream}:shardId-000000000000", "streamName": stream}
    row = {**LEASE, **{name: {"S": text} for name, text in names.items()}, "shardId": {"S": "x"}}
    options = {"initial": "TRIM_HORIZON", "release": release}
    found = Bench.on(CHILDREN_LOST, images_of([*CHILDREN_LOST.items(), row]), options)
    (run,) = found.replays()
    assert (run.crash is not None and not run.crash.certain) is may_die
    decision = found.decide()
    assert isinstance(decision, NoSafePlan if may_die else Plan)
    if isinstance(decision, NoSafePlan):
        assert any("delete that row by hand" in way for way in decision.ways_out)


LOST = "shardId-000000000001"
"""A shard of the case's two; its row is taken out, and its hash keys are given to a stranger."""


def copied(key: str, **more: dict[str, str]) -> list[dict[str, Any]]:
    """The case's rows, that of LOST under another key, with its hash keys."""
    (lost,) = [item for item in CASE.items() if item["leaseKey"]["S"] == LOST]
    hashes = {name: lost[name] for name in ("startingHashKey", "endingHashKey")}
    kept = [item for item in CASE.items() if item is not lost]
    return [*kept, {**LEASE, "leaseKey": {"S": key}, **hashes, **more}]


@pytest.mark.parametrize("release", ["1.15.3", "2.7.2", "3.5.1"])
@pytest.mark.parametrize(("key", "more", "hides"), [
    # Kinesis refuses an id with a colon (ValidationException), so the lease stays unfinished
    # for ever and the auditor counts it; run on 3.1.3, November 2026.
    (f"bak:{LOST}", {}, True),
    (f"123456789012:other:1795000000:{LOST}", {}, True),
    (f"bak:{LOST}", {"checkpoint": {"S": "SHARD_END"}}, False),
    # ResourceNotFound ends a lease whose key may be an id.
    (f"{LOST}-old", {}, False),
])  # fmt: skip
def test_a_stranger_with_a_lost_lease_s_hash_keys_hides_the_hole(
    key: str, more: dict[str, dict[str, str]], hides: bool, release: str
) -> None:
    items = copied(key, **more)
    found = bench(items, release)
    (simulation,) = found.replays()
    ran = run(load_topology(CASE.stream), CASE.stream["name"], items, "TRIM_HORIZON", release)
    said = delivered(CASE, simulation, found.plan_case.state.lineage)[LOST]
    stored = [payload for payload in said if payload.startswith("s")]
    assert stored == ran.delivered.get(LOST, [])
    assert (not said) is hides
    (told,) = [f for f in found.findings() if f.code == "RSH302"]
    assert repr(key) in told.what
    never = [f.what for f in found.findings() if f.code == "RSH203"]
    assert never == (["there is no position, and nothing will ever make one"] if hides else [])


LAST_COUNTER = {"leaseCounter": {"N": str(2**63 - 1)}}
"""KCL 3.x adds one where it assigns the lease, cannot read it then, and audits without it."""


def test_what_a_stranger_hides_is_written_before_the_hole_that_shows_it_is_closed() -> None:
    """Drawn stores: KCL 3.5.1 by time, seeds 180, 60119 and 60358. The other row's hole makes KCL
    synchronise, and that creates the lost lease too."""
    items = [
        item if item["leaseKey"]["S"].startswith("bak:") else {**item, **LAST_COUNTER}
        for item in copied(f"bak:{LOST}")
    ]
    found = bench(items, "3.5.1")
    stream, name = CASE.stream, CASE.stream["name"]
    before = run(load_topology(stream), name, items, "TRIM_HORIZON", "3.5.1")
    assert before.delivered.get(LOST)
    plan = found.decide()
    assert isinstance(plan, Plan)
    assert len(plan.steps) > 1
    for count in range(1, len(plan.steps) + 1):
        rows = [dict(image.attributes) for image in found.after(plan.steps[:count])]
        between = run(load_topology(stream), name, rows, "TRIM_HORIZON", "3.5.1")
        assert set(before.delivered[LOST]) <= set(between.delivered.get(LOST, [])), count


@pytest.mark.parametrize(("release", "kind", "dies"), [
    # Drawn stores, 1.13.3 seed 702383: KinesisShardSyncer waits for a shard that is not listed
    # while its parent is. LeaseSerializer before 3.5 knows no entityType.
    ("1.13.3", {}, True), ("1.13.3", {"entityType": {"S": "SOMETHING"}}, True),
    ("2.2.11", {"entityType": {"S": "SOMETHING"}}, True), ("1.15.3", {}, False),
    ("1.15.3", {"entityType": {"S": "SOMETHING"}}, False),
    ("2.7.2", {"entityType": {"S": "SOMETHING"}}, False),
    ("1.13.3", {"parentShardId": {"SS": ["shardId-000000000099"]}}, False),
])  # fmt: skip
def test_a_row_under_another_key_that_names_a_listed_parent_stops_a_full_synchronisation(
    release: str, kind: dict[str, Any], dies: bool
) -> None:
    stranger = {**LEASE, "parentShardId": {"SS": ["shardId-000000000000"]}, **kind}
    items = [*CASE.items(), stranger]
    found = bench(items, release)
    ran = run(load_topology(CASE.stream), CASE.stream["name"], items, "TRIM_HORIZON", release)
    (simulation,) = found.replays()
    assert (ran.died, simulation.crash is not None) == (dies, dies)
    lineage, app = found.plan_case.state.lineage, found.plan_case.candidates[0].app
    obstacle = in_the_way(lineage, found.plan_case.checkpoint(), app.traits)  # type: ignore[attr-defined]
    assert (obstacle is not None) is dies
    decision = found.decide()
    assert isinstance(decision, NoSafePlan) is dies
    assert not dies or "delete that row by hand" in str(decision.ways_out)


@pytest.mark.parametrize(("release", "hides"), [("2.7.2", True), ("3.5.1", False)])
def test_a_kind_that_a_release_does_not_know_hides_a_hole_like_any_lease(
    release: str, hides: bool
) -> None:
    items = copied(f"bak:{LOST}", entityType={"S": "SOMETHING"})
    found = bench(items, release)
    (simulation,) = found.replays()
    ran = run(load_topology(CASE.stream), CASE.stream["name"], items, "TRIM_HORIZON", release)
    said = delivered(CASE, simulation, found.plan_case.state.lineage)[LOST]
    assert (bool(ran.delivered.get(LOST)), bool(said)) == (not hides, not hides)


@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_stranger_without_a_checkpoint_stops_the_audits(checkpoint: bool) -> None:
    """Drawn stores: KCL 3.5.1 by time, seed 701599. An audit asks each lease whether it has ended,
    and throws at one that has no checkpoint; else the other row's hole makes it create the lost
    lease."""
    items = [
        item if item["leaseKey"]["S"].startswith("bak:") else {**item, **LAST_COUNTER}
        for item in copied(f"bak:{LOST}")
    ]
    if not checkpoint:
        del items[-1]["checkpoint"]
    found = bench(items, "3.5.1")
    (simulation,) = found.replays()
    ran = run(load_topology(CASE.stream), CASE.stream["name"], items, "TRIM_HORIZON", "3.5.1")
    said = delivered(CASE, simulation, found.plan_case.state.lineage)[LOST]
    assert (bool(ran.delivered.get(LOST)), bool(said)) == (checkpoint, checkpoint)


@pytest.mark.parametrize(
    ("single", "among", "judged"), [(3, 1, None), (1, 2, "orders"), (1, 1, UsageError)]
)
def test_most_rows_say_which_kind_of_application_it_is(
    single: int, among: int, judged: object
) -> None:
    """Real 2.7.2 and 3.5.1 in single-stream mode read on beside a multi-stream row, November 2026.
    """
    name = "123456789012:orders:1795219200"
    keys = [f"shardId-{n:012d}" for n in range(single)]
    keys += [f"{name}:shardId-{n:012d}" for n in range(among)]
    images = [Image(key, {**LEASE, "leaseKey": {"S": key}}) for key in keys]
    stream = Stream(ARN, "orders", 1795219200.0, 86_400, "ACTIVE")
    if judged is UsageError:
        with pytest.raises(UsageError, match="does not show which of the two runs"):
            parse(images, stream)
        return
    table = parse(images, stream)
    assert (table.named and table.named.name) == judged
    assert len(table.rows) == max(single, among)
    assert len(table.strangers) == min(single, among)
    assert sorted(image.key for image in table.images()) == sorted(keys)
    assert not table.others


@pytest.mark.parametrize(("key", "said"), [
    ("note", "no lease of a Kinesis shard"),
    # The adapter's shard ids, docs of DynamoDB Streams (DescribeStream).
    ("shardId-00000001762992402730-85636fc9", "DynamoDB Streams Kinesis Adapter"),
])  # fmt: skip
def test_a_table_without_any_lease_of_a_shard_is_refused(key: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse([Image(key, {**LEASE, "leaseKey": {"S": key}})])


@pytest.mark.parametrize("release", ["1.15.3", "2.7.2"])
def test_a_kind_that_an_older_release_does_not_know_is_no_matter_to_it(release: str) -> None:
    items = [dict(item) for item in CASE.items()]
    items[1]["entityType"] = {"S": "SOMETHING"}
    found = bench(items, release)
    assert found.replays()[0].crash is None
    assert found.findings() == []
    assert isinstance(found.decide(), Nothing)


def test_release_3_5_is_given_a_lease_of_an_unknown_kind_back_in_place() -> None:
    """Its serializer makes nothing of it, and its key cannot be created again."""
    items = [dict(item) for item in CASE.items()]
    items[1]["entityType"] = {"S": "SOMETHING"}
    found = bench(items, "3.5.1")
    assert isinstance(found.replays()[0].fates["shardId-000000000001"], WontRead)  # type: ignore[index]
    decision = found.decide()
    assert isinstance(decision, Plan)
    (write,) = [write for step in decision.steps for write in step.writes]
    assert write.change.set["entityType"] == {"S": "LEASE"}  # type: ignore[union-attr]
    again = bench([dict(i.attributes) for i in found.after(decision.steps)], "3.5.1")
    assert isinstance(again.decide(), Nothing)
