"""Order per key, in a shard and across a split; the expectations are laid out by hand."""

from __future__ import annotations

from typing import Any

from reshardctl.spark.audit import Columns, audit
from tests.unit.spark.audit.sinks import Row, frame, numbered, row, split_late, split_once

BATCH = Columns(order="batch")


def behind(spark: Any, rows: list[Row], lineage: Any = None) -> tuple[set[str], dict[str, Any]]:
    """Numbers of the disordered records, and the counts by the last digit of the shard's id."""
    found = audit(frame(spark, rows), lineage=lineage or split_once(), columns=BATCH)
    assert found.disordered is not None and found.facts.ordered_by == "batch"
    named = [r["sequence_number"] for r in found.disordered.collect()]
    assert len(named) == len(set(named))
    return set(named), {s[-1]: one.disordered for s, one in found.facts.shards.items()}


def test_in_a_shard(spark: Any) -> None:
    rows = [
        row(1, 1, batch=1), row(1, 4, batch=1), row(1, 2, batch=2), row(1, 3, batch=2),
        row(1, 5, batch=2), row(1, 9, batch=3, partition_key="other"),
        row(1, 6, batch=4), row(1, 8, batch=5, partition_key="other"),
    ]  # fmt: skip
    numbers = {numbered(1, n, after=n) for n in (2, 3, 8)}
    assert behind(spark, rows) == (numbers, {"1": 3})


def test_rows_of_one_batch_and_copies_are_in_order(spark: Any) -> None:
    one = [row(1, n, batch=1) for n in (3, 1, 2)]
    again = [row(1, n, batch=2) for n in (1, 2, 3)]
    assert behind(spark, [*one, *again]) == (set(), {"1": 0})


def test_a_copy_does_not_excuse_a_late_first_delivery(spark: Any) -> None:
    rows = [row(1, 2, batch=1), row(1, 1, batch=2), row(1, 1, batch=3), row(1, 2, batch=3)]
    assert behind(spark, rows) == ({numbered(1, 1, after=1)}, {"1": 1})


def test_parent_behind_its_child(spark: Any) -> None:
    """Shard 0 is closed after a minute; its children are 2 and 3, 1 is no kin of theirs."""
    lineage, closed = split_late()
    rows = [
        row(0, 1, batch=1, partition_key="same"), row(2, 1, closed, batch=2, partition_key="same"),
        row(0, 2, batch=3, partition_key="same"), row(0, 3, batch=3, partition_key="alone"),
        row(1, 1, batch=9, partition_key="same"),
        row(3, 1, closed, batch=10, partition_key="alone"),
    ]  # fmt: skip
    late = {numbered(0, 2, after=2)}
    assert behind(spark, rows, lineage) == (late, {"0": 1, "1": 0, "2": 0, "3": 0})


def test_of_one_aggregate(spark: Any) -> None:
    rows = [row(1, 1, batch=n, sub_sequence_number=sub) for n, sub in ((1, 1), (2, 0), (3, 2))]
    found = audit(frame(spark, rows), lineage=split_once(), columns=BATCH)
    assert found.disordered is not None
    assert [r["sub_sequence_number"] for r in found.disordered.collect()] == [0]


def test_without_an_order_nothing_is_said(spark: Any) -> None:
    rows = [row(1, 2, batch=1), row(1, 1, batch=2)]
    found = audit(frame(spark, rows), lineage=split_once())
    assert found.disordered is None and found.facts.ordered_by == ""
    assert {one.disordered for one in found.facts.shards.values()} == {None}
    without = frame(spark, rows).drop("partition_key")
    assert audit(without, lineage=split_once(), columns=BATCH).disordered is None
