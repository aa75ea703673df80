"""The actions used are the actions documented: not one more, not one less."""

from __future__ import annotations

from reshardctl.model import shard_id
from tests.cli.lab import TRIM_HORIZON, Lab
from tests.whole.test_iam import documented

WRITES = ("TransactWriteItems", "PutItem", "UpdateItem", "DeleteItem")
CASES = ("a-both", "a-one", "false-end", "row-not-born", "row-no-counter", "h-open", "d2",
         "merge-coparent-lost", "number-expired")  # fmt: skip
"""Broken tables whose repairs create, change and delete rows."""


def used(lab: Lab) -> set[str]:
    """The actions, without the one that only names another stream (`name` on the page)."""
    found = set(lab.wire.needed) - documented("name") | (
        set(lab.wire.needed) & {"kinesis:GetShardIterator"}
    )
    lab.wire.needed.clear()
    return found


def moved_shard(lab: Lab) -> None:
    """Shard 1 goes on with numbers of a later epoch, of which only Kinesis can tell whose they are.
    """
    shard = lab.fake.stream(lab.stream).shards[1]
    shard.move_epoch(int(lab.fake.clock.now()) - 60)
    record = lab.fake.client("us-east-1").put_record(
        StreamName=lab.stream, Data=b"x", PartitionKey="k", ExplicitHashKey=str(shard.low)
    )
    lab.alter(shard_id(1), checkpoint={"S": record["SequenceNumber"]})


def test_inspect(lab_of):
    found = set()
    for case in CASES:
        lab = lab_of(case, TRIM_HORIZON)
        if case == "a-both":
            moved_shard(lab)
        lab.inspect()
        lab.inspect("--wait", "1m")
        lab.dry("--policy", "latest-at-start")
        lab.cli("explain", "0", *lab.where)
        found |= used(lab)
    assert found == documented("inspect")


def test_probe(lab_of):
    found = set()
    for case in CASES:
        lab = lab_of(case, TRIM_HORIZON)
        lab.inspect("--probe")
        lab.dry("--probe")
        found |= used(lab)
    assert found == documented("probe")


def test_fix_and_undo(lab_of):
    found = set()
    for case in CASES:
        lab = lab_of(case, TRIM_HORIZON)
        lab.fix("--created", lab.created)
        for journal in lab.journals():
            assert lab.cli("undo", journal, "--yes", "--assume-stopped").code == 0
            journal.unlink()
        found |= used(lab)
    lab = lab_of("a-both", TRIM_HORIZON)
    moved_shard(lab)
    for operation in WRITES:
        lab.wire.fail(operation, "InternalServerError", 500, times=1)
    assert lab.fix().code == 0, "a lost answer is looked at, and the write done"
    found |= used(lab)
    assert found == documented("fix")
