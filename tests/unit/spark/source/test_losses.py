"""What retention, a deletion or a wrong checkpoint takes is said, and never passed over unsaid."""

from __future__ import annotations

import json
import logging

import pytest

from reshardctl.errors import UsageError
from reshardctl.spark.source.latest import LISTED_FOR
from reshardctl.spark.source.losses import DataLoss
from reshardctl.testing.service import Settings
from tests.unit.spark.source.drive import NAME, Crash, Query
from tests.unit.spark.source.streams import CREATED, Living

HOUR, DAY = 3600, 86_400
BOTH = pytest.mark.parametrize("old", [True, False], ids=["4.0", "4.2"])
GO_ON = {"failOnDataLoss": "false"}


def read_some(old: bool = False, roots: int = 1) -> tuple[Living, Query]:
    """A query that has read three records of each shard and was stopped."""
    living = Living(roots)
    for place in range(roots):
        living.put(place, 3)
    query = Query(living.fake, old)
    query.drain()
    query.stop()
    return living, query


def go_on(query: Query) -> None:
    query.options = dict(GO_ON)
    query.drain()


@BOTH
def test_a_parent_that_was_trimmed_unread(old):
    living, query = read_some(old)
    living.put(0, 2)
    living.split(0)
    living.put(0, 1)
    living.fake.trim_shard(NAME, 0)
    expected = r"unread records have expired in shard 0 \(from .*Z to .*Z\)"
    with pytest.raises(DataLoss, match=expected) as lost:
        query.trigger()
    assert "reshardctl inspect spark:CHECKPOINT --stream orders" in lost.value.next
    assert "reshardctl audit SINK --stream orders" in lost.value.next
    assert '"failOnDataLoss", "false"' in lost.value.next
    query.stop()
    go_on(query)
    assert query.data() == ["r0", "r1", "r2", "r5"]
    assert "shardId-000000000000" not in query.newest["shards"]


@BOTH
def test_a_parent_that_was_read_to_its_end_may_go(old):
    living, query = read_some(old)
    living.split(0)
    living.fake.clock.advance(20)
    query.trigger()  # ends shard 0; its children are not in the offset yet
    query.stop()
    assert set(query.newest["shards"]) == {"shardId-000000000000"}
    living.put(0, 1)
    living.fake.trim_shard(NAME, 0)
    query.drain()
    assert query.data() == ["r0", "r1", "r2", "r3"]
    # Its mark is of no use any more, and goes with the next offset that is written.
    living.put(1, 1)
    living.fake.clock.advance(2)
    query.drain()
    assert set(query.newest["shards"]) == {"shardId-000000000001", "shardId-000000000002"}


@BOTH
def test_a_generation_that_came_and_went_while_the_query_was_down(old):
    living, query = read_some(old)
    living.split(0)
    living.fake.clock.advance(20)
    query.trigger()  # ends shard 0
    query.stop()
    living.put(0, 1)
    living.merge(0)  # shard 3, of 1 and 2
    living.put(0, 1)
    for shard in (0, 1, 2):
        living.fake.trim_shard(NAME, shard)
    with pytest.raises(DataLoss, match=r"shard 1 .all of it, until .*shard 2 .all of it"):
        query.trigger()
    query.stop()
    go_on(query)
    assert query.data() == ["r0", "r1", "r2", "r4"]
    assert set(query.newest["shards"]) == {"shardId-000000000003"}


@BOTH
def test_one_parent_of_a_merge_is_gone_the_other_is_unread(old):
    living, query = read_some(old, roots=2)
    living.put(0, 1)
    living.merge(0)
    living.put(0, 1)
    living.fake.trim_shard(NAME, 1)
    with pytest.raises(DataLoss, match="shard 1"):
        query.trigger()
    query.stop()
    go_on(query)
    assert query.data() == [f"r{n}" for n in range(8)]
    batches = [sorted(row.data for row in rows) for rows in query.delivered]
    assert batches.index(["r6"]) < batches.index(["r7"]), "the merged shard before its parent"


@BOTH
def test_a_stream_deleted_and_created_again(old):
    living, query = read_some(old)
    living.client.delete_stream(StreamName=NAME)
    living.fake.settle()
    living.fake.clock.advance(100)
    living.client.create_stream(StreamName=NAME, ShardCount=2)
    living.fake.settle()
    living.put(0, 2)
    with pytest.raises(DataLoss, match="deleted and created again at 20"):
        query.trigger()
    query.stop()
    go_on(query)
    assert query.data() == ["r0", "r1", "r2", "r3", "r4"]
    assert query.newest["created"] > CREATED + 100
    assert len(query.newest["shards"]) == 2


