"""The summary of a sink by one pass says what the three separate passes say."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.spark.audit import Columns, audit, query
from reshardctl.spark.audit.columns import mapped
from reshardctl.spark.audit.query import summarised, suspects, tables
from reshardctl.spark.audit.shards import known, laid, slots
from reshardctl.spark.functions import F
from tests.unit.lineage.histories import CREATED
from tests.unit.spark.audit.sinks import clean, frame, row, split_once
from tests.unit.spark.audit.test_plans import check, plan, shuffles

BATCH = Columns(order="batch")
AGGREGATED = [row(1, 40, sub_sequence_number=sub, batch=5) for sub in range(70)]
SINKS = {
    "clean": clean(),
    "hundreds of records in several batches": [row(1, n, batch=n // 30) for n in range(300)],
    "the same record in two batches": [*clean(), row(1, 2, batch=9), row(2, 1, CREATED + 1)],
    "aggregated records": [*clean(), *AGGREGATED, AGGREGATED[7]],
    "rows that are not usable": [
        *clean(), row(1, 7, sequence_number="none"), row(1, 8, stream="x"),
    ],
    "rows without key, order or arrival": [
        *clean(), row(1, 9, partition_key=None), row(1, 10, batch=None),
        row(1, 11, approximate_arrival_timestamp=None),
    ],
}  # fmt: skip
OPTIONAL = ("sub_sequence_number", "approximate_arrival_timestamp")


def assigned(sink: Any) -> tuple[Any, Any, Any]:
    lineage = split_once()
    shards, found = known(lineage), mapped(sink, BATCH)
    cut = slots(shards, CREATED, CREATED + 100, None)
    return laid(found, shards, lineage, cut), shards, found.names


def sinks() -> Iterator[Any]:
    """All of them as one sink, with all columns, and without those that a sink may lack; the clean
    one. Each by itself is left to the long tests."""
    together = [one for rows in SINKS.values() for one in rows]
    yield pytest.param(together, (), id="together")
    yield pytest.param(together, OPTIONAL, id="together, without optional columns")
    for name, rows in SINKS.items():
        marks = [] if name == "clean" else [pytest.mark.long]
        yield pytest.param(rows, (), id=name, marks=marks)
        without = f"{name}, without optional columns"
        yield pytest.param(rows, OPTIONAL, id=without, marks=[pytest.mark.long])


def shuffled(rows: list[Any]) -> list[Any]:
    return Random(7).sample(rows, len(rows))


@pytest.mark.parametrize(("rows", "dropped"), list(sinks()))
def test_one_pass_says_what_three_say(spark: Any, rows: Any, dropped: tuple[str, ...]) -> None:
    rows, shards, names = assigned(frame(spark, shuffled(rows)).drop(*dropped))
    good = rows.where("fault IS NULL")
    with summarised(rows, shards, names) as summary:
        groups = query.groups(rows, shards, summary.counts)
        cells = {line["cell"] for line in summary.cells.collect()}
        batches = {tuple(line) for line in summary.batches.collect()}
    apart = query.groups(rows, shards)
    assert sorted(groups, key=repr) == sorted(apart, key=repr)
    assert cells == {line["cell"] for line in suspects(good, shards).collect()}
    told = good.where("order IS NOT NULL AND key IS NOT NULL")
    by_head = told.groupBy("at", "order", "head").agg(F.min("upper"), F.max("upper"))
    assert batches == {tuple(line) for line in by_head.collect()}


def test_lines_are_moved_and_not_rows(spark: Any, tmp_path: Any) -> None:
    """No sort; a line is summed up before it is moved, and holds no text of a row."""
    frame(spark, clean()).write.parquet(str(tmp_path / "sink"))
    text = plan(tables(*assigned(spark.read.parquet(str(tmp_path / "sink")))))
    check(text)
    assert len(shuffles(text)) == 2 and "partial_bit_or(bit" in text, text
    moved = text[: text.rindex("Exchange hashpartitioning")]
    assert "number#" not in moved and "key#" not in moved, text


DAMAGED = [*clean(), row(1, 2, batch=9), row(1, 7, sequence_number="none")]


@pytest.mark.parametrize(("rows", "kept", "twice"), [
    (clean(), 8, True), (DAMAGED, len(DAMAGED), True), (DAMAGED, 8, False),
], ids=["clean", "damaged", "damaged, and larger than what is kept"])  # fmt: skip
def test_how_often_a_sink_is_read(
    spark: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, rows: Any, kept: int, twice: bool
) -> None:
    """For the first and the last arrival, and for all the rest; a large one also to find the rows
    that are wrong with it."""
    monkeypatch.setattr(sys.modules[audit.__module__], "KEPT", kept)
    frame(spark, shuffled(rows)).coalesce(1).write.parquet(str(tmp_path / "sink"))
    read = spark.sparkContext.accumulator(0)

    def counting(batches: Any) -> Any:
        for batch in batches:
            read.add(batch.num_rows)
            yield batch

    sink = spark.read.parquet(str(tmp_path / "sink"))
    facts = audit(sink.mapInArrow(counting, sink.schema), lineage=split_once(), columns=BATCH).facts
    assert facts.rows == len(rows)
    assert (read.value == 2 * len(rows)) is twice and read.value >= 2 * len(rows)


def test_a_service_that_keeps_no_tables(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Databricks' serverless compute refuses persist(): the same facts, read more often."""
    from pyspark.errors import PySparkException

    def refuse(*_: Any) -> None:
        raise PySparkException("[NOT_SUPPORTED_WITH_SERVERLESS] PERSIST TABLE is not supported")

    sink = frame(spark, SINKS["the same record in two batches"])
    facts = audit(sink, lineage=split_once(), columns=BATCH).facts
    monkeypatch.setattr(type(sink), "persist", refuse)
    again = audit(sink, lineage=split_once(), columns=BATCH).facts
    assert replace(again, taken=facts.taken) == facts


@pytest.mark.parametrize(("partitions", "adaptive", "told"), [
    ("200", "false", True), ("200", "true", False), ("8", "false", False),
])  # fmt: skip
def test_a_session_of_the_operators_that_few_rows_take_long_in(
    partitions: str, adaptive: str, told: bool
) -> None:
    """200 partitions (Spark's own default) were 1,635 tasks of an audit without adaptive execution,
    and 62 with it."""
    conf = {"spark.sql.shuffle.partitions": partitions, "spark.sql.adaptive.enabled": adaptive}
    notes = list(sys.modules[audit.__module__]._slow(SimpleNamespace(conf=conf)))
    assert bool(notes) is told and all("200 partitions" in note for note in notes)
