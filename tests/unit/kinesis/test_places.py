"""Where a shard stood at a time: the record before the first that arrived at or after it."""

from __future__ import annotations

from random import Random

from reshardctl.kinesis.budget import PACE, Limits
from reshardctl.model import START, PositionAtTime, at_number, shard_id
from reshardctl.testing import FakeKinesis, load_topology, reading
from reshardctl.testing.faults import short_page
from reshardctl.testing.requests import Request
from reshardctl.testing.shards import Shard
from reshardctl.testing.stream import seconds
from tests.support.grouped import by_case
from tests.unit.kinesis.streams import CREATED, Asked, in_process, over_http

ZERO = shard_id(0)


def stream_of(
    records: list[tuple[float, float]], *, close: float | None = None, now: float = 4000, **more
) -> FakeKinesis:
    """One shard; records as (second in the number, arrival), seconds after the creation."""
    shard = {
        "id": 0, "range": ["0", "1"],
        "records": [{"t": t, "arrival": a, "data": f"r{i}"} for i, (t, a) in enumerate(records)],
    }
    if close is not None:
        shard["close"] = close
    return load_topology({
        "name": "orders", "created": CREATED, "now": now, "shards": [shard], **more,
    })


def number_of(fake: FakeKinesis, index: int) -> str:
    return str(fake.stream("orders").shards[0].records[index].number)


def place(asked: Asked, time: float, opened: float | None = CREATED - 3.0) -> PositionAtTime | None:
    return asked.kinesis.places("orders", {ZERO: opened}, CREATED + time)[ZERO]


def test_the_predecessor_of_the_first_that_arrived_since() -> None:
    """Arrival times are not monotonic (GetShardIterator API reference names no order): the third
    arrived before T, but the second did after it, and goes before."""
    fake = stream_of([(90, 91), (999, 1001.5), (999, 999.5), (1003, 1004)])
    with over_http(fake) as asked:
        found = place(asked, 1000)
    assert found == PositionAtTime(at_number(number_of(fake, 0)), CREATED + 1001.5)
    assert {c.action for c in fake.calls} == {"GetShardIterator", "GetRecords"}


def test_a_long_gap_is_bridged_and_not_read_twice() -> None:
    """Three hours without a record: each approach begins earlier, and few reads are made."""
    fake = stream_of([(100, 101), (200, 201), (11000, 11001)], now=12000)
    asked = in_process(fake)
    assert place(asked, 10900) == PositionAtTime(at_number(number_of(fake, 1)), CREATED + 11001)
    assert [c.action for c in fake.calls].count("GetRecords") <= 6


def test_an_approach_that_begins_beside_the_time_proves_nothing(monkeypatch):
    """How AT_TIMESTAMP goes about arrivals out of order is not documented. Here it takes the
    earliest arrival, not the first record, and lands behind one that arrived after T."""

    def earliest(request: Request, shard: Shard) -> int:
        then = seconds(request.params["Timestamp"])
        found = [record for record in shard.records if record.arrival >= then]
        return min(found, key=lambda record: record.arrival).number

    monkeypatch.setattr(reading, "_at_timestamp", earliest)
    fake = stream_of([(950, 951), (998, 1000.4), (998, 998.4), (1005, 1006)])
    assert place(in_process(fake), 1000) == PositionAtTime(
        at_number(number_of(fake, 0)), CREATED + 1000.4
    )


def test_what_was_trimmed_is_not_missed() -> None:
    fake = stream_of([(100, 101), (200, 201), (1500, 1501)], trim=1000)
    assert place(in_process(fake), 1200) == PositionAtTime(START, CREATED + 1501)


def test_empty_pages_expired_iterators_and_throttles_are_gone_through() -> None:
    fake = stream_of([(t, t + 1) for t in range(900, 1100)])
    fake.faults.add("GetRecords", "ExpiredIteratorException", after=3, times=1)
    fake.faults.add("GetRecords", "ProvisionedThroughputExceededException", after=5, times=2)
    fake.faults.add("GetRecords", short_page(0), after=8, times=3)
    fake.faults.add("GetRecords", short_page(2), times=None)
    assert place(in_process(fake), 1000) == PositionAtTime(
        at_number(number_of(fake, 98)), CREATED + 1000
    )


