"""Tasks: which shards they read, and that they read them whatever goes wrong. Starts no JVM."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.fake_time import sleep_of

pytest.importorskip("pyspark", reason="needs PySpark, an extra")

from reshardctl.kinesis.fast import Begin, FastReader, Reach, ShardGone, Unmet
from reshardctl.spark.records import together
from reshardctl.spark.source import pieces as module
from reshardctl.spark.source.lines import Stretch
from reshardctl.spark.source.pieces import Piece, pieces, read_piece
from reshardctl.testing import FakeKinesis, serve
from reshardctl.testing.faults import short_page, timeout_after
from tests.proof.damaged_sinks.kpl import aggregate
from tests.unit.kinesis.streams import CREATED, split_stream

BEGINNING = Begin("TRIM_HORIZON")
CLOSED = Stretch("shardId-000000000000", BEGINNING, None, to_end=True)


@pytest.fixture
def fake() -> FakeKinesis:
    return split_stream()


@pytest.fixture
def reach(fake: FakeKinesis, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reach]:
    """On the fake's clock."""
    with serve(fake) as server:
        made = Reach("us-east-1", server.url)
        reader = FastReader(made, "orders", clock=fake.clock.now, sleep=sleep_of(fake))
        monkeypatch.setattr(module, "_reader", lambda _reach, _stream: reader)
        yield made


def stretch(fake: FakeKinesis, first: int = -1, last: int = -1) -> Stretch:
    """Of shard 1: from behind record `first` to record `last`."""
    numbers = [str(one.number) for one in fake.stream("orders").shards[1].records]
    begin = BEGINNING if first < 0 else Begin("AFTER_SEQUENCE_NUMBER", numbers[first])
    return Stretch("shardId-000000000001", begin, numbers[last])


def rows(piece: Piece) -> list[tuple[str, int]]:
    return [
        (row["data"].decode(), row["sub_sequence_number"])
        for batch in read_piece(piece) for row in batch.to_pylist()
    ]  # fmt: skip


def test_tasks_have_so_many_shards_each_and_none_is_empty(fake: FakeKinesis) -> None:
    every = [stretch(fake), CLOSED, stretch(fake, 1)]
    reach = Reach("us-east-1")
    assert pieces(reach, "orders", []) == []
    alone = pieces(reach, "orders", every)
    assert [piece.stretches for piece in alone] == [(one,) for one in every]
    assert len(pieces(reach, "orders", every, tasks=2)) == 2
    assert len(pieces(reach, "orders", every * 50)) == 50, "three each: two would be 75 tasks"
    assert len(pieces(reach, "orders", every, shards_per_task=1, tasks=2)) == 3, "as it is asked"
    pairs = pieces(reach, "orders", every, shards_per_task=2, unpack=False, strict=False)
    assert [piece.stretches for piece in pairs] == [tuple(every[:2]), tuple(every[2:])]
    assert not any(piece.unpack or piece.strict for piece in pairs)


def test_a_task_reads_its_stretches_each_in_its_order(fake: FakeKinesis, reach: Reach) -> None:
    fake.faults.add("GetRecords", short_page(1), times=None)
    (piece,) = pieces(reach, "orders", [CLOSED, stretch(fake, 0, 2)], shards_per_task=9)
    found = [data for data, _ in rows(piece)]
    assert Counter(found) == Counter(["s0-0", "s0-1", "s0-2", "s0-3", "s1-1", "s1-2"])
    for shard in ("s0", "s1"):
        assert [one for one in found if one.startswith(shard)] == sorted(
            one for one in found if one.startswith(shard)
        )


def test_a_replayed_task_gives_the_same_rows(fake: FakeKinesis, reach: Reach) -> None:
    (piece,) = pieces(reach, "orders", [stretch(fake, 0, 2)])
    before = rows(piece)
    fake.stream("orders").shards[1].put(b"later", "k", CREATED + 3500, CREATED + 3500.0)
    fake.faults.add("GetRecords", short_page(1), times=None)
    fake.faults.add("GetRecords", "ProvisionedThroughputExceededException", times=3, after=1)
    fake.faults.add("GetRecords", "ExpiredIteratorException", after=2)
    fake.faults.add("GetRecords", timeout_after, after=1)
    assert rows(piece) == before == [("s1-1", 0), ("s1-2", 0)]