@BOTH
def test_the_same_from_an_offset_that_does_not_tell_its_stream(old):
    living, query = read_some(old)
    found = query.newest
    query.offsets[-1] = json.dumps({"shards": found["shards"]})
    living.client.delete_stream(StreamName=NAME)
    living.fake.settle()
    living.fake.clock.advance(300)
    living.client.create_stream(StreamName=NAME, ShardCount=1)
    living.fake.settle()
    living.put(0, 1)
    with pytest.raises(DataLoss, match="newest position in the checkpoint is of"):
        query.trigger()
    query.stop()
    go_on(query)
    assert query.data() == ["r0", "r1", "r2", "r3"]


@BOTH
def test_a_query_that_was_down_for_longer_than_retention(old):
    living, query = read_some(old)
    living.put(0, 2)
    living.fake.clock.advance(DAY + HOUR)
    living.put(0, 1)
    expected = r"shard 0 \(from .*1h\d*m? at most, may have expired unread"
    with pytest.raises(DataLoss, match=expected):
        query.trigger()
    query.stop()
    go_on(query)
    assert query.data() == ["r0", "r1", "r2", "r5"]


@BOTH
def test_past_retention_by_the_clock_but_not_trimmed_yet_is_no_loss(old):
    living, query = read_some(old)
    living.put(0, 2)
    living.stream.retention_hours = 48  # the service is slow to trim
    living.fake.clock.advance(DAY + HOUR)
    living.put(0, 1)
    view = living.stream

    def says_24(answer: dict) -> dict:
        answer["StreamDescriptionSummary"]["RetentionPeriodHours"] = 24
        return answer

    living.fake.faults.add(
        "DescribeStreamSummary", lambda request, proceed: says_24(proceed(request)), times=None
    )
    assert view.retention_hours == 48
    query.drain()
    assert query.data() == living.all()


@BOTH
def test_retention_that_was_raised_too_late(old):
    """In an incident: the query is down, somebody gives the stream a week, hours after a day."""
    living, query = read_some(old)
    living.put(0, 2)
    living.fake.clock.advance(DAY + HOUR)
    living.put(0, 1)
    living.client.increase_stream_retention_period(StreamName=NAME, RetentionPeriodHours=168)
    living.fake.clock.advance(HOUR)
    with pytest.raises(DataLoss, match=r"shard 0 \(from .*Z\).*retention was shorter before"):
        query.trigger()
    query.stop()
    go_on(query)
    assert query.data() == ["r0", "r1", "r2", "r5"]


@BOTH
def test_retention_that_was_raised_too_late_for_a_shard_that_is_not_in_the_open_batch(old):
    living, query = read_some(old, roots=2)
    living.fake.clock.advance(HOUR)
    living.put(1, 1)
    query.drain()
    living.put(1, 1)
    living.fake.clock.advance(1)
    with pytest.raises(Crash):
        query.trigger(crash=True)
    living.fake.clock.advance(DAY - HOUR / 2)
    living.client.increase_stream_retention_period(StreamName=NAME, RetentionPeriodHours=168)
    query.trigger()
    with pytest.raises(DataLoss, match=r"missing in shard 0 \(from .*Z\) before its time"):
        query.trigger()


@BOTH
@pytest.mark.parametrize("down", [True, False])
def test_retention_that_was_raised_too_late_for_a_shard_without_a_record_read(old, down):
    """No record can be looked up there: the offset tells what retention was."""
    living = Living(1)
    query = Query(living.fake, old)
    query.trigger()
    if down:
        query.stop()
    living.put(0, 1)
    living.fake.clock.advance(DAY + HOUR)
    living.client.increase_stream_retention_period(StreamName=NAME, RetentionPeriodHours=48)
    with pytest.raises(DataLoss, match=r"shard 0 \(from .*Z\): records up to"):
        query.trigger()
    query.stop()
    go_on(query)
    assert query.data() == []


@BOTH
def test_retention_that_was_raised_while_a_shard_lay_idle(old):
    """The offset notes it at once: what comes later is measured by it."""
    living = Living(1)
    query = Query(living.fake, old)
    query.trigger()
    living.fake.clock.advance(HOUR)
    living.client.increase_stream_retention_period(StreamName=NAME, RetentionPeriodHours=168)
    living.fake.clock.advance(HOUR)
    assert query.trigger() and query.newest["retention"] == 7 * DAY
    query.stop()
    living.fake.clock.advance(3 * DAY)
    living.put(0, 1)
    query.drain()
    assert query.data() == living.all()


@BOTH
@pytest.mark.parametrize("idle", [True, False])
def test_retention_that_was_raised_in_time(old, idle):
    living, query = read_some(old)
    living.client.increase_stream_retention_period(StreamName=NAME, RetentionPeriodHours=168)
    if idle:
        for _ in range(5 * 24):
            living.fake.clock.advance(2 * HOUR)
            query.trigger()
        query.stop()
    living.fake.clock.advance(3 * DAY)
    living.put(0, 1)
    query.drain()
    assert query.data() == living.all()


