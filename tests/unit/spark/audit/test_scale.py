"""Many rows, many shards, nearly all rows in one of them: what is exact, what the driver holds."""

from __future__ import annotations

from typing import Any

import pytest

from reshardctl.model import shard_id
from reshardctl.spark.audit import Columns, audit, query
from reshardctl.spark.audit.shards import A_SHARD, IN_ALL
from tests.unit.lineage.histories import CREATED, fresh
from tests.unit.spark.audit.sinks import Row, frame, lineage, numbered, row, split_once

BATCH = Columns(order="batch")


class Collected:
    """Rows that came to the driver, by any way that PySpark has."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kind: type) -> None:
        self.rows = 0
        collect = kind.collect  # type: ignore[attr-defined]

        def counting(frame: Any) -> Any:
            found = collect(frame)
            self.rows += len(found)
            return found

        def refused(*_: Any) -> Any:
            raise AssertionError("rows may come to the driver by `collect` only, where it counts")

        monkeypatch.setattr(kind, "collect", counting)
        for name in ("toLocalIterator", "toPandas", "toArrow", "foreachPartition"):
            monkeypatch.setattr(kind, name, refused, raising=False)


def rows_of(count: int) -> list[Row]:
    """Of shard 1, all of one second; ten batches."""
    return [
        row(1, n, batch=n * 10 // count) | {
            "sequence_number": numbered(1, n, after=1),
            "approximate_arrival_timestamp": row(1, 1)["approximate_arrival_timestamp"],
        }
        for n in range(count)
    ]  # fmt: skip


def test_ten_times_the_rows_are_as_many_at_the_driver(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    met = []
    for count in (600, 6000):
        sink = frame(spark, rows_of(count)).localCheckpoint()
        with monkeypatch.context() as patched:
            collected = Collected(patched, type(sink))
            facts = audit(sink, lineage=split_once(), columns=BATCH).facts
        assert facts.rows == count
        assert [(one.rows, one.doubled, one.disordered) for one in facts.shards.values()] == [
            (count, 0, 0)
        ]
        met.append((collected.rows, len(facts.buckets)))
    assert met[0] == met[1] and met[0][0] < 10


@pytest.mark.long
def test_five_thousand_shards_one_with_nearly_all_rows(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards, most = 5000, 20_000
    rows = [*(row(shard, 1) for shard in range(shards)), *(row(7, n) for n in range(2, most))]
    sink = frame(spark, [*rows, row(7, 5), row(4999, 1)])
    collected = Collected(monkeypatch, type(sink))
    facts = audit(sink, lineage=lineage(fresh(shards)), columns=BATCH).facts
    assert len(facts.shards) == shards and facts.rows == len(rows) + 2
    seventh = facts.shards[shard_id(7)]
    assert (seventh.rows, seventh.doubled, seventh.last.number) == (
        most, 1, numbered(7, most - 1, after=most - 1)
    )  # fmt: skip
    assert facts.shards[shard_id(4999)].extra == 1
    assert sum(one.doubled for one in facts.shards.values()) == 2
    assert len(facts.buckets) <= IN_ALL
    # Slots, ends of orders and what is doubled: a few lines a shard.
    assert collected.rows < 4 * shards


@pytest.mark.parametrize("few", [3, 1])
def test_more_doubled_records_than_a_filter_takes(
    spark: Any, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """By coarser cells, by none: the same answer. Places inside aggregates are records."""
    monkeypatch.setattr(query, "FEW", few)
    rows = [*(row(1, n) for n in range(300)), *(row(2, n, CREATED + 1) for n in range(100))]
    rows += [row(1, 5, sub_sequence_number=sub) for sub in range(1, 100)]
    again = [row(1, 5), row(1, 70), row(1, 299), row(1, 299), row(2, 99, CREATED + 1),
             row(1, 5, sub_sequence_number=70)]  # fmt: skip
    found = audit(frame(spark, [*rows, *again]), lineage=split_once())
    named = {
        (one["sequence_number"], one["sub_sequence_number"], one["copies"])
        for one in found.doubled.collect()
    }
    assert named == {
        (numbered(1, 5, after=5), 0, 2), (numbered(1, 70, after=70), 0, 2),
        (numbered(1, 299, after=299), 0, 3), (numbered(2, 99, CREATED + 1, 99), 0, 2),
        (numbered(1, 5, after=5), 70, 2),
    }  # fmt: skip
    counted = {name[-1]: (one.doubled, one.extra) for name, one in found.facts.shards.items()}
    assert counted == {"1": (4, 5), "2": (1, 1)}


def test_an_hour_of_slots_is_no_more_than_two_hundred(spark: Any) -> None:
    facts = audit(frame(spark, [row(1, n) for n in range(3600)]), lineage=split_once()).facts
    assert len(facts.buckets) <= A_SHARD and sum(one.rows for one in facts.buckets) == 3600