def test_an_iterator_that_expires_behind_an_aggregate_repeats_none_of_it(
    fake: FakeKinesis, reach: Reach
) -> None:
    shard = fake.stream("orders").shards[1]
    for n in range(2):
        packed = aggregate([("a", b"%d-0" % n), ("b", b"%d-1" % n)])
        shard.put(packed, "agg", CREATED + 3000, CREATED + 3000.0 + n)
    (piece,) = pieces(reach, "orders", [stretch(fake, 2)])
    fake.faults.add("GetRecords", short_page(1), times=2)
    fake.faults.add("GetRecords", "ExpiredIteratorException")
    inside = [("0-0", 0), ("0-1", 1), ("1-0", 0), ("1-1", 1)]
    assert rows(piece) == [("s1-3", 0), *inside]


@pytest.mark.parametrize(
    ("shard", "error"), [("shardId-000000000009", ShardGone), ("shardId-000000000001", Unmet)]
)
def test_what_is_gone_fails_the_task_unless_loss_is_accepted(
    fake: FakeKinesis, reach: Reach, shard: str, error: type[Exception]
) -> None:
    until = stretch(fake).until
    fake.stream("orders").shards[1].records.clear()
    stretches = [Stretch(shard, BEGINNING, until), CLOSED]
    (strict,) = pieces(reach, "orders", stretches, shards_per_task=2)
    with pytest.raises(error):
        rows(strict)
    (lenient,) = pieces(reach, "orders", stretches, shards_per_task=2, strict=False)
    assert [data for data, _ in rows(lenient)] == [f"s0-{n}" for n in range(4)]


def test_an_ending_number_as_a_beginning_has_nothing_behind_it(
    fake: FakeKinesis, reach: Reach
) -> None:
    ending = str(fake.stream("orders").shards[0].ending)
    begin = Begin("AFTER_SEQUENCE_NUMBER", ending)
    (piece,) = pieces(reach, "orders", [Stretch(CLOSED.shard, begin, None, to_end=True)])
    assert rows(piece) == []


def test_side_by_side_all_come_and_each_in_its_order() -> None:
    found = list(together([iter([(n, i) for i in range(n)]) for n in range(40)], 3))
    assert sorted(found) == [(n, i) for n in range(40) for i in range(n)]
    for n in range(40):
        assert [i for m, i in found if m == n] == list(range(n))
    assert list(together([], 3)) == []


def test_no_more_are_asked_at_once_than_was_said() -> None:
    running, most, lock = 0, 0, threading.Lock()

    def source() -> Iterator[int]:
        nonlocal running, most
        for one in range(5):
            with lock:
                running += 1
                most = max(most, running)
            with lock:
                running -= 1
            yield one

    assert len(list(together([source() for _ in range(10)], 2))) == 50
    assert most <= 2


def test_what_one_raises_is_raised_and_a_reader_may_stop_early() -> None:
    def broken() -> Iterator[Any]:
        yield 1
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        list(together([broken(), iter(range(5))], 2))
    early = together([iter(range(10**9))], 2)
    assert next(early) == 0
    early.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("head", "tail", "expected"), [
    (None, None, ["b0", "b1", "b2"]), (0, None, ["b1", "b2"]), (2, None, []),
    (None, 1, ["b0", "b1"]), (0, 1, ["b1"]),
])  # fmt: skip
def test_a_stretch_may_begin_and_end_inside_an_aggregate(
    fake: FakeKinesis, reach: Reach, head: int | None, tail: int | None, expected: list[str]
) -> None:
    """As KCL resumes: after the user record that is processed (`kpl`, docs/source.md)."""
    held = fake.stream("orders").shards[1]
    now = fake.clock.now()
    for name in ("a", "b", "c"):
        held.put(aggregate([("k", f"{name}{n}".encode()) for n in range(3)]), "k", int(now), now)
    number = str(held.records[-2].number)
    begin = Begin("AT_SEQUENCE_NUMBER", number)
    one = Stretch("shardId-000000000001", begin, number, head=head, tail=tail)
    (piece,) = pieces(reach, "orders", [one])
    assert [data for data, _ in rows(piece)] == expected
