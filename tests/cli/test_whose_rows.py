"""Whose rows are these? Tables of another stream, tables that two streams share, mistyped streams.

The numbers are FakeKinesis's, in AWS's layout. That Kinesis refuses the number of another stream:
kinesis-connectors#8 and logstash-input-kinesis#22 (AWS), kinesalite's tests against AWS, and
ferrokinesis 0.7.0. That the first shards' epoch is the creation time less three seconds: seven of
seven public samples.
"""

from __future__ import annotations

from typing import Any

import pytest

from reshardctl.model import shard_id
from tests.cli.lab import TRIM_HORIZON, Item, Lab

CREATED = 1795219200
HOUR = 3600


def topology(name: str, created: int, shards: int, now: int) -> dict[str, Any]:
    """A stream whose shards get a record every few minutes, until a minute before the time."""
    return {
        "name": name, "created": created, "now": now - created,
        "shards": [
            {
                "id": i, "range": [f"{i}/{shards}", f"{i + 1}/{shards}"], "open": 0,
                "records": {"n": 20, "from": 100, "to": now - created - 60},
            } for i in range(shards)
        ],
    }


def lease(shard: int, position: int | str, counter: int = 7) -> Item:
    return {
        "leaseKey": {"S": shard_id(shard)}, "checkpoint": {"S": str(position)},
        "checkpointSubSequenceNumber": {"N": "0"}, "leaseCounter": {"N": str(counter)},
        "leaseOwner": {"S": "w1"}, "ownerSwitchesSinceCheckpoint": {"N": "0"},
    }


@pytest.fixture
def streams(lab_of) -> Lab:
    """`orders`, and `payments`, which is two hours younger; the table is empty."""
    from reshardctl.testing.topology import stream_of

    lab: Lab = lab_of("a-both", TRIM_HORIZON, items=[])
    now = int(lab.fake.clock.now())
    for name, age, shards in (("first", 6 * HOUR, 4), ("second", 4 * HOUR, 6)):
        lab.fake.add_stream(stream_of(topology(name, now - age, shards, now)))
    return lab


def numbers(lab: Lab, stream: str, record: int = 18) -> list[int]:
    shards = lab.fake.stream(stream).shards
    return [shards[i].records[record].number for i in sorted(shards)]


def asked(lab: Lab) -> list[str]:
    return [call.action for call in lab.fake.calls if call.action == "GetShardIterator"]


VERBS = ("inspect", "inspect --probe", "status", "status --probe", "explain 0", "fix --dry-run",
         "fix --yes --assume-stopped", "fix --shift -1h --live --yes --accept reread=3h",
         "fix --policy latest --yes --assume-stopped --accept skip=all",
         "export", "graph")  # fmt: skip


def call(lab: Lab, words: str):
    verb, *more = words.split()
    shards = more[:1] if verb == "explain" else []
    return lab.cli(verb, *shards, *lab.where, *more[len(shards):])


@pytest.mark.parametrize("words", VERBS)
def test_a_table_of_a_younger_stream_is_refused(streams, words):
    """Every number lies between the first and the last one of this stream's shards."""
    streams.plant(*(lease(i, n) for i, n in enumerate(numbers(streams, "second")[:4])))
    before = streams.items()
    streams.stream = "first"
    result = call(streams, words)
    assert result.code == 2, result.out + result.err
    assert result.says("belongs to another stream", "Its numbers are of stream second")
    assert streams.items() == before and streams.wire.writes == []


@pytest.mark.parametrize("words", VERBS)
def test_a_table_of_an_older_stream_that_is_still_there_is_refused(streams, words):
    """A mistyped --stream must not look like a stream that was deleted and made again."""
    streams.plant(*(lease(i, n) for i, n in enumerate(numbers(streams, "first"))))
    before = streams.items()
    streams.stream = "second"
    result = call(streams, words)
    assert result.code == 2, result.out + result.err
    assert result.says("belongs to another stream", "Its numbers are of stream first")
    assert "--recreated" not in result.out + result.err
    assert streams.items() == before and streams.wire.writes == []


def shared(lab: Lab) -> dict[str, Item]:
    """One lease table of two applications (KCL 1.9: amazon-kinesis-client#62)."""
    first, second = numbers(lab, "first"), numbers(lab, "second")
    lab.plant(lease(0, first[0]), lease(2, first[2]),
              *(lease(i, second[i]) for i in (1, 3, 4, 5)))  # fmt: skip
    return lab.items()


