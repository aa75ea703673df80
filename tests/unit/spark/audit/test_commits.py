"""What proves a sink whole: one query's own commits, and nobody else's rows among them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reshardctl.spark.audit import audit_path
from reshardctl.spark.audit.commits import NONE, Proof, of_file_sink
from tests.unit.spark.audit.sinks import clean, frame, split_once
from tests.unit.spark.fetched import needs_delta


class Table:
    """A Delta table that a streaming query fills with the rows of a folder."""

    def __init__(self, spark: Any, home: Path) -> None:
        self.spark, self.home, self.sink = spark, home, str(home / "sink")

    def put(self, rows: list[Any]) -> None:
        frame(self.spark, rows).coalesce(1).write.mode("append").parquet(str(self.home / "given"))

    def stream(self, query: str = "query", each: Callable[[Any, int], None] | None = None) -> None:
        """Batches until all is read, by a query with a checkpoint of this name."""
        given = str(self.home / "given")
        schema = self.spark.read.parquet(given).schema
        writer = self.spark.readStream.schema(schema).parquet(given).writeStream.trigger(
            availableNow=True
        ).option("checkpointLocation", str(self.home / query))  # fmt: skip
        if each is None:
            running = writer.format("delta").start(self.sink)
        else:
            running = writer.foreachBatch(each).start()
        assert running.awaitTermination(120)

    def sql(self, text: str) -> None:
        self.spark.sql(text.format(f"delta.`{self.sink}`")).collect()

    @property
    def proven(self) -> bool:
        """Whether an audit of the sink alone takes every shard's rows for whole."""
        facts = audit_path(self.spark, self.sink, lineage=split_once()).facts
        assert facts.shards and facts.form == "delta"
        (found,) = {one.proven == one.last for one in facts.shards.values()}
        assert found or all(one.proven is None for one in facts.shards.values())
        return found


@pytest.fixture
def table(spark: Any, tmp_path: Path) -> Table:
    found = Table(spark, tmp_path)
    found.put(clean()[:5])
    return found


@needs_delta
def test_delta_of_one_streaming_query_is_whole_until_someone_else_writes(table: Table) -> None:
    table.stream()
    table.put(clean()[5:])
    table.stream()
    table.sql("OPTIMIZE {}")
    assert table.proven, "moved rows are the same rows"
    table.sql("DELETE FROM {} WHERE shard_id LIKE '%2'")
    assert not table.proven


@needs_delta
def test_delta_that_a_second_query_began_anew_is_not(table: Table) -> None:
    """It may have begun at LATEST: what lies between no commit tells."""
    table.stream()
    table.stream("another")
    assert not table.proven


@needs_delta
@pytest.mark.parametrize("how", ["a batch job", "foreachBatch"])
def test_delta_that_anything_may_have_written_is_not(table: Table, how: str) -> None:
    if how == "foreachBatch":
        table.stream(each=lambda rows, number: (
            rows.write.format("delta").mode("append").option("txnAppId", "orders")
            .option("txnVersion", number).save(table.sink)
        ))  # fmt: skip
    else:
        frame(table.spark, clean()).write.format("delta").save(table.sink)
    assert not table.proven


@pytest.mark.parametrize(("names", "last"), [
    (["0", "1", "10", "9.compact", ".10.crc", "_tmp"], 10), (["9.compact"], 9), ([], None),
])  # fmt: skip
def test_the_last_batch_of_a_file_sink(
    spark: Any, tmp_path: Path, names: list[str], last: int | None
) -> None:
    """Names: CompactibleFileStreamLog.batchIdToPath; checksums lie beside them as hidden files."""
    log = tmp_path / "_spark_metadata"
    log.mkdir()
    for name in names:
        (log / name).write_text("v1\n")
    found = of_file_sink(spark, str(tmp_path))
    assert found.batch == last and bool(found.text) is (last is not None)


def test_a_log_that_begins_late_proves_what_came_after() -> None:
    """Delta takes away commits of more than 30 days (delta.logRetentionDuration)."""
    proof = Proof("whole", since=1000.0)
    assert proof.reaching(1000.0) == "whole" and proof.reaching(999.0) == ""
    assert Proof("whole").reaching(0.0) == "whole" and NONE.reaching(1e12) == ""
