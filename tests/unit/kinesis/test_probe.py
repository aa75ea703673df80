"""Bounded reads of tails and heads."""

from __future__ import annotations

import pytest

from reshardctl.errors import CannotTell
from reshardctl.kinesis.probe import PACE
from reshardctl.model import DONE, START, TIP, Probe, at_number, at_time, shard_id
from reshardctl.testing import FakeKinesis
from reshardctl.testing.faults import short_page
from tests.unit.kinesis.streams import ARN, CREATED, in_process, over_http, split_stream


def number_of(fake: FakeKinesis, shard: int, index: int) -> str:
    return str(fake.stream("orders").shards[shard].records[index].number)


@pytest.mark.parametrize("stream", ["orders", ARN])
def test_a_backlog_is_seen_at_its_first_record(stream, fake):
    since = at_number(number_of(fake, 0, 1))
    with over_http(fake) as asked:
        found = asked.kinesis.probe(stream, shard_id(0), since)
    third = number_of(fake, 0, 2)
    arrived = CREATED + 396.0
    assert found == Probe(since, False, arrived, third, 1, more=True, last_arrival=arrived)
    assert [call.action for call in fake.calls] == ["GetShardIterator", "GetRecords"]
    assert fake.calls[1].params["Limit"] == 1


@pytest.mark.parametrize(("shard", "since", "calls"), [
    (0, lambda fake: at_number(number_of(fake, 0, 3)), 2),
    (1, lambda fake: at_number(number_of(fake, 1, 3)), 2),
    # kinesis-mock#1536: AFTER_SEQUENCE_NUMBER on it is refused.
    (0, lambda fake: at_number(str(fake.stream("orders").shards[0].ending)), 1),
    (2, lambda _: START, 2), (1, lambda _: TIP, 2), (0, lambda _: DONE, 0),
], ids=["last of closed", "last of open", "end number", "empty", "tip", "over and settled"])
def test_where_nothing_is_left(fake, asked, shard, since, calls):
    place = since(fake)
    found = asked.kinesis.probe("orders", shard_id(shard), place)
    assert found == Probe(place, drained=True)
    assert len(fake.calls) == calls


def test_a_start_by_time(fake):
    since = at_time(CREATED + 400.0)
    with over_http(fake) as asked:
        found = asked.kinesis.probe("orders", shard_id(0), since, limit_records=10)
    assert (found.first, found.count, found.more) == (number_of(fake, 0, 3), 1, False)
    with pytest.raises(ValueError, match="without the time"):
        in_process(fake).kinesis.probe("orders", shard_id(0), at_time(None))


@pytest.mark.parametrize(("limit", "count", "more"), [(2, 2, True), (4, 4, False), (5, 4, False)])
def test_counting_stops_at_its_bound(limit, count, more, fake):
    fake.faults.add("GetRecords", short_page(3), times=None)
    found = in_process(fake).kinesis.probe("orders", shard_id(0), START, limit_records=limit)
    assert (found.count, found.more, found.drained) == (count, more, False)


def test_empty_pages_are_followed_up_to_a_bound(fake, asked):
    fake.faults.add("GetRecords", short_page(0), times=4)
    assert asked.kinesis.probe("orders", shard_id(0), START, limit_calls=4) == Probe(
        START, drained=False, more=True
    )
    fake.faults.clear()
    fake.faults.add("GetRecords", short_page(0), times=4)
    assert asked.kinesis.probe("orders", shard_id(0), START, limit_calls=5).count == 1


def test_reads_of_a_shard_keep_their_distance(fake, asked):
    fake.settings.reads_per_second = 5
    fake.faults.add("GetRecords", short_page(0), times=8)
    asked.kinesis.probe("orders", shard_id(0), START)
    asked.kinesis.probe("orders", shard_id(0), START)
    asked.kinesis.probe("orders", shard_id(1), START)
    assert asked.waits == [PACE] * 9


def test_a_throttled_read_is_repeated(fake, asked):
    fake.faults.add("GetRecords", "ProvisionedThroughputExceededException", times=2)
    assert asked.kinesis.probe("orders", shard_id(0), START).count == 1
    assert asked.waits == [0.2, 0.4]


def test_an_expired_iterator_goes_on_where_the_walk_stood(fake):
    fake.faults.add("GetRecords", "ExpiredIteratorException", after=2)
    fake.faults.add("GetRecords", short_page(1), times=None)
    found = in_process(fake).kinesis.probe("orders", shard_id(0), START, limit_records=9)
    assert found.count == 4
    restart = [c.params for c in fake.calls if c.action == "GetShardIterator"][1]
    assert restart["StartingSequenceNumber"] == number_of(fake, 0, 1)


def test_the_oldest_record() -> None:
    fake = split_stream(trim=500)
    with over_http(fake) as asked:
        assert asked.kinesis.head("orders", shard_id(0)) == CREATED + 590
        assert asked.kinesis.head("orders", shard_id(2)) is None


def test_a_head_that_was_not_reached_is_not_told(fake):
    fake.faults.add("GetRecords", short_page(0), times=None)
    with pytest.raises(CannotTell, match="3 reads of shard shardId-000000000000"):
        in_process(fake).kinesis.head("orders", shard_id(0), limit_calls=3)


def test_a_shard_that_has_gone(fake, asked):
    fake.trim_shard("orders", 0)
    with pytest.raises(CannotTell, match="shard shardId-000000000000 of stream orders is gone"):
        asked.kinesis.probe("orders", shard_id(0), START)


def test_a_number_of_another_shard_is_not_taken_for_drained(fake):
    """boto3#1478."""
    since = at_number(number_of(fake, 1, 0))
    with pytest.raises(CannotTell, match="It encodes shardId-000000000001"):
        in_process(fake).kinesis.probe("orders", shard_id(0), since)


def test_nothing_but_the_documented_actions_and_no_writes(fake, asked):
    from reshardctl.kinesis import ACTIONS

    asked.kinesis.lineage("orders")
    number = next(iter(fake.stream("orders").shards.values())).starting
    assert asked.kinesis.takes("orders", [number], "AT_SEQUENCE_NUMBER") == {number: True}
    assert {f"kinesis:{action}" for action in fake.actions} == set(ACTIONS["inspect"])
    asked.kinesis.head("orders", shard_id(0))
    assert {f"kinesis:{action}" for action in fake.actions} == set(ACTIONS["probe"])
    assert fake.mutating_calls == []
