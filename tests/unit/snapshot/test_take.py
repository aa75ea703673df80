"""Stream and store are read at the same time, and what they say belongs together."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from queue import SimpleQueue
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.consumers.locator import parse
from reshardctl.consumers.sequence_numbers import CLOCKS_APART
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import CannotTell, UsageError
from reshardctl.kinesis import Kinesis
from reshardctl.kinesis.listing import FIRST_WAIT
from reshardctl.model import START, TIP, Image, Interval, Probe, at_number, shard_id
from reshardctl.snapshot.take import (
    NUMBERS_ASKED,
    STALE,
    FrozenStream,
    ListedStream,
    Overlaid,
    alike,
    counted,
    first_records,
    probed,
    streams_of,
    take,
    verified,
)
from reshardctl.testing import FakeKinesis
from reshardctl.testing.faults import short_page
from tests.contracts.memory_store import MemoryStore
from tests.unit.kinesis.streams import in_process, split_stream

CONSUMER = parse("kcl://orders-app?initial=TRIM_HORIZON&release=3.5.1")


@pytest.fixture
def fake() -> FakeKinesis:
    return split_stream()


@pytest.fixture
def kinesis(fake: FakeKinesis) -> Kinesis:
    return in_process(fake).kinesis


def lease(shard: int, checkpoint: str) -> Image:
    key = f"shardId-{shard:012d}"
    return Image(key, {"leaseKey": {"S": key}, "checkpoint": {"S": checkpoint}})


class Watched(MemoryStore):
    """Counts its reads."""

    def __init__(self, *images: Image) -> None:
        super().__init__(images)
        self.reads = 0

    def read(self) -> list[Image]:
        self.reads += 1
        return super().read()


def test_neither_waits_for_the_other(fake):
    """Each is answered only once the other was asked too: in turns they would never be."""
    both_asked = threading.Barrier(2, timeout=30)
    answer = fake.call

    def call(action: str, params: Mapping[str, Any], region: str | None = None) -> Any:
        if action == "ListShards":
            both_asked.wait()
        return answer(action, params, region)

    fake.call = call  # type: ignore[method-assign]

    class Meeting(MemoryStore):
        def identity(self) -> Mapping[str, str]:
            both_asked.wait()
            return super().identity()

    store = Meeting([lease(2, "LATEST")])
    snapshot = take(in_process(fake).kinesis, store, "orders", CONSUMER, lambda: 0)
    assert [image.key for image in snapshot.images] == ["shardId-000000000002"]


@pytest.mark.parametrize(("taken", "age", "reads"), [
    (0.0, 0, 1), (STALE - 0.1, 0, 1), (STALE, 0, 2), (60, 0, 2),
    (60, CLOCKS_APART, 2), (60, CLOCKS_APART + 1, 1),
])  # fmt: skip
def test_rows_from_before_a_reshard_are_read_again(taken, age, reads, fake):
    """A listing waits while the stream is resharded, and the consumer goes on meanwhile. One of
    many pages takes long, too, but nothing has changed then. age: of the newest shard."""
    read_once = threading.Event()
    store = Watched(lease(0, "TRIM_HORIZON"))
    lineage = in_process(fake).kinesis.lineage("orders")
    time = [float(age) + max(lineage.opened_at(shard) or 0 for shard in lineage)]

    class Slow:
        def __init__(self) -> None:
            self.beneath = in_process(fake).kinesis

        def lineage(self, stream: str) -> Any:
            assert read_once.wait(30)
            time[0] += taken
            store.plant(lease(0, "SHARD_END"))
            return self.beneath.lineage(stream)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.beneath, name)

    read = store.read

    def reading() -> list[Image]:
        rows = read()
        read_once.set()
        return rows

    assert STALE <= FIRST_WAIT, "a listing that was read twice counts as late"
    store.read = reading  # type: ignore[method-assign]
    snapshot = take(Slow(), store, "orders", CONSUMER, lambda: time[0])
    assert store.reads == reads
    (row,) = snapshot.images
    assert row.attributes["checkpoint"]["S"] == ("SHARD_END" if reads == 2 else "TRIM_HORIZON")


class Unreadable(MemoryStore):
    def read(self) -> list[Image]:
        raise CannotTell("no rows")


class Absent(MemoryStore):
    def identity(self) -> Mapping[str, str]:
        raise UsageError("no table")


@pytest.mark.parametrize(("store", "stream", "error", "words"), [
    (Unreadable(), "other", UsageError, "there is no stream other"),
    (Absent(), "other", UsageError, "there is no stream other"),
    (Unreadable(), "orders", CannotTell, "no rows"),
])
def test_of_two_failures_that_of_the_stream_is_told(store, stream, error, words):
    with pytest.raises(error, match=words):
        take(in_process(split_stream()).kinesis, store, stream, CONSUMER, lambda: 0)


def test_no_row_is_read_for_a_stream_that_is_known_to_be_absent():
    asking: SimpleQueue[threading.Thread] = SimpleQueue()

    class Gone:
        def lineage(self, stream: str) -> Any:
            asking.put(threading.current_thread())
            raise UsageError(f"there is no stream {stream}")

    class Late(Watched):
        def identity(self) -> Mapping[str, str]:
            asking.get(timeout=30).join(30)
            return super().identity()

    store = Late()
    with pytest.raises(UsageError, match="no stream orders"):
        take(Gone(), store, "orders", CONSUMER, lambda: 0)  # type: ignore[arg-type]
    assert store.reads == 0


def test_the_first_record_is_found_behind_an_empty_page(fake, kinesis):
    """GetRecords, API reference: a page may be empty although more records follow."""
    snapshot = take(kinesis, MemoryStore([lease(0, "TRIM_HORIZON")]), "orders", CONSUMER, lambda: 0)
    fake.faults.add("GetRecords", short_page(0), times=1)
    found = first_records(snapshot, kinesis, [(shard_id(0), START)]).first_records
    assert found[shard_id(0)].first == str(fake.stream("orders").shards[0].records[0].number)
    assert found[shard_id(0)].count == 1


def with_another() -> tuple[FakeKinesis, int, int]:
    """`orders` and, an hour later, `other`; two of its numbers: of its first shard and of a child,
    in whose number nothing tells of the stream's creation."""
    fake = split_stream()
    client = fake.client()
    client.create_stream(StreamName="other", ShardCount=1)
    fake.settle()
    first = fake.put("other", 0, "a").number
    fake.clock.advance(60)
    client.split_shard(StreamName="other", ShardToSplit=shard_id(0), NewStartingHashKey=str(2**127))
    fake.settle()
    return fake, first, fake.put("other", 1, "b").number


