"""Records of the wire as Arrow, aggregates unpacked."""

from __future__ import annotations

from hashlib import md5
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="needs PyArrow, which Spark's Python sources need")

from reshardctl.kinesis.fast import Record
from reshardctl.spark.records import ARROW, batch_of
from tests.proof.damaged_sinks.kpl import aggregate

NUMBER = "496800000000000000000000000000000000000000000000000000{:02}".format


def record(n: int, data: bytes, key: str = "k", arrived: Any = 1795232277.123) -> Record:
    return Record(NUMBER(n), data, key, arrived)


def rows(records: Any, unpack: bool = True) -> list[tuple[Any, ...]]:
    batch = batch_of(records, "shardId-000000000007", "orders", unpack=unpack)
    assert batch.schema == ARROW
    return [
        (row["data"], row["partition_key"], row["sequence_number"], row["sub_sequence_number"])
        for row in batch.to_pylist()
    ]


def test_a_row_has_what_the_record_has() -> None:
    plain = [record(1, b""), record(2, b"\x00\xff" * 500_000, "ключ 🔑"), record(3, b"x" * 77, "")]
    batch = batch_of(plain, "shardId-000000000007", "orders", unpack=True)
    assert batch.schema == ARROW
    first, big, last = batch.to_pylist()
    assert first["data"] == b"" and big["data"] == b"\x00\xff" * 500_000
    assert (big["partition_key"], last["partition_key"]) == ("ключ 🔑", "")
    assert first["sequence_number"] == NUMBER(1) and first["sub_sequence_number"] == 0
    assert (first["shard_id"], first["stream"]) == ("shardId-000000000007", "orders")
    assert first["approximate_arrival_timestamp"].timestamp() == 1795232277.123


@pytest.mark.parametrize("spelled", [1795232277, 1795232277.0, 1.795232277e9])
def test_times_as_servers_spell_them(spelled: float) -> None:
    (row,) = batch_of([record(1, b"", arrived=spelled)], "s", "t", unpack=True).to_pylist()
    assert row["approximate_arrival_timestamp"].timestamp() == 1795232277


def test_a_time_that_is_missing_is_null() -> None:
    batch = batch_of([record(1, b"", arrived=None), record(2, b"")], "s", "t", unpack=True)
    assert batch.column("approximate_arrival_timestamp").null_count == 1


def test_no_records() -> None:
    assert rows([]) == []


def test_user_records_in_their_order_among_the_others() -> None:
    packed = aggregate([("a", b"1"), ("é", b""), ("a", b"3" * 300)])
    found = rows([record(1, b"x"), record(2, packed, "agg"), record(3, b"y"),
                  record(4, packed, "agg")])  # fmt: skip
    inside = [(b"1", "a", 0), (b"", "é", 1), (b"3" * 300, "a", 2)]
    assert found == [
        (b"x", "k", NUMBER(1), 0),
        *((data, key, NUMBER(2), sub) for data, key, sub in inside),
        (b"y", "k", NUMBER(3), 0),
        *((data, key, NUMBER(4), sub) for data, key, sub in inside),
    ]


def test_aggregates_are_left_whole_if_that_is_asked_for() -> None:
    packed = aggregate([("a", b"1"), ("b", b"2")])
    assert rows([record(1, packed)], unpack=False) == [(packed, "k", NUMBER(1), 0)]


def sealed(message: bytes) -> bytes:
    return b"\xf3\x89\x9a\xc2" + message + md5(message, usedforsecurity=False).digest()


BROKEN = {
    "digest": aggregate([("a", b"1")])[:-1] + b"!",
    "magic alone": b"\xf3\x89\x9a\xc2",
    "nothing in it": sealed(b""),
    "keys alone": sealed(b"\x0a\x01a"),
    "cut off": sealed(b"\x1a\xff"),
    "no data": sealed(b"\x0a\x01a\x1a\x02\x08\x00"),
    "no key index": sealed(b"\x0a\x01a\x1a\x03\x1a\x01x"),
    "a key in no table": sealed(b"\x0a\x01a\x1a\x05\x08\x01\x1a\x01x"),
    "a group": sealed(b"\x0a\x01a\x1a\x05\x08\x00\x1a\x01x\x23"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_aggregate_is_one_row_as_it_is(name: str) -> None:
    """As KCL takes it (KCL 3.5.1 AggregatorUtil), but that a bad key index costs no records."""
    data = BROKEN[name]
    assert rows([record(1, data), record(2, b"z")]) == [
        (data, "k", NUMBER(1), 0), (b"z", "k", NUMBER(2), 0)
    ]  # fmt: skip


def test_hash_keys_and_tags_are_passed_over() -> None:
    """All fields of aggregation-format.md: an explicit hash key, its index, and a tag."""
    tag = b"\x0a\x01t\x12\x01v"
    body = b"\x08\x00" + b"\x10\x00" + b"\x1a\x01x" + b"\x22" + bytes([len(tag)]) + tag
    message = b"\x0a\x01a" + b"\x12\x0242" + b"\x1a" + bytes([len(body)]) + body
    assert rows([record(1, sealed(message))]) == [(b"x", "a", NUMBER(1), 0)]


def test_a_user_record_of_another_shard_stays() -> None:
    """See `kpl`: KCL drops the whole aggregate, and with it what no producer puts again."""
    many = [(f"key-{n}", b"%d" % n) for n in range(300)]
    assert [row[1] for row in rows([record(1, aggregate(many))])] == [key for key, _ in many]
