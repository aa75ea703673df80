"""Stream and store are read at the same time, and what they say belongs together."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from queue import SimpleQueue
from typing import Any

import pytest

from reshardctl.consumers.locator import parse
from reshardctl.consumers.sequence_numbers import CLOCKS_APART
from reshardctl.errors import CannotTell, UsageError
from reshardctl.kinesis.listing import FIRST_WAIT
from reshardctl.model import START, Image, shard_id
from reshardctl.snapshot.take import STALE, first_records, take
from reshardctl.testing.faults import short_page
from tests.contracts.memory_store import MemoryStore
from tests.unit.kinesis.streams import in_process, split_stream

CONSUMER = parse("kcl://orders-app?initial=TRIM_HORIZON&release=3.5.1")


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


def test_neither_waits_for_the_other():
    """Each is answered only once the other was asked too: in turns they would never be."""
    both_asked = threading.Barrier(2, timeout=30)
    fake = split_stream()
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
def test_rows_from_before_a_reshard_are_read_again(taken, age, reads):
    """A listing waits while the stream is resharded, and the consumer goes on meanwhile. One of
    many pages takes long, too, but nothing has changed then. age: of the newest shard."""
    read_once = threading.Event()
    store = Watched(lease(0, "TRIM_HORIZON"))
    fake = split_stream()
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

    store.read = reading  # type: ignore[method-assign]
    snapshot = take(Slow(), store, "orders", CONSUMER, lambda: time[0])
    assert store.reads == reads
    (row,) = snapshot.images
    assert row.attributes["checkpoint"]["S"] == ("SHARD_END" if reads == 2 else "TRIM_HORIZON")


def test_a_listing_that_was_read_twice_counts_as_late():
    assert STALE <= FIRST_WAIT


class Unreadable(MemoryStore):
    def read(self) -> list[Image]:
        raise CannotTell("no rows")


class Absent(MemoryStore):
    def identity(self) -> Mapping[str, str]:
        raise UsageError("no table")


@pytest.mark.parametrize("store", [Unreadable(), Absent()])
def test_of_two_failures_that_of_the_stream_is_told(store):
    with pytest.raises(UsageError, match="there is no stream other"):
        take(in_process(split_stream()).kinesis, store, "other", CONSUMER, lambda: 0)


def test_the_store_s_failure_is_told_where_the_stream_is_there():
    with pytest.raises(CannotTell, match="no rows"):
        take(in_process(split_stream()).kinesis, Unreadable(), "orders", CONSUMER, lambda: 0)


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


def test_the_first_record_is_found_behind_an_empty_page():
    """GetRecords, API reference: a page may be empty although more records follow."""
    fake = split_stream()
    stream = in_process(fake).kinesis
    snapshot = take(stream, MemoryStore([lease(0, "TRIM_HORIZON")]), "orders", CONSUMER, lambda: 0)
    fake.faults.add("GetRecords", short_page(0), times=1)
    found = first_records(snapshot, stream, [(shard_id(0), START)]).first_records
    assert found[shard_id(0)].first == str(fake.stream("orders").shards[0].records[0].number)
    assert found[shard_id(0)].count == 1
