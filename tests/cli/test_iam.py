"""The actions used are the actions documented: not one more, not one less."""

from __future__ import annotations

from reshardctl.model import shard_id
from reshardctl.testing.topology import stream_of
from tests.cli.lab import TRIM_HORIZON, Lab
from tests.whole.test_iam import documented

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
    lab.alter(shard_id(1), checkpoint={"S": moved_number(lab, lab.stream, 1)})


def moved_number(lab: Lab, stream: str, number: int) -> str:
    """A number of the later epoch to which a shard is moved."""
    shard = lab.fake.stream(stream).shards[number]
    shard.move_epoch(int(lab.fake.clock.now()) - 60)
    record = lab.fake.client("us-east-1").put_record(
        StreamName=stream, Data=b"x", PartitionKey="k", ExplicitHashKey=str(shard.low)
    )
    return str(record["SequenceNumber"])


def test_inspect(lab_of):
    found = set()
    for case in CASES:
        lab = lab_of(case, TRIM_HORIZON)
        if case == "a-both":
            moved_shard(lab)
        lab.inspect()
        lab.inspect("--wait", "1m")
        lab.dry("--policy", "latest-at-start")
        lab.cli("explain", *lab.where, "0")
        found |= used(lab)
    assert found == documented("inspect")


def younger(lab: Lab) -> str:
    """A number of another stream of the account, which that stream alone can tell to be its own."""
    lab.fake.add_stream(stream_of({
        "name": "clicks", "created": lab.fake.stream(lab.stream).created + 120,
        "shards": [{"id": 0, "range": ["0/1", "1/1"], "open": 0}],
    }))  # fmt: skip
    return moved_number(lab, "clicks", 0)


def test_the_stream_of_another_position_is_named(lab):
    """With `name`, which is optional; everything else works without."""
    lab.alter(shard_id(1), checkpoint={"S": younger(lab)})
    for look in (lab.inspect, lambda: lab.fix("--created", lab.created)):
        lab.wire.needed.clear()
        looked = look()
        assert "clicks" in looked.out + looked.err
        assert documented("name") <= lab.wire.needed
        further = lab.wire.needed - documented("inspect") - documented("fix")
        assert further == documented("name") - documented("inspect")


def test_discover(lab):
    moved_shard(lab)
    lab.cli("discover", lab.stream)
    lab.alter(shard_id(1), checkpoint={"S": younger(lab)})
    lab.cli("discover", lab.stream)
    assert lab.wire.needed == documented("discover")


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
    lab.wire.fail_writes("InternalServerError", 500, times=1)
    assert lab.fix().code == 0, "a lost answer is looked at, and the write done"
    found |= used(lab)
    assert found == documented("fix")