@pytest.mark.parametrize(("fault", "known"), [
    (None, (True, True)), (("ListStreams", "AccessDeniedException"), (False, False)),
    (("GetShardIterator", "AccessDeniedException"), (True, False)),
    (("GetShardIterator", "ExpiredTokenException"), (True, False)),
], ids=["allowed", "streams are not listed", "none is asked", "asking fails"])  # fmt: skip
def test_a_row_of_another_stream_of_the_account(fault, known):
    """A stream's first numbers tell when it was created; of a child's, the stream is asked."""
    fake, first, later = with_another()
    other = fake.stream("other").arn
    if fault is not None:
        action, code = fault
        asks = "" if action == "ListStreams" else "other"
        fake.faults.add(action, code, times=None, when=lambda request: asks in str(request))
    epochs = [number >> 148 & 0xFFFFFFFFF for number in (first, later)]
    kinesis = in_process(fake).kinesis
    born = streams_of(
        kinesis.lineage("orders"), kinesis, dict(zip(epochs, (first, later), strict=True))
    )
    if known == (False, False):
        assert born is None
    else:
        assert born == {epoch: (other,) for epoch, told in zip(epochs, known, strict=True) if told}
    own = str(fake.stream("orders").shards[1].records[0].number)
    store = MemoryStore([lease(0, str(later)), lease(1, own), lease(2, str(first))])
    snapshot = take(in_process(fake).kinesis, store, "orders", CONSUMER, lambda: 0)
    assert snapshot.born == (born or {}) and snapshot.others_known is (born is not None)
    asked = [call for call in fake.calls
             if call.action == "GetShardIterator" and "other" in str(call.params)]  # fmt: skip
    assert len(asked) == (0 if born is None else 2), "once by each"


def test_kinesis_is_asked_about_every_number_of_rows_of_two_streams():
    """Each is of an epoch of its own, of which no other number tells; a mark tells nothing."""
    fake, first, _ = with_another()
    own = fake.stream("orders").shards[1].records[0].number
    doubtful = [own + (7 + n << 148) for n in range(NUMBERS_ASKED + 2)]
    texts = ["TRIM_HORIZON", str(own), str(first), *map(str, doubtful)]
    store = MemoryStore([lease(n, text) for n, text in enumerate(texts)])
    snapshot = take(in_process(fake).kinesis, store, "orders", CONSUMER, lambda: 0)
    assert snapshot.asked.keys() == {*doubtful}


def test_a_stream_is_asked_about_numbers_of_the_second_of_its_creation(kinesis):
    """Its first shards began three seconds before; a later one may have an epoch of that second."""
    lineage, number = kinesis.lineage("orders"), 7

    class Account:
        def streams(self) -> dict[str, float]:
            return {lineage.stream.arn: lineage.stream.created, "other": 1_795_000_000.0}

        def takes(self, arn: str, numbers: Iterable[int], _iterator: str) -> dict[int, bool]:
            return dict.fromkeys(numbers, arn == "other")

    found = streams_of(lineage, Account(), {1_795_000_000: number})  # type: ignore[arg-type]
    assert found == {1_795_000_000: ("other",)}


