"""How many records lie between two cuts, and what a sub-sequence number leaves."""

from __future__ import annotations

from hashlib import md5

import pytest

from reshardctl.kinesis.aggregated import user_records
from reshardctl.kinesis.budget import (
    CALLS_A_SHARD,
    FIRST_PAGE,
    PAGE_BYTES,
    SECONDS_A_SHARD,
    USUAL_CALLS,
    USUAL_SECONDS,
    Limits,
)
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Count,
    Cut,
    Interval,
    Probe,
    at_number,
    at_time,
    shard_id,
)
from reshardctl.testing import FakeKinesis
from reshardctl.testing.faults import short_page
from tests.unit.kinesis.streams import CREATED, in_process, over_http
from tests.unit.kinesis.test_places import limited, stream_of

ZERO = shard_id(0)


def number(fake: FakeKinesis, index: int, sub: int = 0, shard: int = 0) -> Cut:
    return at_number(str(fake.stream("orders").shards[shard].records[index].number), sub)


def count(fake: FakeKinesis, since: Cut, until: Cut) -> Count:
    one = Interval(ZERO, since, until)
    return in_process(fake).kinesis.counts("orders", [one])[one]


def test_every_kind_of_interval(fake):
    first, second, last = number(fake, 0), number(fake, 1), number(fake, 3)
    assert count(fake, START, DONE) == Count(4, False, CREATED + 10.0, CREATED + 590.0)
    assert count(fake, START, TIP).records == 4
    assert count(fake, START, first).records == 1, "a cut settles its own record"
    assert count(fake, first, last) == Count(3, False, CREATED + 203.0, CREATED + 590.0)
    assert count(fake, second, second) == Count(0)
    assert count(fake, START, at_time(CREATED + 396.0)).records == 2
    assert count(fake, at_time(CREATED + 396.0), DONE).records == 2
    assert count(fake, last, DONE) == Count(0)
    assert count(fake, DONE, DONE) == Count(0)


def test_many_at_once_and_short_pages(fake):
    fake.faults.add("GetRecords", short_page(1), times=None)
    wanted = {
        Interval(ZERO, START, DONE): 4, Interval(ZERO, number(fake, 1), DONE): 2,
        Interval(shard_id(1), START, TIP): 4, Interval(shard_id(2), START, TIP): 0,
    }
    with over_http(fake) as asked:
        found = asked.kinesis.counts("orders", wanted)
    assert {one: found[one].records for one in wanted} == wanted


def test_a_budget_that_ends_says_at_least() -> None:
    fake = stream_of([(t, t + 1) for t in range(100, 160)])
    fake.faults.add("GetRecords", short_page(7), times=None)
    one = Interval(ZERO, START, DONE)
    assert limited(fake, calls=4).kinesis.counts("orders", [one])[one] == Count(
        21, True, CREATED + 101.0, CREATED + 121.0
    )


def test_pages_stay_below_what_would_block_other_readers() -> None:
    """A page of 10 MB shuts a shard for five seconds (GetRecords API reference)."""
    fake = stream_of([])
    shard = fake.stream("orders").shards[0]
    for index in range(60):
        shard.put(b"x" * 50_000, "k", CREATED + 100 + index, CREATED + 101.0 + index)
    assert count(fake, START, TIP).records == 60
    limits = [c.params["Limit"] for c in fake.calls if c.action == "GetRecords"]
    assert limits[0] == FIRST_PAGE
    assert max(limits[1:]) * 50_000 <= PAGE_BYTES


def test_reads_leave_half_of_a_shard_to_others() -> None:
    """Two reads and 1 MB a second; a shard gives five and 2 MB (GetRecords API reference)."""
    fake = stream_of([])
    shard = fake.stream("orders").shards[0]
    for index in range(200):
        shard.put(b"x" * 50_000, "k", CREATED + 100 + index, CREATED + 101.0 + index)
    asked = in_process(fake)
    one = Interval(ZERO, START, TIP)
    began = fake.clock.now()
    assert asked.kinesis.counts("orders", [one])[one].records == 200
    reads = [c.action for c in fake.calls].count("GetRecords")
    assert fake.clock.now() - began >= max(200 * 50_000 / 1e6 - 2, (reads - 1) / 2)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _digest(message: bytes) -> bytes:
    return md5(message, usedforsecurity=False).digest()


