"""How a shard's end becomes known, and what that costs: counted in calls and in records."""

from __future__ import annotations

import pytest

from reshardctl.kinesis.fast import Begin, FastReader, Page
from reshardctl.model import shard_id
from reshardctl.spark.tips import IDLE_PACE, Tips
from reshardctl.testing.fake import FakeKinesis
from reshardctl.testing.faults import short_page
from reshardctl.testing.topology import load_topology
from tests.support.fake_time import sleep_of
from tests.unit.spark.source.drive import NAME, InProcess

SHARD = shard_id(0)
BEGINNING = Begin("TRIM_HORIZON")
NOW = 20_000


def one_shard(times: list[float]) -> FakeKinesis:
    """A shard with a record at each of these times, seconds before now."""
    records = [{"t": NOW - t, "data": f"d{n}"} for n, t in enumerate(times)]
    shard = {"id": 0, "range": ["0", "1"], "records": records}
    return load_topology(
        {"name": NAME, "created": 1_795_232_267, "now": NOW, "shards": [shard]}
    )


def tips_of(fake: FakeKinesis, ahead: float = 0.0) -> Tips:
    """ahead: by how many seconds this machine's clock is."""

    def clock() -> float:
        return fake.clock.now() + ahead

    reads = FastReader(InProcess("us-east-1", fake=fake), NAME, clock=clock, sleep=sleep_of(fake))
    return Tips(reads, clock)


def numbers(fake: FakeKinesis) -> list[str]:
    return [str(record.number) for record in fake.stream(NAME).shards[0].records]


def calls(fake: FakeKinesis) -> dict[str, int]:
    names = [call.action for call in fake.calls]
    return {name: names.count(name) for name in ("GetShardIterator", "GetRecords")}


def served(fake: FakeKinesis) -> list[int]:
    """The limits of the reads: the most records that each can have carried."""
    return [call.params["Limit"] for call in fake.calls if call.action == "GetRecords"]


def test_an_idle_shard_costs_one_read_a_second_and_no_iterator():
    fake = one_shard([])
    tips = tips_of(fake)
    for _ in range(50):
        found = tips.behind(SHARD, BEGINNING)
        assert (found.number, found.quiet) == (None, True)
        fake.clock.advance(IDLE_PACE / 10)
    assert calls(fake)["GetShardIterator"] == 1
    assert 4 <= calls(fake)["GetRecords"] <= 6


def test_an_idle_shard_outlives_its_iterator():
    fake = one_shard([])
    tips = tips_of(fake)
    for _ in range(3):
        assert tips.behind(SHARD, BEGINNING).number is None
        fake.clock.advance(400)  # an iterator lives for 300 s
    fake.put(NAME, 0, "x")
    assert tips.behind(SHARD, BEGINNING).number == numbers(fake)[-1]


def test_a_single_new_record_costs_two_calls_and_the_next_none_an_iterator():
    fake = one_shard([5])
    tips = tips_of(fake)
    first = tips.behind(SHARD, BEGINNING)
    assert (first.number, first.quiet) == (numbers(fake)[0], True)
    assert calls(fake) == {"GetShardIterator": 1, "GetRecords": 1}
    fake.put(NAME, 0, "x")
    begin = Begin("AFTER_SEQUENCE_NUMBER", first.number)
    assert tips.behind(SHARD, begin).number == numbers(fake)[-1]
    assert calls(fake) == {"GetShardIterator": 1, "GetRecords": 2}


@pytest.mark.parametrize("last", [0.5, 3, 42, 500, 3000, 12_000])
def test_the_tip_of_a_backlog_is_found_without_reading_it(last):
    fake = one_shard([last + 0.3 * (5000 - n) for n in range(5000)])
    found = tips_of(fake).behind(SHARD, BEGINNING)
    assert found.number == numbers(fake)[-1]
    assert found.quiet
    assert found.behind == pytest.approx(5000 * 300 + (last + 0.3) * 1000, rel=0.01)
    assert calls(fake)["GetRecords"] <= 20
    # Asked for whole: the second before now, and the second in which the tip lies.
    assert sum(limit > 1 for limit in served(fake)) <= 2


def test_the_tip_alone_is_found_however_old_it_is():
    fake = one_shard([NOW - 1, NOW - 2])
    assert tips_of(fake).tip(SHARD).number == numbers(fake)[-1]


def test_the_tip_of_an_empty_shard():
    found = tips_of(one_shard([])).tip(SHARD)
    assert (found.number, found.quiet) == (None, True)