def test_a_clock_that_is_ahead_of_the_service_s() -> None:
    """AT_TIMESTAMP in the future is refused (kinesalite's tests, run on AWS): then no record is
    that young, and an earlier approach is taken."""
    fake = stream_of([(100, 101), (3900, 3901)], now=4000)
    found = place(in_process(fake), 4000 + 45)
    assert found == PositionAtTime(at_number(number_of(fake, 1)), None, nothing_after=True)


def test_a_shard_that_is_throttled_for_good_is_not_guessed() -> None:
    fake = stream_of([(100, 101)])
    fake.faults.add("GetRecords", "ProvisionedThroughputExceededException", times=None)
    assert place(in_process(fake), 1000) is None


def limited(fake: FakeKinesis, calls: int, seconds: float = 1e6) -> Asked:
    return in_process(fake, limits=Limits(calls, seconds))


def test_a_budget_that_ends_before_anything_was_met_tells_nothing() -> None:
    fake = stream_of([(100, 101), (3000, 3001)])
    assert place(limited(fake, calls=3), 2000) is None
    assert len(fake.calls) == 3


def test_a_budget_that_ends_on_the_way_gives_an_earlier_place() -> None:
    """Earlier skips less: safe, and said."""
    fake = stream_of([(991 + i / 10, 992 + i / 10) for i in range(90)])
    fake.faults.add("GetRecords", short_page(5), times=None)
    found = place(limited(fake, calls=4), 1000)
    assert found is not None and found.early and found.first_arrival is None
    assert int(number_of(fake, 0)) < found.at.number < int(number_of(fake, 80))


def test_the_seconds_are_bounded_too() -> None:
    fake = stream_of([(100, 101), (3000, 3001)], now=4000)
    began = fake.clock.now()
    assert place(limited(fake, calls=1000, seconds=1.0), 2000) is None
    assert fake.clock.now() - began <= 1.0 + PACE


def test_many_shards_wait_for_their_pace_together() -> None:
    """Forty idle shards take no longer than one of them."""
    shards = [
        {"id": i, "range": [f"{i}/40", f"{i + 1}/40"], "records": [{"t": 9, "data": "x"}]}
        for i in range(40)
    ]
    fake = load_topology({"name": "orders", "created": CREATED, "now": 9000, "shards": shards})
    fake.settings.reads_per_second = 5
    asked = in_process(fake)
    opened = {shard_id(i): CREATED - 3.0 for i in range(40)}
    found = asked.kinesis.places("orders", opened, CREATED + 8000)
    assert list(found) == list(opened)
    assert all(position is not None and position.at != START for position in found.values())
    assert sum(asked.waits) < 12 * PACE


@by_case((f"seeds of {seed % 5}", str(seed), (seed,)) for seed in range(60))
def test_any_arrivals(seed: int) -> None:
    """Against the definition, read off the fake's own records. Arrivals lie 0.3 to 2.5 s after
    the second in the number, as on AWS."""
    chance = Random(seed)
    moment, records = 10.0, []
    for _ in range(chance.randrange(0, 40)):
        moment += chance.choice([0, 0, 0.2, 1, 3, 40, 700])
        records.append((moment, round(int(moment) + chance.uniform(0.3, 2.5), 3)))
    fake = stream_of(records, now=moment + 600, close=moment + 5 if seed % 3 == 0 else None)
    fake.faults.add("GetRecords", short_page(chance.randrange(1, 5)), times=None)
    time = chance.uniform(0, moment + 10)
    if records and seed % 2:
        time = chance.choice(records)[1]
    kept = fake.stream("orders").shards[0].records
    late = [i for i, record in enumerate(kept) if record.arrival >= CREATED + time]
    first = late[0] if late else len(kept)
    wanted = at_number(str(kept[first - 1].number)) if first else START
    arrived = kept[first].arrival if late else None
    assert place(limited(fake, 100_000), time) == PositionAtTime(
        wanted, arrived, early=False, nothing_after=not late
    )
