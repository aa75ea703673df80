"""The lineage as it would be, beside what the fake service makes of the same reshards."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from reshardctl.errors import CannotTell, UsageError
from reshardctl.kinesis import Kinesis
from reshardctl.lineage import Lineage, foresee, parse_reshard
from reshardctl.lineage.reshards import TAKES
from reshardctl.model import HASH_SPACE, decode, shard_id
from reshardctl.testing import FakeKinesis, load_topology
from reshardctl.testing.service import Settings
from tests.proof.exhaustive.histories import random_stream
from tests.support.fake_time import sleep_of
from tests.support.grouped import by_case
from tests.support.reshards import reshard
from tests.unit.lineage.histories import STREAM, fresh

CREATED = 1_795_219_200


def uniform(count: int, **changes: Any) -> FakeKinesis:
    shards = [{"id": i, "range": [f"{i}/{count}", f"{i + 1}/{count}"]} for i in range(count)]
    table = {"name": "orders", "created": CREATED, "now": 3600, "shards": shards, **changes}
    return load_topology(table, settings=Settings(reshard_seconds=TAKES))


def listed(fake: FakeKinesis) -> Lineage:
    return Kinesis.of_client(fake.client(), sleep=sleep_of(fake)).lineage("orders")


def shape(lineage: Lineage) -> dict[str, Any]:
    """Everything but times and numbers."""
    return {
        shard: (one.parent, one.adjacent, one.hash_start, one.hash_end, one.open)
        for shard in lineage for one in [lineage[shard]]
    }


def foreseen(fake: FakeKinesis, *words: str) -> Lineage:
    return foresee(listed(fake), [parse_reshard(word) for word in words], fake.clock.now()).lineage


def refused(fake: FakeKinesis, *words: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        foreseen(fake, *words)
    return caught.value


def test_four_to_three_as_aws_did_it() -> None:
    # Recorded answer of AWS, risingwave#9961: split 1, merge 0+4, split 2, merge 5+7, merge 8+3.
    lineage = foreseen(uniform(4), "3")
    parents = {
        int(shard[8:]): tuple(int(p[8:]) for p in lineage[shard].parents) for shard in lineage
    }
    assert parents == {
        0: (), 1: (), 2: (), 3: (), 4: (1,), 5: (1,), 6: (0, 4), 7: (2,), 8: (2,), 9: (5, 7),
        10: (8, 3),
    }  # fmt: skip
    assert [int(s[8:]) for s in lineage.open_shards()] == [6, 9, 10]
    assert lineage.ancestors(shard_id(9)) == {shard_id(i) for i in (1, 2, 5, 7)}
    assert lineage.breaches() == [], "though shards lived for seconds"
    edges = [i * HASH_SPACE // 3 for i in range(4)]
    assert [lineage[s].hash_start for s in lineage.open_shards()] == edges[:3]


@pytest.mark.parametrize(("current", "target"), [
    (1, 1), (1, 2), (2, 1), (3, 5), (5, 3), (7, 13), (10, 5), (4, 8), (8, 4), (6, 4), (9, 10),
])  # fmt: skip
def test_a_count_as_the_fake_makes_it(current: int, target: int) -> None:
    fake = uniform(current)
    told = foreseen(fake, str(target))
    reshard(fake, "orders", str(target))
    assert shape(told) == shape(listed(fake))
    assert told.stream.open_shards == target == listed(fake).stream.open_shards


@by_case((f"seeds of {seed % 5}", str(seed), (seed,)) for seed in range(60))
def test_any_reshard_of_any_stream_as_the_fake_makes_it(seed: int) -> None:
    rng = Random(seed)
    fake = load_topology(
        {"name": "orders", **random_stream(rng)}, settings=Settings(reshard_seconds=TAKES)
    )
    words: list[str] = []
    for _ in range(rng.choice((1, 1, 2))):
        words.append(some_reshard(rng, listed(fake) if not words else foreseen(fake, *words)))
    told = foreseen(fake, *words)
    for word in words:
        reshard(fake, "orders", word)
    assert shape(told) == shape(listed(fake))
    assert not told.breaches()


def some_reshard(rng: Random, lineage: Lineage) -> str:
    """One that the service would take."""
    opened = sorted(map(lineage.__getitem__, lineage.open_shards()), key=lambda s: s.hash_start)
    kind, at = rng.choice(("split", "key", "merge", "count")), rng.randrange(len(opened))
    number = int(opened[at].id[8:])
    if kind == "merge" and at + 1 < len(opened):
        return f"merge={number},{int(opened[at + 1].id[8:])}"
    if kind == "count":
        return str(rng.randint(max(1, -(-len(opened) // 2)), 2 * len(opened)))
    if kind == "key":
        return f"split={number}@{rng.randint(opened[at].hash_start + 2, opened[at].hash_end - 1)}"
    return f"split={number}"


def test_numbers_are_laid_out_as_those_of_the_service() -> None:
    # Six closed shards and ten children of public streams (tests/golden/sequence_numbers.json):
    # index 2**63 - 1 and the second of the close; children one second later, index 0.
    fake = uniform(2)
    lineage = foreseen(fake, "split=1", "merge=0,2")
    closing = int(fake.clock.now()) + TAKES
    ends = {s: decode(end) for s in lineage if (end := lineage[s].end) is not None}
    assert {int(s[8:]): (e.shard, e.time, e.is_end) for s, e in ends.items() if e} == {
        0: (0, closing, True), 1: (1, closing, True), 2: (2, closing + 1, True),
    }  # fmt: skip
    starts = {s: decode(lineage[s].start) for s in map(shard_id, (2, 3, 4))}
    assert {int(s[8:]): (d.shard, d.epoch, d.time, d.index) for s, d in starts.items() if d} == {
        2: (2, closing + 1, closing + 1, 0), 3: (3, closing + 1, closing + 1, 0),
        4: (4, closing + 2, closing + 2, 0),
    }  # fmt: skip
    assert {len(lineage[s].start) for s in lineage} == {56}


def test_an_end_is_above_every_number_that_was_given_out() -> None:
    # Epochs move during a shard's life (PUT-Firehose-aEhWz 2022), and the end's is the last.
    fake = uniform(1)
    fake.stream("orders").shards[0].move_epoch(int(fake.clock.now()) + 5)
    newest = fake.put("orders", 0, "x").number
    end = foreseen(fake, "split=0")[shard_id(0)].end
    assert end is not None and int(end) > newest


@pytest.mark.parametrize(("words", "exception", "why", "way"), [
    ("split=99", "ResourceNotFoundException", "no shard 99", "open shards: 1, 2, 3, 4"),
    ("split=0", "InvalidArgumentException", "shard 0 is closed", "open shards: 1, 2, 3, 4"),
    ("merge=0,3", "InvalidArgumentException", "shard 0 is closed", "open shards"),
    ("merge=1,3", "InvalidArgumentException", "1 and 3 are not an adjacent pair",
     "neighbours: merge=4,1, merge=1,2"),
    ("merge=2,1", "InvalidArgumentException", "the lower one first", "--if-reshard merge=1,2"),
    ("merge=1,1", "InvalidArgumentException", "not an adjacent pair", "neighbours"),
    *((f"split=1@{key}", "InvalidArgumentException", f"hash key {key} is not both greater",
       "none for the mid") for key in (0, 1 + HASH_SPACE // 3, 2 * HASH_SPACE // 3 - 1)),
    ("0", "InvalidArgumentException", "0 is not between half and double the 4", "2 at least and 8"),
    ("1", "InvalidArgumentException", "1 is not between half", "once for each"),
    ("9", "InvalidArgumentException", "9 is not between half", "8 at most"),
    ("10000", "InvalidArgumentException", "10000 is not between half", "8 at most"),
    ("10001", "LimitExceededException", "more than 10000", "raise the limit"),
])  # fmt: skip
def test_what_the_service_would_refuse(words: str, exception: str, why: str, way: str) -> None:
    # UpdateShardCount, SplitShard, MergeShards API references; adjacency and keys as kinesalite's
    # tests, which run against AWS, have them.
    fake = uniform(3)
    reshard(fake, "orders", "split=0")
    error = refused(fake, words)
    assert f"({exception})" in error.what and why in error.what, error.what
    assert way in error.next, error.next


@pytest.mark.parametrize("key", [2, HASH_SPACE // 2 - 2], ids=["the lowest", "the highest"])
def test_a_shard_is_split_at_any_key_that_the_service_takes(key: int) -> None:
    """Greater than one plus the first, less than the last: SplitShard API reference."""
    fake = uniform(2)
    told = foreseen(fake, f"split=0@{key}")
    reshard(fake, "orders", f"split=0@{key}")
    assert shape(told) == shape(listed(fake))
    assert told[shard_id(3)].hash_start == key


def test_the_second_of_two_sees_what_the_first_made() -> None:
    fake = uniform(2)
    assert "shard 0 is closed" in refused(fake, "split=0", "split=0").what
    assert [int(s[8:]) for s in foreseen(fake, "4", "8").open_shards()] == list(range(6, 14))


def test_an_on_demand_stream_scales_by_itself() -> None:
    error = refused(uniform(4, mode="ON_DEMAND"), "8")
    assert "ValidationException" in error.what and "on-demand" in error.what


def test_a_stream_that_changes_is_waited_for() -> None:
    fake = uniform(2)
    client = fake.client()
    client.update_shard_count(
        StreamName="orders", TargetShardCount=4, ScalingType="UNIFORM_SCALING"
    )
    lineage = Kinesis.of_client(client, sleep=lambda _: None).lineage("orders")
    assert lineage.stream.status == "UPDATING"
    with pytest.raises(CannotTell, match="ResourceInUseException") as caught:
        foresee(lineage, [parse_reshard("split=0")], fake.clock.now())
    assert "--wait" in caught.value.next


def test_ids_that_are_not_those_of_kinesis_have_no_next_one() -> None:
    # DynamoDB Streams names its shards shardId- and a time; "s0000" is nobody's.
    lineage = Lineage(STREAM, fresh(2).shards(lambda index: f"s{index:04d}"))
    with pytest.raises(UsageError, match="shard ids are not shardId- and a number"):
        foresee(lineage, [parse_reshard("4")], CREATED + 60)


@pytest.mark.parametrize("text", [
    "", "x", "-1", "1.5", "split", "split=", "split=a", "split=1,2", "split=1@", "split=1@0x10",
    "merge=1", "merge=1,2,3", "merge=", "split=shardId-1", "8 ", "٣", "1000000000", "count=8",
])  # fmt: skip
def test_words_that_name_no_reshard(text: str) -> None:
    with pytest.raises(UsageError, match="no reshard") as caught:
        parse_reshard(text)
    assert "split=SHARD" in caught.value.next


@pytest.mark.parametrize(("text", "spelled"), [
    ("8", "8"), ("split=7", "split=7"), ("split=shardId-000000000007@12", "split=7@12"),
    ("merge=3,shardId-000000000004", "merge=3,4"),
])  # fmt: skip
def test_words_that_name_one(text: str, spelled: str) -> None:
    assert str(parse_reshard(text)) == spelled
