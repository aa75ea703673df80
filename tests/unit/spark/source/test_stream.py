"""Where a query begins, how it goes through generations, and how a run of AvailableNow ends."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reshardctl.errors import UsageError
from reshardctl.model import shard_id
from reshardctl.spark.source import planning
from reshardctl.spark.source.latest import LISTED_FOR
from reshardctl.spark.source.offset import read
from reshardctl.spark.tips import IDLE_PACE
from reshardctl.testing.service import Settings
from tests.unit.spark.source.drive import NAME, Crash, Query
from tests.unit.spark.source.streams import (
    CREATED,
    Living,
    lived,
    order_held,
    play,
    replays_equal,
    steps,
)

BOTH = pytest.mark.parametrize("old", [True, False], ids=["4.0", "4.2"])


def aged() -> Living:
    """0 closed into 1 and 2, 1 and 2 into 3, 3 into 4 and 5; two records in each."""
    living = Living(1)
    play(living, Query(living.fake), steps(
        "put 0 2, wait 600, split 0, put 0 2, put 1 2, wait 600, merge 0, put 0 2, wait 600, "
        "split 0, put 0 2, put 1 2, wait 20"
    ))  # fmt: skip
    return living


def per_batch(query: Query) -> list[set[int]]:
    """Shards that gave rows, batch by batch."""
    return [{int(row.shard[-3:]) for row in rows} for rows in query.delivered]


@BOTH
def test_generations_closed_while_the_query_was_down_take_a_batch_each(old):
    living = aged()
    query = Query(living.fake, old)
    assert query.drain() == 4
    assert per_batch(query) == [{0}, {1, 2}, {3}, {4, 5}]
    assert query.data() == living.all()


@BOTH
def test_a_stream_that_has_lost_its_first_shards_already_is_no_loss_to_a_new_query(old):
    living = aged()
    for shard in (0, 1, 2):
        living.fake.trim_shard(NAME, shard)
    query = Query(living.fake, old)
    query.drain()
    assert per_batch(query) == [{3}, {4, 5}]


@BOTH
def test_nothing_new_gives_the_offset_back_as_it_is_spelled(old):
    living = aged()
    query = Query(living.fake, old)
    query.drain()
    query.stop()
    # As a person or a tool may have written it: other order, other spelling, no marks, no stream.
    shards = query.newest["shards"]
    kept = {s: {"end": p["end"], "seq": p["seq"]} for s, p in reversed(shards.items())
            if not p["end"]}  # fmt: skip
    query.offsets[-1] = json.dumps({"shards": kept})
    query.start()
    assert query.plans.latest(query.newest, None) == query.newest
    assert not query.trigger()
    play(living, query, steps("put 0 1, wait 2, drain"))
    assert query.data() == living.all(), "shards without a mark were read again"


@BOTH
@pytest.mark.parametrize("most", [None, "3"])
@pytest.mark.parametrize("back", [0, 300, 610, 900, 1500, 2500])
def test_a_start_by_time(old, most, back):
    living = aged()
    then = living.fake.clock.now() - back
    options = {"startingPosition": f"AT_TIMESTAMP {then}"}
    if most:
        options["maxRecordsPerTrigger"] = most
    query = Query(living.fake, old, options)
    play(living, query, steps("trigger, stop, wait 2, put 0 1, drain"))
    assert query.data() == sorted(d for d, time in living.arrived.items() if time >= then)
    order_held(living, query)


def test_a_start_by_time_that_is_still_to_come():
    living = aged()
    then = living.fake.clock.now() + 3600
    with pytest.raises(UsageError, match="lies in the future"):
        Query(living.fake, False, {"startingPosition": f"AT_TIMESTAMP {then}"}).trigger()


@BOTH
def test_the_first_batch_of_a_start_by_time_runs_again_as_it_was(old):
    living = aged()
    then = living.fake.clock.now() - 900
    query = Query(living.fake, old, {"startingPosition": f"AT_TIMESTAMP {then}"})
    play(living, query, steps("die, put 0 3, split 0, drain"))
    replays_equal(query)
    assert query.data() == sorted(d for d, time in living.arrived.items() if time >= then)


@BOTH
def test_the_first_batch_of_latest_pins_and_reads_nothing(old):
    living = aged()
    query = Query(living.fake, old, {"startingPosition": "LATEST"})
    with pytest.raises(Crash):
        query.trigger(crash=True)
    pinned = query.newest
    assert {s for s, p in pinned["shards"].items() if p["end"]} == set(map(shard_id, range(4)))
    after = {"r" + str(len(living.all()) + n) for n in range(3)}
    living.put(0, 1)
    living.split(1)  # a shard born while the query is down is read from its beginning
    living.put(1, 2)
    query.drain()
    assert json.loads(query.offsets[0]) == pinned
    assert set(query.data()) == after
    replays_equal(query)


def named(**places: object) -> dict[str, str]:
    line = {shard_id(int(name[1:])): place for name, place in places.items()}
    return {"startingPosition": json.dumps(line)}


@BOTH
def test_a_start_shard_by_shard(old):
    living = aged()
    one = str(living.stream.shards[1].records[0].number)
    query = Query(living.fake, old, named(s1={"AFTER_SEQUENCE_NUMBER": one}, s2="SHARD_END"))
    with pytest.raises(Crash):
        query.trigger(crash=True)
    query.drain()
    replays_equal(query)
    assert per_batch(query) == [{1}, {3}, {4, 5}]
    assert query.data() == sorted(set(living.all()) - {"r0", "r1", "r2", "r4", "r5"})


@pytest.mark.parametrize(("places", "words"), [
    ({"s4": "TRIM_HORIZON"}, "does not say where shard 5 begins"),
    ({"s9": "TRIM_HORIZON"}, "names shard 9, which is not listed"),
    ({"s4": "SHARD_END", "s5": "LATEST"}, "SHARD_END for shard 4, which is open"),
    ({"s3": "TRIM_HORIZON", "s4": "LATEST"}, "parent 3 has unread records"),
])  # fmt: skip
def test_a_line_that_contradicts_the_stream(places, words):
    with pytest.raises(UsageError, match=words):
        Query(aged().fake, False, named(**places)).trigger()


@BOTH
def test_shards_that_live_for_a_moment_and_stay_empty(old):
    living, query = lived(old, "put 0 2, put 1 2, put 2 2, put 3 2, trigger", roots=4)
    living.scale(3)  # splits 1 into two, merges one half with each neighbour, and so on
    assert any(not s.records and s.closed for s in living.stream.shards.values())
    play(living, query, steps("put 0 2, put 1 2, put 2 2, wait 20, drain"))
    assert query.data() == living.all()
    order_held(living, query)


@pytest.mark.parametrize("limit", [None, 2])
def test_available_now_ends_while_the_stream_goes_on(limit):
    living = aged()
    query = Query(living.fake)
    query.start()
    query.plans.pin()
    there = living.all()
    for _ in range(200):
        living.put(0, 3)  # more than a batch of two takes
        living.put(1, 1)
        living.split(1)
        if not query.trigger(limit=limit):
            break
        living.fake.clock.advance(15)
    else:
        raise AssertionError("it never ends")
    assert query.data() == there
    play(living, query, steps("stop, wait 20, drain"))
    assert query.data() == living.all()
    order_held(living, query)


def test_available_now_of_latest_begins_where_it_was_pinned():
    living = aged()
    query = Query(living.fake, False, {"startingPosition": "LATEST"})
    query.available_now()
    living.put(0, 2)
    living.fake.clock.advance(5)
    query.available_now()
    assert len(query.data()) == 2


def test_available_now_of_a_time_that_nothing_followed():
    living = aged()
    then = living.fake.clock.now() - 5
    query = Query(living.fake, False, {"startingPosition": f"AT_TIMESTAMP {then}"})
    query.available_now()
    assert query.data() == []
    living.put(0, 1)
    living.fake.clock.advance(5)
    query.available_now()
    assert len(query.data()) == 1


@BOTH
def test_a_record_that_arrives_is_read_once_and_leaves_no_time_behind(old):
    living, query = lived(old, "trigger", startingPosition=f"AT_TIMESTAMP {CREATED}")
    assert query.newest["shards"][shard_id(0)]["from"] == CREATED
    play(living, query, steps("put 0 1, wait 2, trigger"))
    assert set(query.newest["shards"][shard_id(0)]) <= {"seq", "end", "tip"}
    assert query.data() == living.all()


def test_millis_behind_is_what_the_batch_had_before_it():
    living, query = lived(False, "put 0 1, wait 90, put 0 1")
    assert query.drain() == 1
    play(living, query, steps("put 0 1, wait 600, put 0 1, trigger"))
    report = query.plans.progress.report()
    assert report is not None
    assert report["millisBehindLatest"][shard_id(0)] == pytest.approx(600_000, rel=0.01)
    assert report["maxMillisBehindLatest"] == report["millisBehindLatest"][shard_id(0)]
    living.fake.clock.advance(60)
    query.trigger()
    report = query.plans.progress.report()
    assert report is not None
    assert report["maxMillisBehindLatest"] == 0


@BOTH
def test_it_calls_what_its_policy_allows(old):
    """The actions of docs/iam.md, section source."""
    living = Living(1)
    living.put(0, 5)
    living.fake.calls.clear()
    query = Query(living.fake, old)
    query.drain()
    if not old:
        query.available_now(2)
    assert living.fake.actions == {
        "DescribeStreamSummary", "GetRecords", "GetShardIterator", "ListShards",
    }  # fmt: skip


@BOTH
def test_an_idle_query_that_is_asked_all_the_time_asks_once_a_second(old, monkeypatch):
    living = aged()
    offsets: list[object] = []

    def noted(value: Any) -> Any:
        offsets.append(value)
        return read(value)

    monkeypatch.setattr(planning, "read", noted)
    query = Query(living.fake, old)
    query.drain()
    living.fake.calls.clear()
    offsets.clear()
    for _ in range(500):  # five seconds
        assert not query.trigger()
        living.fake.clock.advance(0.01)
    asked = [call.action for call in living.fake.calls]
    assert asked.count("GetRecords") <= 2 * 6  # of two open shards
    assert asked.count("ListShards") <= 1
    assert len(offsets) <= 6


@BOTH
def test_a_reshard_is_noticed_when_a_shard_is_found_to_have_ended(old):
    """Not ten seconds later, when the listing that is held grows old."""
    living = Living(1, settings=Settings(reshard_seconds=0.5))
    query = Query(living.fake, old)
    play(living, query, steps(f"put 0 1, drain, wait {LISTED_FOR:.0f}, trigger, split 0, put 0 1"))
    for _ in range(4):
        living.fake.clock.advance(IDLE_PACE)
        query.trigger()
    assert query.data() == living.all()


@BOTH
def test_a_clock_that_is_set_back_stops_nothing(old, monkeypatch):
    living = aged()
    query = Query(living.fake, old)
    query.drain()
    clock, back = living.fake.clock, 0.0
    for one in (query.plans, query.plans._tips, query.plans._view):
        monkeypatch.setattr(one, "clock", lambda: clock.now() - back)
    assert not query.trigger()
    back = 3600.0
    living.put(0, 1)
    clock.advance(2)
    query.drain()
    assert query.data() == living.all()
