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


def end_of(fake: FakeKinesis, shard: int) -> str:
    return str(fake.stream("orders").shards[shard].ending)


@pytest.mark.parametrize("stream", ["orders", ARN])
def test_a_backlog_is_seen_at_its_first_record(stream: str) -> None:
    fake = split_stream()
    since = at_number(number_of(fake, 0, 1))
    with over_http(fake) as asked:
        found = asked.kinesis.probe(stream, shard_id(0), since)
    third = number_of(fake, 0, 2)
    arrived = CREATED + 396.0
    assert found == Probe(since, False, arrived, third, 1, more=True, last_arrival=arrived)
    assert [call.action for call in fake.calls] == ["GetShardIterator", "GetRecords"]
    assert fake.calls[1].params["Limit"] == 1


@pytest.mark.parametrize("shard", [0, 1], ids=["closed", "open"])
def test_behind_the_last_record_nothing_is_left(shard: int) -> None:
    fake = split_stream()
    since = at_number(number_of(fake, shard, 3))
    found = in_process(fake).kinesis.probe("orders", shard_id(shard), since)
    assert found == Probe(since, drained=True)


def test_the_end_number_itself_counts_as_drained() -> None:
    """kinesis-mock#1536: AFTER_SEQUENCE_NUMBER on it is refused."""
    fake = split_stream()
    since = at_number(end_of(fake, 0))
    with over_http(fake) as asked:
        assert asked.kinesis.probe("orders", shard_id(0), since) == Probe(since, drained=True)
    assert "GetRecords" not in fake.actions


def test_an_empty_shard_is_drained_from_its_start() -> None:
    found = in_process(split_stream()).kinesis.probe("orders", shard_id(2), START)
    assert found == Probe(START, drained=True)


def test_over_and_settled_needs_no_call() -> None:
    fake = split_stream()
    assert in_process(fake).kinesis.probe("orders", shard_id(0), DONE) == Probe(DONE, drained=True)
    assert fake.calls == []


def test_the_tip_has_nothing_behind_it() -> None:
    found = in_process(split_stream()).kinesis.probe("orders", shard_id(1), TIP)
    assert found == Probe(TIP, drained=True)


def test_a_start_by_time() -> None:
    fake = split_stream()
    since = at_time(CREATED + 400.0)
    with over_http(fake) as asked:
        found = asked.kinesis.probe("orders", shard_id(0), since, limit_records=10)
    assert (found.first, found.count, found.more) == (number_of(fake, 0, 3), 1, False)
    with pytest.raises(ValueError, match="without the time"):
        in_process(fake).kinesis.probe("orders", shard_id(0), at_time(None))


@pytest.mark.parametrize(("limit", "count", "more"), [(2, 2, True), (4, 4, False), (5, 4, False)])
def test_counting_stops_at_its_bound(limit: int, count: int, more: bool) -> None:
    fake = split_stream()
    fake.faults.add("GetRecords", short_page(3), times=None)
    found = in_process(fake).kinesis.probe("orders", shard_id(0), START, limit_records=limit)
    assert (found.count, found.more, found.drained) == (count, more, False)


def test_empty_pages_are_followed_up_to_a_bound() -> None:
    fake = split_stream()
    fake.faults.add("GetRecords", short_page(0), times=4)
    asked = in_process(fake)
    assert asked.kinesis.probe("orders", shard_id(0), START, limit_calls=4) == Probe(
        START, drained=False, more=True
    )
    fake.faults.clear()
    fake.faults.add("GetRecords", short_page(0), times=4)
    assert asked.kinesis.probe("orders", shard_id(0), START, limit_calls=5).count == 1


def test_reads_of_a_shard_keep_their_distance() -> None:
    fake = split_stream()
    fake.settings.reads_per_second = 5
    fake.faults.add("GetRecords", short_page(0), times=8)
    asked = in_process(fake)
    asked.kinesis.probe("orders", shard_id(0), START)
    asked.kinesis.probe("orders", shard_id(0), START)
    asked.kinesis.probe("orders", shard_id(1), START)
    assert asked.waits == [PACE] * 9


def test_a_throttled_read_is_repeated() -> None:
    fake = split_stream()
    fake.faults.add("GetRecords", "ProvisionedThroughputExceededException", times=2)
    asked = in_process(fake)
    assert asked.kinesis.probe("orders", shard_id(0), START).count == 1
    assert asked.waits == [0.2, 0.4]


def test_an_expired_iterator_goes_on_where_the_walk_stood() -> None:
    fake = split_stream()
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


def test_a_head_that_was_not_reached_is_not_told() -> None:
    fake = split_stream()
    fake.faults.add("GetRecords", short_page(0), times=None)
    with pytest.raises(CannotTell, match="3 reads of shard shardId-000000000000"):
        in_process(fake).kinesis.head("orders", shard_id(0), limit_calls=3)


def test_a_shard_that_has_gone() -> None:
    fake = split_stream()
    fake.trim_shard("orders", 0)
    with pytest.raises(CannotTell, match="shard shardId-000000000000 of stream orders is gone"):
        in_process(fake).kinesis.probe("orders", shard_id(0), START)


def test_a_number_of_another_shard_is_not_taken_for_drained() -> None:
    """boto3#1478."""
    fake = split_stream()
    since = at_number(number_of(fake, 1, 0))
    with pytest.raises(CannotTell, match="It encodes shardId-000000000001"):
        in_process(fake).kinesis.probe("orders", shard_id(0), since)


def test_nothing_but_the_documented_actions_and_no_writes() -> None:
    from reshardctl.kinesis import ACTIONS

    fake = split_stream()
    asked = in_process(fake)
    asked.kinesis.lineage("orders")
    number = next(iter(fake.stream("orders").shards.values())).starting
    assert asked.kinesis.takes("orders", [number], "AT_SEQUENCE_NUMBER") == {number: True}
    assert {f"kinesis:{action}" for action in fake.actions} == set(ACTIONS["inspect"])
    asked.kinesis.head("orders", shard_id(0))
    assert {f"kinesis:{action}" for action in fake.actions} == set(ACTIONS["probe"])
    assert fake.mutating_calls == []
