"""Shards, children above all, that the query comes to late: what retention took of them is said."""

from __future__ import annotations

import pytest

from reshardctl.kinesis.fast import Overtaken
from reshardctl.spark.source.losses import DataLoss
from tests.unit.spark.source.drive import Crash, Query
from tests.unit.spark.source.streams import Living

HOUR, DAY = 3600, 86_400
BOTH = pytest.mark.parametrize("old", [True, False], ids=["4.0", "4.2"])


def parent_read_children_not(old: bool) -> tuple[Living, Query]:
    """A query that was stopped behind the batch that ends a parent: its children, in which records
    lie, are in no offset."""
    living = Living(1)
    living.put(0, 2)
    query = Query(living.fake, old)
    assert query.trigger()
    living.split(0)
    living.put(0, 2)
    living.put(1, 1)
    living.fake.clock.advance(20)
    assert query.trigger()
    assert list(query.newest["shards"]) == ["shardId-000000000000"]
    query.stop()
    return living, query


@BOTH
def test_of_which_retention_took_the_beginning_unread(old):
    living, query = parent_read_children_not(old)
    living.fake.clock.advance(DAY + HOUR)
    living.put(0, 1)
    with pytest.raises(DataLoss, match=r"shard 1 \(from .*Z\), shard 2 .*may have expired unread"):
        query.trigger()
    query.stop()
    query.options = {"failOnDataLoss": "false"}
    query.drain()
    assert query.data() == ["r0", "r1", "r5"]


@BOTH
def test_within_retention_all_of_it_is_read(old):
    living, query = parent_read_children_not(old)
    living.fake.clock.advance(DAY - HOUR)
    query.drain()
    assert query.data() == living.all()


@BOTH
def test_whose_first_batch_runs_again_when_retention_has_taken_its_beginning(old):
    living, query = parent_read_children_not(old)
    with pytest.raises(Crash):
        query.trigger(crash=True)
    living.fake.clock.advance(DAY + HOUR)
    with pytest.raises(DataLoss, match=r"shard 1 \(from .*Z\), shard 2 .*may have expired unread"):
        query.trigger()


@BOTH
def test_a_new_query_does_not_owe_what_is_taken_as_it_begins(old):
    """The parent is listed still as the first batch is planned, its children are not within
    retention any more when their turn comes."""
    living = Living(1)
    living.put(0, 2)
    living.split(0)
    living.put(0, 1)
    closed = living.stream.shards[0].closed
    assert closed is not None
    living.fake.clock.set(closed + DAY - 1)
    living.put(0, 1)
    living.put(1, 1)
    query = Query(living.fake, old)
    assert query.trigger()
    assert list(query.newest["shards"]) == ["shardId-000000000000"]
    living.fake.clock.advance(3)
    query.drain()
    assert set(query.data()) >= {"r3", "r4"}


@BOTH
def test_a_new_query_of_a_time_before_retention_gives_each_shard_its_turn(old):
    """Under a limit that lets one shard in at a time."""
    living = Living(2)
    living.fake.clock.advance(2 * DAY)
    living.put(0, 2)
    living.put(1, 2)
    living.fake.clock.advance(2)
    then = living.fake.clock.now() - DAY - HOUR
    options = {"startingPosition": f"AT_TIMESTAMP {then}", "maxRecordsPerTrigger": "1"}
    query = Query(living.fake, old, options)
    query.drain()
    assert query.data() == living.all()


@BOTH
def test_a_first_shard_without_a_share_that_waited_for_too_long(old):
    living = Living(2)
    living.put(0, 2)
    living.put(1, 2)
    living.fake.clock.advance(2)
    query = Query(living.fake, old, {"maxRecordsPerTrigger": "1"})
    assert query.trigger()
    query.stop()
    living.fake.clock.advance(2 * DAY)
    with pytest.raises(DataLoss, match=r"shard 0 \(from .*shard 1 \(from .*may have expired"):
        query.trigger()


@BOTH
@pytest.mark.parametrize("loss", ["true", "false"])
def test_retention_that_overtakes_a_batch_between_its_plan_and_its_reading(old, loss):
    living = Living(1)
    living.put(0, 1)
    query = Query(living.fake, old)
    query.drain()
    query.options = {"failOnDataLoss": loss}
    query.stop()
    living.put(0, 2)
    living.fake.clock.advance(DAY - 60)
    living.put(0, 1)
    query.start()
    planned = query.plans.latest(None if old else query.newest, None)
    living.fake.clock.advance(120)
    reading = query.read(query.plans.stretches(query.newest, planned))
    if loss == "false":
        assert [row.data for row in reading] == ["r3"]
        return
    with pytest.raises(Overtaken):
        list(reading)
