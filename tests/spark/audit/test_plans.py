"""The shape of the physical plans: what a billion rows would have to bear."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from typing import Any

import pytest

from reshardctl.kinesis.fast import Reach
from reshardctl.spark.audit import Columns, alone, audit
from reshardctl.spark.audit.against import _counted, _joined, _placed, _there
from reshardctl.spark.audit.columns import mapped
from reshardctl.spark.audit.disordered import _batches
from reshardctl.spark.audit.doubled import suspects
from reshardctl.spark.audit.known import Known, known
from reshardctl.spark.audit.laid import laid
from reshardctl.spark.audit.reading import Begin, Stream, Window, records
from reshardctl.spark.audit.slots import slots
from tests.lineage.histories import CREATED
from tests.spark.audit.sinks import SCHEMA, clean, frame, row, split_once


@pytest.fixture(scope="module")
def sink(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Rows in a file, so that columns which nobody wants can be left there."""
    path = str(tmp_path_factory.mktemp("plans") / "sink")
    frame(spark, clean()).write.parquet(path)
    return spark.read.parquet(path)


def rows_of(sink: Any) -> tuple[Any, Known]:
    lineage = split_once()
    shards = known(lineage)
    cut = slots(shards, CREATED, CREATED + 100, None)
    return laid(mapped(sink, Columns(order="batch")), shards, lineage, cut), shards


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
    text = plan(alone._counts(rows_of(sink)[0]))
    check(text)
    (keys,) = shuffles(text)
    assert keys.startswith("hashpartitioning(at#") and "partial_count(1)" in text
    assert "partition_key" not in text, "a column that nobody needs is read"


def test_doubled_records_are_looked_for_by_hash(sink: Any) -> None:
    """A shard with nearly all rows is spread over all tasks."""
    rows, shards = rows_of(sink)
    text = plan(suspects(rows.where("fault IS NULL"), shards))
    check(text)
    (keys,) = shuffles(text)
    assert re.match(r"hashpartitioning\(hash#\d+L, ", keys)
    assert "ReadSchema: struct<sequence_number:string,sub_sequence_number:bigint,shard_id" in text


def test_order_is_looked_at_by_batch(sink: Any) -> None:
    rows, shards = rows_of(sink)
    text = plan(_batches(rows.where("order IS NOT NULL AND key IS NOT NULL"), shards))
    # The second sums up a row a shard and batch, as text.
    check(text.replace("SortAggregate", "", 2).replace("Sort ", "", 2))
    assert len(shuffles(text)) == 2 and text.count("partial_min(upper") == 1


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


def test_the_driver_holds_no_rows(spark: Any) -> None:
    """Ten times the rows, as many facts: groups are as many as the lineage has slots."""
    lineage = split_once()
    few, many = (
        audit(spark.createDataFrame([], SCHEMA).union(frame(spark, rows)), lineage=lineage)
        for rows in (clean(), [row(1, n % 5 + 1) for n in range(90)])
    )
    assert len(many.facts.buckets) <= len(few.facts.buckets)