def test_no_stream_is_listed_where_no_number_is_another_s(fake, kinesis):
    assert streams_of(kinesis.lineage("orders"), kinesis, {}) == {}
    assert "ListStreams" not in [call.action for call in fake.calls]


def test_rows_that_the_library_refuses_are_refused_once_they_are_judged():
    """The snapshot is taken all the same, so that the report can say so."""
    row = Image("shardId-000000000000", {"leaseKey": {"N": "7"}})
    quickwit = parse("quickwit+file:///srv?index=i&source=s")
    snapshot = take(in_process(split_stream()).kinesis, MemoryStore([row]), "orders", quickwit,
                    lambda: 0)  # fmt: skip
    assert snapshot.images == (row,)


def test_a_listing_of_its_own_changes_nothing_else():
    fake, first, _ = with_another()
    kinesis = in_process(fake).kinesis
    pinned = kinesis.lineage("orders")
    stream = Overlaid(kinesis, lambda _stream: pinned)
    assert stream.lineage("other") is pinned
    assert stream.records is kinesis.records
    assert stream.streams() == kinesis.streams()
    assert stream.probe("orders", shard_id(0), START) == kinesis.probe("orders", shard_id(0), START)
    assert dict(stream.takes("orders", [first], "AFTER_SEQUENCE_NUMBER")) == {first: False}


def test_a_stream_that_is_a_snapshot_answers_what_was_asked_then(fake):
    known, unknown = (record.number for record in fake.stream("orders").shards[1].records[:2])
    taken = take(in_process(fake).kinesis, MemoryStore([lease(0, "TRIM_HORIZON")]), "orders",
                 CONSUMER, lambda: 0)  # fmt: skip
    probe = Probe(START, drained=True)
    ahead = MemoryStore([lease(1, str(known + (9 << 148)))])
    assert take(FrozenStream(taken), ahead, "orders", CONSUMER, lambda: 0).asked == {}
    frozen = FrozenStream(replace(taken, asked={known: True}, probes={shard_id(0): probe}))
    assert frozen.takes("", [known, unknown], "") == {known: True}
    assert ListedStream(taken).takes("", [known], "") == {known: None}
    assert probed(taken, frozen, [(shard_id(0), START)]).probes == {shard_id(0): probe}
    assert first_records(taken, frozen, [(shard_id(1), START)]) is taken
    with pytest.raises(UsageError, match="--count has to read records"):
        counted(taken, frozen, [Interval(shard_id(1), at_number(str(known)), TIP)])


@pytest.mark.parametrize(("most", "asked"), [(None, 6), (4, 4), (9, 6)])
def test_kinesis_is_asked_about_so_many_numbers_at_most(most, asked, fake):
    """Of numbers that lie within the life of a shard, with an epoch that it never had."""
    lineage = in_process(fake).kinesis.lineage("orders")
    record = fake.stream("orders").shards[1].records[0]
    texts = [str(record.number + (7 << 148) + (n << 80)) for n in range(6)]

    class Kinesis:
        numbers: tuple[int, ...] = ()

        def takes(self, _arn: str, numbers: Iterable[int], _iterator: str) -> dict[int, bool]:
            self.numbers += tuple(numbers)
            return {}

    kinesis = Kinesis()
    verified(Snapshot(CONSUMER, lineage, (), {}, 0.0), kinesis, texts, most)  # type: ignore[arg-type]
    assert len(kinesis.numbers) == asked and set(map(str, kinesis.numbers)) <= set(texts)


def test_a_key_that_names_the_stream_tells_it_from_those_of_the_same_second(kinesis):
    lineage = kinesis.lineage("orders")
    account = lineage.stream.account
    key = f"{account}:orders:{int(lineage.stream.created)}:shardId-000000000001"
    named = Image(key, {"leaseKey": {"S": key}, "checkpoint": {"S": "TRIM_HORIZON"}})

    class Twins:
        def streams(self) -> dict[str, float]:
            twin = lineage.stream.arn + "-twin"
            return {lineage.stream.arn: lineage.stream.created, twin: lineage.stream.created}

    for image, names in ((lease(1, "TRIM_HORIZON"), ["orders-twin"]), (named, [])):
        snapshot = Snapshot(CONSUMER, lineage, (image,), {}, 0.0)
        found = alike(snapshot, Twins(), ())  # type: ignore[arg-type]
        assert [arn.rpartition("/")[2] for arn in found] == names
