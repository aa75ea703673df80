"""The shape of the physical plans: what a billion rows would have to bear."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

import pytest

from reshardctl.kinesis.fast import Begin, Reach
from reshardctl.lineage import Lineage
from reshardctl.model import shard_id
from reshardctl.spark.audit import Columns, audit, query
from reshardctl.spark.audit.against import (
    Stream,
    Window,
    _counted,
    _joined,
    _placed,
    _there,
    records,
)
from reshardctl.spark.audit.columns import mapped
from reshardctl.spark.audit.disordered import _batches, disordered
from reshardctl.spark.audit.query import doubled, suspects
from reshardctl.spark.audit.shards import Known, known, laid, slots
from reshardctl.spark.functions import SMALL
from tests.unit.lineage.histories import CREATED, fresh
from tests.unit.spark.audit.sinks import clean, frame, lineage, row, split_once


@pytest.fixture(scope="module")
def sink(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Rows in a file, so that columns which nobody wants can be left there."""
    path = str(tmp_path_factory.mktemp("plans") / "sink")
    frame(spark, clean()).write.parquet(path)
    return spark.read.parquet(path)


@pytest.fixture
def large(spark: Any) -> Iterator[None]:
    """No table is small enough to be sent to every task, unless the query says so."""
    name = "spark.sql.autoBroadcastJoinThreshold"
    before = spark.conf.get(name)
    spark.conf.set(name, "-1")
    yield
    spark.conf.set(name, before)


def rows_of(sink: Any) -> tuple[Any, Known]:
    lineage = split_once()
    shards = known(lineage)
    cut = slots(shards, CREATED, CREATED + 100, None)
    return laid(mapped(sink, Columns(order="batch")), shards, lineage, cut), shards


def test_behind_the_known_shards_an_index_is_the_number_of_an_unlisted_one() -> None:
    shards = known(split_once())
    count = len(shards.shards)
    assert shards.id(count - 1) == shards.shards[-1].id
    assert [shards.id(count), shards.id(count + 1)] == [shard_id(0), shard_id(1)]


def plan(frame: Any) -> str:
    shown = io.StringIO()
    with redirect_stdout(shown):
        frame.explain("simple")
    text = shown.getvalue()
    assert "Physical Plan" in text
    return text


def shuffles(text: str) -> list[str]:
    """What rows are shuffled by; a broadcast is no shuffle."""
    return list(re.findall(r"(?<!Broadcast)Exchange (\w+\([^)]*\))", text))


def check(text: str) -> None:
    for word in ("Python", "NestedLoop", "Cartesian", "Sort ", "SortAggregate", "ObjectHash",
                 "CollectLimit", "SinglePartition"):  # fmt: skip
        assert word not in text, text


def test_laying_rows_to_shards_moves_none(sink: Any) -> None:
    text = plan(rows_of(sink)[0])
    check(text)
    assert shuffles(text) == [] and text.count("BroadcastHashJoin") == 1


def test_counts_are_shuffled_not_rows(sink: Any) -> None:
    """One shard may have nearly all rows: they are summed up before they are moved."""
    text = plan(query._counts(rows_of(sink)[0]))
    check(text)
    (keys,) = shuffles(text)
    assert keys.startswith("hashpartitioning(at#") and "partial_count(1)" in text
    assert "partition_key" not in text, "a column that nobody needs is read"


def test_doubled_records_are_looked_for_by_cells_of_64(sink: Any) -> None:
    """What is moved is as many cells as tasks have, not rows; a shard with nearly all rows is
    spread over all tasks."""
    rows, shards = rows_of(sink)
    text = plan(suspects(rows.where("fault IS NULL"), shards))
    check(text)
    (keys,) = shuffles(text)
    assert re.match(r"hashpartitioning\(cell#\d+L, ", keys) and "partial_bit_or(bit" in text
    assert "ReadSchema: struct<sequence_number:string,sub_sequence_number:bigint,shard_id" in text


def test_a_clean_sink_is_not_read_to_show_what_is_wrong_with_it(sink: Any) -> None:
    """Neither are rows gathered by number or key: all that is known from counts."""
    rows, shards = rows_of(sink)
    good = rows.where("fault IS NULL")
    for found in (doubled(good, shards), disordered(good, shards, query.groups(rows, shards))):
        text = plan(found)
        assert "FileScan" not in text and shuffles(text) == [], text


def test_only_the_lineage_is_broadcast(sink: Any) -> None:
    text = plan(rows_of(sink)[0])
    assert text.count("BroadcastExchange") == 1
    below = text[text.index("BroadcastExchange") :]
    assert "FileScan" not in below.split("FileScan parquet")[0] and "Exchange" not in below[10:]
    assert re.search(r"BroadcastExchange.*\n.*(?:\n.*)?(?:LocalTableScan|Scan ExistingRDD)", text)


def test_a_plan_does_not_grow_with_the_shards(sink: Any) -> None:
    """Thousands of branches would be too much for generated code; they are rows of a table."""

    def laid_to(lineage: Lineage) -> str:
        shards = known(lineage)
        cut = slots(shards, CREATED, CREATED + 100, None)
        return plan(laid(mapped(sink, Columns(order="batch")), shards, lineage, cut))

    few, more, many = (
        laid_to(of) for of in (split_once(), lineage(fresh(SMALL + 1)), lineage(fresh(5000)))
    )
    assert len(few.splitlines()) <= len(more.splitlines()) == len(many.splitlines())
    assert few.count("CASE WHEN") == more.count("CASE WHEN") == many.count("CASE WHEN")


def test_order_is_looked_at_by_batch(sink: Any) -> None:
    rows, shards = rows_of(sink)
    text = plan(_batches(rows.where("order IS NOT NULL AND key IS NOT NULL"), shards))
    # The second sums up a row a shard and batch, as text.
    check(text.replace("SortAggregate", "", 2).replace("Sort ", "", 2))
    assert len(shuffles(text)) == 2 and text.count("partial_min(upper") == 1


@pytest.mark.usefixtures("large")
def test_the_stream_is_joined_by_number(spark: Any, sink: Any) -> None:
    rows, shards = rows_of(sink)
    stream = Stream(Reach("us-east-1", "http://127.0.0.1:1"), "orders")
    window = Window(shards.shards[0].id, Begin("TRIM_HORIZON"), None, to_end=True)
    read = _placed(records(spark, stream, {0: window}), stream, shards)
    joined = plan(_joined(read, _there(rows, unpack=True)))
    by_number = [keys for keys in shuffles(joined) if "place#" in keys]
    assert len(by_number) == 2, joined
    assert joined.count("MapInArrow") == 1 and "NestedLoop" not in joined
    cut = slots(shards, CREATED, CREATED + 100, None)
    counted = plan(_counted(_joined(read, _there(rows, unpack=True)), spark, cut))
    assert len(shuffles(counted)) == len(shuffles(joined)) + 1


def test_one_shard_with_nearly_all_rows(spark: Any) -> None:
    """Skew changes no answer."""
    rows = [*(row(1, n) for n in range(1, 900)), *clean(), row(1, 700), row(1, 2)]
    facts = audit(frame(spark, rows), lineage=split_once()).facts
    found = {name[-1]: (one.rows, one.doubled, one.extra) for name, one in facts.shards.items()}
    assert found == {"1": (906, 6, 7), "2": (3, 0, 0), "3": (1, 0, 0)}
