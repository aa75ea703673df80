"""Rows in a lease table that are no leases, or say that they are none."""

from __future__ import annotations

from typing import Any

import pytest

from reshardctl.consumers.kcl.rows import parse
from reshardctl.errors import UsageError
from reshardctl.model import Image, WontRead
from reshardctl.planning.plan import NoSafePlan, Nothing, Plan
from tests.dialects.kcl import images_of
from tests.support.case import CASES, load
from tests.support.judging import Bench

CASE = load(CASES / "kcl" / "c.toml")
MULTI = load(CASES / "kcl-tables" / "multi-healthy.toml")
NOTE = {"leaseKey": {"S": "note"}, "text": {"S": "do not touch"}}
LEASE = {
    "leaseKey": {"S": "shardId-000000000000-old"}, "checkpoint": {"S": "TRIM_HORIZON"},
    "leaseCounter": {"N": "3"}, "ownerSwitchesSinceCheckpoint": {"N": "0"},
}


def bench(items: list[dict[str, Any]], release: str) -> Bench:
    options = {"initial": "TRIM_HORIZON", "release": release}
    return Bench.on(CASE, images_of(items), options)


@pytest.mark.parametrize(
    ("stranger", "release", "dies"),
    [
        # DynamoDBLeaseRefresher.list: whole before 3.5.0, row by row since.
        (NOTE, "2.7.2", True), (NOTE, "1.15.3", True), (NOTE, "3.5.1", False),
        # All that a lease needs; run on 2.7.2 and 3.5.1, and 1.15.3.
        (LEASE, "2.7.2", False), (LEASE, "1.15.3", False), (LEASE, "3.5.1", False),
    ],
)
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


@pytest.mark.parametrize(
    ("names", "release", "dies"),
    [
        # DynamoDBMultiStreamLeaseSerializer.fromDynamoRecord sets both on a MultiStreamLease, whose
        # setters throw for null (@NonNull): the list fails as a whole before 3.5.0.
        ((), "2.7.2", True), (("streamName",), "2.7.2", True), (("shardId",), "2.7.2", True),
        (("streamName", "shardId"), "2.7.2", False), ((), "3.1.3", True), ((), "3.5.1", False),
    ],
)
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
@pytest.mark.parametrize(
    ("stream", "may_die"),
    [
        # Runs of November 2026, 90 seconds each: beside epoch 0 the real 2.7.2 and 3.5.1 delivered
        # nothing, 3.1.3 everything; beside the others every release delivered everything.
        ("123456789012:another:0", True), ("orders-x", False), ("acct:another:1795219200", False),
    ],
)
def test_a_stream_created_at_epoch_0_may_stop_everything(
    stream: str, may_die: bool, release: str
) -> None:
    names = {"leaseKey": f"{stream}:shardId-000000000000", "streamName": stream}
    row = {**LEASE, **{name: {"S": text} for name, text in names.items()}, "shardId": {"S": "x"}}
    options = {"initial": "TRIM_HORIZON", "release": release}
    found = Bench.on(MULTI, images_of([*MULTI.items(), row]), options)
    (run,) = found.replays()
    assert (run.crash is not None and not run.crash.certain) is may_die
    assert isinstance(found.decide(), NoSafePlan if may_die else Nothing)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("note", "no lease of a Kinesis shard"),
        # The adapter's shard ids, docs of DynamoDB Streams (DescribeStream).
        ("shardId-00000001762992402730-85636fc9", "DynamoDB Streams Kinesis Adapter"),
    ],
)
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
