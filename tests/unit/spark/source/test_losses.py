"""What retention, a deletion or a wrong checkpoint takes is said, and never passed over unsaid."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass

import pytest

from reshardctl.errors import UsageError
from reshardctl.kinesis.fast import Overtaken
from reshardctl.model import shard_id
from reshardctl.spark.source.latest import LISTED_FOR
from reshardctl.spark.source.losses import DataLoss
from reshardctl.testing.service import Settings
from tests.unit.spark.source.drive import Query
from tests.unit.spark.source.streams import Living, lived, order_held, play, steps

HOUR, DAY = 3600, 86_400
BOTH = pytest.mark.parametrize("old", [True, False], ids=["4.0", "4.2"])
GO_ON = {"failOnDataLoss": "false"}


def go_on(query: Query) -> None:
    query.stop()
    query.options = dict(GO_ON)
    query.drain()


@dataclass(frozen=True)
class Loss:
    """A history, what the next trigger says, and what a query that goes on has in the end, with the
    shards of its newest offset. rows "gone": those of a batch that runs again are, which is for the
    executors to pass over (test_pieces.py)."""

    history: str
    said: str
    rows: str
    shards: set[int]
    roots: int = 1


READ = "put 0 3, drain, stop, "
"""A query that has read three records and was stopped."""
ENDED = READ + "split 0, wait 20, trigger, stop, "
"""The same, and shard 0 to its end; its children are in no offset yet."""
BEHIND = "put 0 2, trigger, split 0, put 0 2, put 1 1, wait 20, trigger, stop, "
"""The same, with records in the children."""
LOSSES = {
    "a parent that was trimmed unread": Loss(
        READ + "put 0 2, split 0, put 0 1, trim 0",
        r"unread records have expired in shard 0 \(from .*Z to .*Z\)", "r0 r1 r2 r5", {1, 2},
    ),
    "a generation that came and went while the query was down": Loss(
        ENDED + "put 0 1, merge 0, put 0 1, trim 0, trim 1, trim 2",
        r"shard 1 .all of it, until .*shard 2 .all of it", "r0 r1 r2 r4", {3},
    ),
    "one parent of a merge, the other is unread": Loss(
        "put 0 3, put 1 3, drain, stop, put 0 1, merge 0, put 0 1, trim 1", "shard 1",
        "r0 r1 r2 r3 r4 r5 r6 r7", {0, 2}, roots=2,
    ),
    "a stream that was deleted and created again": Loss(
        READ + "recreate 2, put 0 2", "deleted and created again at 20", "r0 r1 r2 r3 r4", {0, 1},
    ),
    "a query that was down for longer than retention": Loss(
        READ + "put 0 2, wait 25h, put 0 1",
        r"shard 0 \(from .*1h\d*m? at most, may have expired unread", "r0 r1 r2 r5", {0},
    ),
    # In an incident: the query is down, somebody gives the stream a week, hours after a day.
    "retention that was raised too late": Loss(
        READ + "put 0 2, wait 25h, put 0 1, raise 168, wait 1h",
        r"shard 0 \(from .*Z\).*retention was shorter before", "r0 r1 r2 r5", {0},
    ),
    "retention that was raised too late for a shard that is not in the open batch": Loss(
        "put 0 3, put 1 3, drain, stop, wait 1h, put 1 1, drain, put 1 1, wait 1, die, wait 84600, "
        "raise 168, trigger",
        r"missing in shard 0 \(from .*Z\) before its time", "r0 r1 r2 r3 r4 r5 r6 r7", {0, 1},
        roots=2,
    ),
    # No record can be looked up there: the offset tells what retention was.
    "retention that was raised too late for a shard without a record read": Loss(
        "trigger, stop, put 0 1, wait 25h, raise 48", r"shard 0 \(from .*Z\): records up to", "",
        {0},
    ),
    "the same in a query that runs": Loss(
        "trigger, put 0 1, wait 25h, raise 48", r"shard 0 \(from .*Z\): records up to", "", {0},
    ),
    "an empty child that waited for longer than retention": Loss(
        READ + "split 0, drain, stop, wait 25h", r"shard 1 .*shard 2", "r0 r1 r2", {1, 2},
    ),
    "a batch to run again whose records are gone": Loss(
        READ + "put 0 2, wait 1, die, wait 48h", "may have expired unread", "gone", {0},
    ),
    "a batch to run again of a stream that is gone": Loss(
        READ + "put 0 2, wait 1, die, recreate 1, put 0 1", "deleted and created again",
        "r0 r1 r2 r5", {0},
    ),
    "children that had no share and then waited for too long": Loss(
        READ + "split 0, put 0 1, put 1 1, wait 2, limit 1, trigger, trigger, stop, wait 25h",
        r"shard 1 .*shard 2 .*may have expired unread", "r0 r1 r2 r3", {1, 2},
    ),
    "first shards, one without a share, that waited for too long": Loss(
        "put 0 2, put 1 2, wait 2, limit 1, trigger, stop, wait 48h",
        r"shard 0 \(from .*shard 1 \(from .*may have expired", "r0", {0, 1}, roots=2,
    ),
    "children in no offset of which retention took the beginning": Loss(
        BEHIND + "wait 25h, put 0 1",
        r"shard 1 \(from .*Z\), shard 2 .*may have expired unread", "r0 r1 r5", {1, 2},
    ),
    "children whose first batch runs again when retention has taken its beginning": Loss(
        BEHIND + "die, wait 25h", r"shard 1 \(from .*Z\), shard 2 .*may have expired unread",
        "gone", {1, 2},
    ),
}  # fmt: skip


@BOTH
@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_ends_the_query_and_is_passed_over_where_that_is_asked_for(name, old):
    loss = LOSSES[name]
    living, query = lived(old, loss.history, loss.roots)
    with pytest.raises(DataLoss, match=loss.said) as lost:
        query.trigger()
    assert "reshardctl inspect spark:CHECKPOINT --stream orders" in lost.value.next
    assert "reshardctl audit SINK --stream orders" in lost.value.next
    assert '"failOnDataLoss", "false"' in lost.value.next
    if loss.rows == "gone":
        return
    go_on(query)
    assert query.data() == loss.rows.split()
    assert set(query.newest["shards"]) == set(map(shard_id, loss.shards))
    assert query.newest["created"] == living.stream.created
    order_held(living, query)


NO_LOSSES = {
    "children in no offset within retention": BEHIND + "wait 23h",
    "retention that was raised in time": READ + "raise 168, wait 72h, put 0 1",
    "retention that was raised in time for a query that idles":
        READ + "raise 168, " + "wait 2h, trigger, " * 60 + "stop, wait 72h, put 0 1",
}


@BOTH
@pytest.mark.parametrize("name", NO_LOSSES)
def test_no_loss(name, old):
    living, query = lived(old, NO_LOSSES[name])
    query.drain()
    assert query.data() == living.all()


@BOTH
def test_a_parent_that_was_read_to_its_end_may_go(old):
    living, query = lived(old, ENDED + "put 0 1, trim 0")
    assert set(query.newest["shards"]) == {"shardId-000000000000"}
    query.drain()
    assert query.data() == ["r0", "r1", "r2", "r3"]
    # Its mark is of no use any more, and goes with the next offset that is written.
    play(living, query, steps("put 1 1, wait 2, drain"))
    assert set(query.newest["shards"]) == {"shardId-000000000001", "shardId-000000000002"}


@BOTH
def test_a_stream_created_again_under_an_offset_that_does_not_tell_its_stream(old):
    living, query = lived(old, READ + "recreate 1, wait 200, put 0 1")
    query.offsets[-1] = json.dumps({"shards": query.newest["shards"]})
    with pytest.raises(DataLoss, match="newest position in the checkpoint is of"):
        query.trigger()
    go_on(query)
    assert query.data() == living.all()


@BOTH
def test_past_retention_by_the_clock_but_not_trimmed_yet_is_no_loss(old):
    living, query = lived(old, READ + "put 0 2")
    living.stream.retention_hours = 48  # the service is slow to trim
    play(living, query, steps("wait 25h, put 0 1"))

    def says_24(answer: dict) -> dict:
        answer["StreamDescriptionSummary"]["RetentionPeriodHours"] = 24
        return answer

    living.fake.faults.add(
        "DescribeStreamSummary", lambda request, proceed: says_24(proceed(request)), times=None
    )
    query.drain()
    assert living.stream.retention_hours == 48 and query.data() == living.all()


@BOTH
def test_retention_that_was_raised_while_a_shard_lay_idle(old):
    """The offset notes it at once: what comes later is measured by it."""
    living, query = lived(old, "trigger, wait 1h, raise 168, wait 1h")
    assert query.trigger() and query.newest["retention"] == 7 * DAY
    play(living, query, steps("stop, wait 72h, put 0 1, drain"))
    assert query.data() == living.all()


@BOTH
def test_an_idle_shard_of_a_running_query_loses_nothing(old):
    living, query = lived(old, READ + "wait 4h, trigger, " * 120 + "stop, wait 10h, put 0 1")
    # Five times a retention, refreshed a few times a day, and not at each trigger.
    assert 20 * 3 <= len(query.offsets) <= 20 * 5
    query.drain()
    assert query.data() == living.all()


def test_what_is_passed_over_is_logged_once_and_counted(caplog):
    _, query = lived(False, READ + "put 0 2, wait 25h")
    with caplog.at_level(logging.WARNING, "reshardctl.spark.source"):
        go_on(query)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "may have expired unread" in caplog.text
    assert "failOnDataLoss is false" in caplog.text
    report = query.plans.progress.report()
    assert report is not None
    assert report["losses"] == 1


@BOTH
def test_a_checkpoint_of_another_stream(old):
    _, query = lived(old, READ + "wait 0")
    query.offsets[-1] = query.offsets[-1].replace('"stream": "orders"', '"stream": "payments"')
    with pytest.raises(UsageError, match=r"positions in stream payments, but .* stream orders"):
        query.trigger()


@BOTH
def test_a_stream_made_anew_is_read_from_its_beginning_also_by_a_query_of_latest(old):
    _, query = lived(old, READ + "recreate 1, put 0 2, split 0, put 0 1, wait 20")
    query.options = {**GO_ON, "startingPosition": "LATEST"}
    query.drain()
    batches = [sorted(row.data for row in rows) for rows in query.delivered]
    assert batches[-2:] == [["r3", "r4"], ["r5"]], "not parents first"


@BOTH
def test_a_stream_made_anew_under_a_listing_that_is_still_held(old):
    living = Living(1, settings=Settings(create_seconds=0.5, delete_seconds=0.5))
    query = Query(living.fake, old)
    play(living, query, steps(f"put 0 3, drain, wait {LISTED_FOR:.0f}, trigger"))
    living.recreate(pause=2)
    living.put(0, 1)
    with pytest.raises(DataLoss, match="deleted and created again"):
        query.trigger()


@BOTH
def test_a_child_without_a_share_has_the_time_since_which_it_waits(old):
    _, query = lived(old, READ + "split 0, put 0 1, put 1 1, wait 2, limit 1, trigger, trigger")
    waiting = [place for place in query.newest["shards"].values() if not place["seq"]]
    assert [set(place) for place in waiting if not place["end"]] == [{"seq", "end", "tip"}]


@BOTH
def test_a_new_query_does_not_owe_what_is_taken_as_it_begins(old):
    """The parent is listed still as the first batch is planned, its children are not within
    retention any more when their turn comes."""
    living, query = lived(old, "put 0 2, split 0, put 0 1")
    closed = living.stream.shards[0].closed
    assert closed is not None
    living.fake.clock.set(closed + DAY - 1)
    play(living, query, steps("put 0 1, put 1 1, trigger"))
    assert list(query.newest["shards"]) == ["shardId-000000000000"]
    living.fake.clock.advance(3)
    query.drain()
    assert set(query.data()) >= {"r3", "r4"}


@BOTH
def test_a_new_query_of_a_time_before_retention_gives_each_shard_its_turn(old):
    """Under a limit that lets one shard in at a time."""
    living, query = lived(old, "wait 48h, put 0 2, put 1 2, wait 2", roots=2)
    then = living.fake.clock.now() - DAY - HOUR
    query.options = {"startingPosition": f"AT_TIMESTAMP {then}", "maxRecordsPerTrigger": "1"}
    query.drain()
    assert query.data() == living.all()


@BOTH
@pytest.mark.parametrize("loss", ["true", "false"])
def test_retention_that_overtakes_a_batch_between_its_plan_and_its_reading(old, loss):
    living, query = lived(old, f"put 0 1, drain, stop, put 0 2, wait {DAY - 60}, put 0 1")
    query.options = {"failOnDataLoss": loss}
    query.start()
    planned = query.plans.latest(None if old else query.newest, None)
    living.fake.clock.advance(120)
    reading = query.read(query.plans.stretches(query.newest, planned))
    if loss == "false":
        assert [row.data for row in reading] == ["r3"]
        return
    with pytest.raises(Overtaken):
        list(reading)