@pytest.mark.parametrize("ahead", [30, 7200, 100_000, -30, -7200])
def test_a_clock_that_is_wrong_costs_reads_and_loses_nothing(ahead):
    fake = one_shard([2 + 0.3 * (300 - n) for n in range(300)])
    tips, begin, met = tips_of(fake, ahead), BEGINNING, ""
    for _ in range(5):
        found = tips.behind(SHARD, begin)
        if found.number is None:
            break
        met, begin = found.number, Begin("AFTER_SEQUENCE_NUMBER", found.number)
    assert met == numbers(fake)[-1]


def test_a_closed_shard_that_the_listing_does_not_know_yet():
    fake = one_shard([10])
    fake.stream(NAME).shards[0].close(fake.clock.now(), 1)
    tips = tips_of(fake)
    begin = Begin("AFTER_SEQUENCE_NUMBER", numbers(fake)[-1])
    assert tips.behind(SHARD, begin).ended


def test_counting_stops_at_the_count_and_at_the_goal():
    fake = one_shard([1000 - n for n in range(100)])
    tips, seen = tips_of(fake), numbers(fake)
    found = tips.count(SHARD, BEGINNING, 7, None)
    assert (found.number, found.count, found.quiet) == (seen[6], 7, False)
    begin = Begin("AFTER_SEQUENCE_NUMBER", seen[6])
    found = tips.count(SHARD, begin, 50, seen[9])
    assert (found.number, found.count) == (seen[9], 3)
    begin = Begin("AFTER_SEQUENCE_NUMBER", seen[9])
    found = tips.count(SHARD, begin, 500, None)
    assert (found.number, found.count, found.quiet) == (seen[99], 90, True)


def test_whether_a_place_is_still_there():
    fake = one_shard([1000, 500])
    tips, seen = tips_of(fake), numbers(fake)
    assert tips.holds(SHARD, seen[0])
    del fake.stream(NAME).shards[0].records[0]
    assert not tips.holds(SHARD, seen[0])


def test_answers_without_a_record_are_followed_while_more_lies_ahead():
    fake = one_shard([100 - n for n in range(5)])
    empty = Page([], "", 5000)

    class Sparse(FastReader):
        """Every other answer is empty and says that there is more, as sparse shards' are."""

        skipped = 0

        def page(self, iterator: str, limit: int = 10_000) -> Page:
            self.skipped += 1
            if self.skipped % 3:
                return Page([], iterator, empty.behind)
            return super().page(iterator, limit)

    reach = InProcess("us-east-1", fake=fake)
    tips = Tips(Sparse(reach, NAME, clock=fake.clock.now), fake.clock.now)
    assert tips.behind(SHARD, BEGINNING).number == numbers(fake)[-1]
    assert tips.count(SHARD, BEGINNING, 3, None).number == numbers(fake)[2]
    assert tips.tip(SHARD).number == numbers(fake)[-1]


def test_arrivals_out_of_order_never_lead_back():
    """The newest record arrived long before an older one: a window meets the older one first."""
    records = [{"t": 10, "data": "a", "arrival": NOW - 1}]
    records += [{"t": 100 + n, "data": f"b{n}", "arrival": 100 + n} for n in range(50)]
    shard = {"id": 0, "range": ["0", "1"], "records": records}
    fake = load_topology({"name": NAME, "created": 1_795_232_267, "now": NOW, "shards": [shard]})
    seen = numbers(fake)
    fake.faults.add("GetRecords", short_page(1), times=None)  # so that the tip is out of reach
    for at in (0, 20, 48):
        found = tips_of(fake).behind(SHARD, Begin("AFTER_SEQUENCE_NUMBER", seen[at]))
        assert found.number is not None
        assert int(found.number) > int(seen[at])


def test_a_busy_shard_costs_two_reads_and_one_iterator_a_trigger():
    fake = one_shard([n / 4 for n in range(100, 0, -1)])
    tips, begin = tips_of(fake), BEGINNING
    for trigger in range(5):
        fake.calls.clear()
        found = tips.behind(SHARD, begin)
        assert found.number == numbers(fake)[-1]
        begin = Begin("AFTER_SEQUENCE_NUMBER", found.number)
        # The first look needs an iterator of its own.
        assert calls(fake) == {"GetRecords": 2, "GetShardIterator": 1 if trigger else 2}
        for _ in range(40):
            fake.clock.advance(0.25)
            fake.put(NAME, 0, "x")