@BOTH
def test_an_idle_shard_of_a_running_query_loses_nothing(old):
    living, query = read_some(old)
    for _ in range(20 * 6):
        living.fake.clock.advance(4 * HOUR)
        query.trigger()
    # Five times a retention, refreshed a few times a day, and not at each trigger.
    assert 20 * 3 <= len(query.offsets) <= 20 * 5
    query.stop()
    living.fake.clock.advance(10 * HOUR)
    living.put(0, 1)
    query.drain()
    assert query.data() == living.all()


@BOTH
def test_an_empty_child_that_waited_longer_than_retention(old):
    living, query = read_some(old)
    living.split(0)
    query.drain()
    query.stop()
    living.fake.clock.advance(DAY + HOUR)
    with pytest.raises(DataLoss, match=r"shard 1 .*shard 2"):
        query.trigger()


@BOTH
def test_a_batch_to_run_again_whose_records_are_gone(old):
    living, query = read_some(old)
    living.put(0, 2)
    living.fake.clock.advance(1)
    with pytest.raises(Crash):
        query.trigger(crash=True)
    living.fake.clock.advance(2 * DAY)
    with pytest.raises(DataLoss, match="may have expired unread"):
        query.trigger()


@BOTH
def test_a_batch_to_run_again_of_a_stream_that_is_gone(old):
    living, query = read_some(old)
    living.put(0, 2)
    living.fake.clock.advance(1)
    with pytest.raises(Crash):
        query.trigger(crash=True)
    living.client.delete_stream(StreamName=NAME)
    living.fake.settle()
    living.fake.clock.advance(100)
    living.client.create_stream(StreamName=NAME, ShardCount=1)
    living.fake.settle()
    living.put(0, 1)
    with pytest.raises(DataLoss, match="deleted and created again"):
        query.trigger()
    query.stop()
    go_on(query)
    assert query.data() == ["r0", "r1", "r2", "r5"]


def test_what_is_passed_over_is_logged_once_and_counted(caplog):
    living, query = read_some()
    living.put(0, 2)
    living.fake.clock.advance(DAY + HOUR)
    query.options = dict(GO_ON)
    with caplog.at_level(logging.WARNING, "reshardctl.spark.source"):
        query.drain()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "may have expired unread" in caplog.text
    assert "failOnDataLoss is false" in caplog.text
    report = query.plans.progress.report()
    assert report is not None
    assert report["losses"] == 1


@BOTH
def test_a_checkpoint_of_another_stream(old):
    _, query = read_some(old)
    query.offsets[-1] = query.offsets[-1].replace('"stream": "orders"', '"stream": "payments"')
    with pytest.raises(UsageError, match=r"positions in stream payments, but .* stream orders"):
        query.trigger()


@BOTH
def test_a_stream_made_anew_is_read_from_its_beginning_also_by_a_query_of_latest(old):
    living, query = read_some(old)
    recreate(living)
    living.put(0, 2)
    living.split(0)
    living.put(0, 1)
    living.fake.clock.advance(20)
    query.options = {**GO_ON, "startingPosition": "LATEST"}
    query.drain()
    batches = [sorted(row.data for row in rows) for rows in query.delivered]
    assert batches[-2:] == [["r3", "r4"], ["r5"]], "not parents first"


@BOTH
def test_a_stream_made_anew_under_a_listing_that_is_still_held(old):
    living = Living(1, settings=Settings(create_seconds=0.5, delete_seconds=0.5))
    living.put(0, 3)
    query = Query(living.fake, old)
    query.drain()
    living.fake.clock.advance(LISTED_FOR)
    query.trigger()
    recreate(living, pause=2)
    living.put(0, 1)
    with pytest.raises(DataLoss, match="deleted and created again"):
        query.trigger()


@BOTH
def test_a_child_that_had_no_share_and_then_waited_for_too_long(old):
    living, query = read_some(old)
    living.split(0)
    living.put(0, 1)
    living.put(1, 1)
    living.fake.clock.advance(2)
    query.options = {"maxRecordsPerTrigger": "1"}
    query.trigger()
    query.trigger()
    waiting = [place for place in query.newest["shards"].values() if not place["seq"]]
    assert [set(place) for place in waiting if not place["end"]] == [{"seq", "end", "tip"}]
    query.stop()
    living.fake.clock.advance(DAY + HOUR)
    with pytest.raises(DataLoss, match=r"shard 1 .*shard 2 .*may have expired unread"):
        query.trigger()


def recreate(living: Living, pause: float = 100) -> None:
    living.client.delete_stream(StreamName=NAME)
    living.fake.settle()
    living.fake.clock.advance(pause)
    living.client.create_stream(StreamName=NAME, ShardCount=1)
    living.fake.settle()