@pytest.mark.parametrize(("stream", "other", "theirs", "unborn"), [
    ("first", "second", [1, 3], [4, 5]), ("second", "first", [0, 2], []),
])  # fmt: skip
def test_a_table_that_two_streams_share(streams, stream, other, theirs, unborn):
    before = shared(streams)
    streams.stream = stream
    report = streams.inspect("--format", "json").json
    found = {f["code"]: f for f in report["findings"]}
    assert found["RSH207"]["shards"] == [shard_id(i) for i in theirs]
    assert f"stream {other}" in found["RSH207"]["what"]
    assert found.get("RSH212", {"shards": []})["shards"] == [shard_id(i) for i in unborn]
    for more in ([], ["--policy", "latest"], ["--shift", "-1h"], ["--recreated", streams.created],
                 ["--set", f"{theirs[0]}=TRIM_HORIZON"]):  # fmt: skip
        streams.fix("--accept", "reread=all,skip=all,disorder", *more)
        after = streams.items()
        assert {key: after[shard_id(key)] for key in theirs + unborn} == {
            key: before[shard_id(key)] for key in theirs + unborn
        }, more


@pytest.mark.parametrize("streams_known", [True, False])
def test_rows_older_than_the_stream_are_moved_after_the_operator_s_word_only(
    streams, streams_known
):
    """Where no stream of the account is their owner, an earlier stream of this name may be."""
    first, second = numbers(streams, "first", record=0), numbers(streams, "second")
    streams.plant(lease(0, first[0]), *(lease(i, second[i]) for i in range(1, 6)))
    if not streams_known:
        streams.wire.fail("ListStreams", "AccessDeniedException")
    streams.stream = "second"
    before = streams.items()
    left = streams.fix("--accept", "reread=all")
    assert left.code == 1 and streams.items() == before
    streams.fix("--accept", "reread=all", "--recreated", streams.created)
    after = streams.items()
    moved = {key for key in before if before[key] != after[key]}
    assert moved == (set() if streams_known else {shard_id(0)})


def moved_epochs(lab: Lab, stream: str = "first") -> None:
    """The shards' numbers carry a later epoch, as after AWS moves a shard."""
    for shard in lab.fake.stream(stream).shards.values():
        shard.move_epoch(int(lab.fake.clock.now()) - 1800)
    for key in range(4):
        lab.fake.client("us-east-1").put_record(
            StreamName=stream, Data=b"x", PartitionKey="k",
            ExplicitHashKey=str(key * (1 << 126)),
        )
    lab.plant(*(lease(i, s.records[-1].number) for i, s in lab.fake.stream(stream).shards.items()))


def test_numbers_of_a_moved_shard_are_asked_about_and_taken(streams):
    moved_epochs(streams)
    streams.stream = "first"
    streams.fake.calls.clear()
    result = streams.inspect()
    assert result.code == 0, result.out
    assert 0 < len(asked(streams)) <= 5


def test_numbers_that_their_epoch_proves_are_not_asked_about(streams):
    streams.plant(*(lease(i, n) for i, n in enumerate(numbers(streams, "first"))))
    streams.stream = "first"
    streams.fake.calls.clear()
    assert streams.inspect().code == 0
    assert asked(streams) == []


@pytest.mark.parametrize("of", ["first", "second"])
def test_without_permission_reports_say_so_and_nothing_is_written(streams, of):
    if of == "first":
        moved_epochs(streams)
    else:
        streams.plant(*(lease(i, n) for i, n in enumerate(numbers(streams, of)[:4])))
    streams.wire.fail("GetShardIterator", "AccessDeniedException")
    streams.stream = "first"
    before = streams.items()
    report = streams.inspect("--format", "json").json
    assert any("not verified" in note for note in report["notes"])
    refused = streams.fix("--set", "0=TRIM_HORIZON", "--accept", "reread=all")
    assert refused.code == 4, refused.out + refused.err
    assert refused.says("not verified", "kinesis:GetShardIterator")
    assert streams.items() == before


def test_every_number_that_a_plan_rests_on_is_verified_before_the_first_write(streams):
    moved_epochs(streams)
    streams.stream = "first"
    streams.fake.calls.clear()
    done = streams.fix("--set", "0=TRIM_HORIZON", "--accept", "reread=all")
    assert done.code == 0, done.err
    assert asked(streams)


def test_a_saved_plan_is_verified_again(streams, tmp_path):
    """The row was swapped for another stream's while the plan lay in a review."""
    moved_epochs(streams)
    streams.stream = "first"
    saved = streams.dry("--set", "0=TRIM_HORIZON", "--out", tmp_path / "a.plan")
    assert saved.code == 1, saved.err
    streams.wire.fail("GetShardIterator", "AccessDeniedException")
    before = streams.items()
    refused = streams.cli("fix", "--plan", tmp_path / "a.plan", "--yes", "--assume-stopped",
                          "--accept", "reread=all")  # fmt: skip
    assert refused.code == 4 and refused.says("not verified")
    assert streams.items() == before


def test_the_price_says_how_many_positions_are_forgotten(lab_of):
    lab = lab_of("recreated", TRIM_HORIZON)
    shown = lab.dry("--recreated", lab.created, "--format", "text")
    assert f"orgets {len(lab.items())} stored positions" in shown.out