def aggregate(*payloads: bytes) -> bytes:
    """Written from amazon-kinesis-producer, aggregation-format.md."""
    def field(key: int, body: bytes) -> bytes:
        return bytes([key << 3 | 2]) + _varint(len(body)) + body

    message = field(1, b"some key")
    message += b"".join(field(3, b"\x08\x00" + field(3, payload)) for payload in payloads)
    return b"\xf3\x89\x9a\xc2" + message + _digest(message)


@pytest.mark.parametrize("many", [1, 2, 7, 300])
def test_aggregated_records_are_counted(many: int) -> None:
    assert user_records(aggregate(*[b"payload" * 40] * many)) == many


@pytest.mark.parametrize(
    "data",
    [b"", b"plain", b"\xf3\x89\x9a\xc2", aggregate(b"a", b"b")[:-1] + b"!",
     b"\xf3\x89\x9a\xc2" + b"\x1a\xff" + _digest(b"\x1a\xff")],
    ids=["empty", "plain", "magic alone", "wrong digest", "cut off"],
)  # fmt: skip
def test_what_is_not_rightly_aggregated_is_one_record(data: bytes) -> None:
    assert user_records(data) == 1


def aggregated_stream() -> FakeKinesis:
    """A closed shard of two records; the second holds three user records."""
    fake = stream_of([(100, 101)], close=600)
    shard = fake.stream("orders").shards[0]
    closing = (shard.closed, shard.ended, shard.ending)
    shard.closed = shard.ended = shard.ending = None
    shard.put(aggregate(b"a", b"b", b"c"), "k", CREATED + 200, CREATED + 201.0)
    shard.closed, shard.ended, shard.ending = closing
    return fake


@pytest.mark.parametrize(("sub", "left"), [(1, 1), (2, 0), (5, 0)])
def test_a_place_inside_an_aggregated_record(sub: int, left: int) -> None:
    """KCL drops user records up to the stored sub-sequence number, not the whole record (KCL 3.5.1
    AggregatorUtil and ProcessTask): a read after the number would not see the rest."""
    fake = aggregated_stream()
    since = number(fake, 1, sub)
    found = in_process(fake).kinesis.probe("orders", ZERO, since, limit_records=10)
    assert (found.count, found.drained) == (left, not left)
    assert found.since == since
    assert count(fake, since, DONE).records == left


def test_many_probes_share_one_budget(fake):
    asked = limited(fake, calls=4)
    places = [(shard_id(index), START) for index in range(4)]
    found = asked.kinesis.probes("orders", places)
    assert len(fake.calls) == 4
    assert list(found) == [shard for shard, _ in places]
    assert any(probe.silent for probe in found.values())
    assert Probe(START, False, more=True).silent


def test_a_probe_tells_from_when_to_when(fake):
    found = in_process(fake).kinesis.probes("orders", [(ZERO, number(fake, 1))])[ZERO]
    assert (found.count, found.more, found.drained) == (2, False, False)
    assert (found.first_arrival, found.last_arrival) == (CREATED + 396.0, CREATED + 590.0)


def test_the_help_names_the_budget_there_is() -> None:
    from reshardctl.cli import options
    from reshardctl.commands import target

    named = options.ProbeBudget.__metadata__[0].help  # type: ignore[attr-defined]
    least = named.partition("at least ")[2].partition(";")[0]
    assert target.budget_of(least) == Limits(USUAL_CALLS, USUAL_SECONDS)
    assert f"{CALLS_A_SHARD} calls and half a second for each shard" in named
    assert (target.budget_of(None), SECONDS_A_SHARD) == (Limits(), 0.5)


def test_bytes_are_the_data_and_the_partition_keys(fake):
    """What PutRecord limits to 1 MiB: "the data blob … and the partition key" (API reference)."""
    records = fake.stream("orders").shards[0].records
    size = [len(record.payload) + len(record.key.encode()) for record in records]
    assert min(size) > 0
    assert count(fake, START, DONE).size_bytes == sum(size)
    assert count(fake, number(fake, 0), DONE).size_bytes == sum(size[1:])
    assert count(fake, DONE, DONE).size_bytes == 0
