"""Iceberg tables: the rows that count, and one snapshot for all passes of an audit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reshardctl.errors import CannotTell, UsageError
from reshardctl.spark.audit import Columns, audit_path, sink
from reshardctl.spark.audit.audit import save
from tests.proof.damaged_sinks.layouts import OURS
from tests.proof.damaged_sinks.spark_files import iceberg
from tests.unit.spark import fetched
from tests.unit.spark.audit.scenes import columns, differences, fitting, scene
from tests.unit.spark.audit.sinks import SCHEMA, clean, frame, row, split_once

pytestmark = pytest.mark.skipif(
    not fetched.exists("iceberg"), reason="no release of Iceberg is for this one of Spark"
)


@pytest.fixture
def name(spark: Any) -> Iterator[str]:
    """Of a table that is not there yet."""
    assert fetched.jars("iceberg"), "tests/proof/libraries/build fetches it"
    yield "lake.sinks.orders"
    spark.sql("DROP TABLE IF EXISTS lake.sinks.orders PURGE")


@pytest.fixture
def table(spark: Any, name: str) -> str:
    """With the clean rows, in two snapshots."""
    frame(spark, clean()[:5]).writeTo(name).using("iceberg").create()
    frame(spark, clean()[5:]).writeTo(name).append()
    return name


def sql(spark: Any, text: str, *names: str) -> Any:
    return spark.sql(text.format(*names)).collect()


def expire(spark: Any) -> None:
    """All snapshots but the newest."""
    late = "older_than => TIMESTAMP '2099-01-01 00:00:00', retain_last => 1"
    sql(spark, f"CALL lake.system.expire_snapshots(table => 'sinks.orders', {late})")


def rows_of(spark: Any, table: str, **other: Any) -> dict[str, int]:
    facts = audit_path(spark, table, lineage=split_once(), **other).facts
    assert (facts.form, facts.changed, facts.unusable) == ("table", "", ())
    return {shard[-1]: one.rows for shard, one in facts.shards.items()}


def test_an_injected_sink_s_table(spark: Any, name: str, tmp_path: Path) -> None:
    """As of any other sink: what is doubled, out of order, of no shard; and their rows."""
    made = scene(47, fitting(OURS))
    iceberg(spark, made.rows, OURS, name)
    found = audit_path(spark, name, lineage=made.lineage(), columns=columns(OURS))
    assert differences(found, made.truth, OURS) == ""
    assert save(found, str(tmp_path / "rows"))
    doubled = spark.read.parquet(str(tmp_path / "rows" / "doubled"))
    assert doubled.count() == sum(one.doubled for one in found.facts.shards.values()) > 0


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_only_rows_of_the_snapshot_count(spark: Any, table: str, mode: str) -> None:
    """Not deleted ones; columns of a later name do, also in files of before. Files that are written
    together anew, and snapshots that are gone, change nothing."""
    sql(spark, f"ALTER TABLE {{}} SET TBLPROPERTIES ('write.delete.mode' = '{mode}')", table)
    frame(spark, [row(1, n, sub_sequence_number=9) for n in range(1, 4)]).coalesce(1).writeTo(
        table
    ).append()
    sql(spark, "DELETE FROM {} WHERE sub_sequence_number = 9 AND batch < 3", table)
    deletes = spark.table(f"{table}.delete_files").count()
    assert (mode == "merge-on-read") == bool(deletes)
    sql(spark, "ALTER TABLE {} RENAME COLUMN sequence_number TO seqNo", table)
    sql(spark, "ALTER TABLE {} ADD COLUMN note STRING FIRST", table)
    said = Columns(number="seqNo")
    assert rows_of(spark, table, columns=said) == {"1": 6, "2": 3, "3": 1}
    options = "options => map('rewrite-all', 'true')"
    sql(spark, f"CALL lake.system.rewrite_data_files(table => 'sinks.orders', {options})")
    expire(spark)
    assert rows_of(spark, table, columns=said) == {"1": 6, "2": 3, "3": 1}


def test_a_streaming_query_s_table(spark: Any, table: str, tmp_path: Path) -> None:
    frame(spark, clean()[:2]).coalesce(1).write.parquet(str(tmp_path / "given"))
    schema = spark.table(table).schema
    query = (
        spark.readStream.schema(schema).parquet(str(tmp_path / "given")).writeStream
        .option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        .toTable(table)
    )  # fmt: skip
    assert query.awaitTermination(120)
    assert rows_of(spark, table) == {"1": 7, "2": 3, "3": 1}


def test_it_is_read_at_one_snapshot(spark: Any, table: str) -> None:
    found = sink.opened(spark, table)
    before = sorted(row.sequence_number for row in found.frame.collect())
    sql(spark, "DELETE FROM {} WHERE shard_id LIKE '%3'", table)
    frame(spark, clean()).writeTo(table).append()
    assert sorted(row.sequence_number for row in found.frame.collect()) == before
    assert sink._changed(spark, found, 9) == ""
    assert sink.opened(spark, table).frame.count() == 17


def test_a_change_is_seen_where_it_cannot_be_read_at_one_snapshot(spark: Any, table: str) -> None:
    """A snapshot has the columns of its time: the new name of a column is read without one."""
    sql(spark, "ALTER TABLE {} RENAME COLUMN sequence_number TO number_of_it", table)
    found = sink.opened(spark, table)
    assert "number_of_it" in found.frame.columns and sink._changed(spark, found, 9) == ""
    frame(spark, clean()[:1]).withColumnRenamed("sequence_number", "number_of_it").writeTo(
        table
    ).append()
    sql(spark, "DELETE FROM {} WHERE shard_id LIKE '%3'", table)
    assert "snapshot" in sink._changed(spark, found, found.frame.count())


@pytest.mark.parametrize("kind", ["branch", "tag"])
def test_a_branch_and_a_tag(spark: Any, table: str, kind: str) -> None:
    sql(spark, f"ALTER TABLE {{}} CREATE {kind} checked", table)
    sql(spark, "DELETE FROM {} WHERE shard_id LIKE '%3'", table)
    assert rows_of(spark, f"{table}.{kind}_checked") == {"1": 5, "2": 3, "3": 1}
    found = sink.opened(spark, f"{table}.{kind}_checked", "table")
    if kind == "branch":
        frame(spark, clean()[:2]).writeTo(f"{table}.branch_checked").append()
    assert found.frame.count() == 9 and sink._changed(spark, found, 9) == ""


def test_a_snapshot_and_a_moment(spark: Any, table: str) -> None:
    """As Iceberg's names of tables have them (Spark queries, "Time travel")."""
    first, _ = sql(
        spark,
        "SELECT snapshot_id AS id, unix_millis(committed_at) AS at FROM {}.snapshots "
        "ORDER BY committed_at",
        table,
    )
    assert rows_of(spark, f"{table}.snapshot_id_{first.id}") == {"1": 5}
    assert rows_of(spark, f"{table}.at_timestamp_{first.at}") == {"1": 5}


def test_a_table_without_a_snapshot(spark: Any, name: str) -> None:
    sql(spark, f"CREATE TABLE {{}} ({SCHEMA}) USING iceberg", name)
    found = sink.opened(spark, name)
    assert found.frame.count() == 0 and sink._changed(spark, found, 0) == ""
    frame(spark, clean()).writeTo(name).append()
    assert "no snapshot, and then" in sink._changed(spark, found, 0)


@pytest.mark.parametrize("form", [None, "parquet"])
def test_its_folder_is_no_sink(spark: Any, table: str, form: str | None) -> None:
    """Its files hold rows that no snapshot has, as well."""
    (location,) = [
        row.data_type for row in sql(spark, "DESCRIBE TABLE EXTENDED {}", table)
        if row.col_name == "Location"
    ]  # fmt: skip
    for path in (location, f"{location}/data"):
        with pytest.raises(UsageError, match="Iceberg") as caught:
            audit_path(spark, path, form, lineage=split_once())
        assert "--form table" in caught.value.next


def test_a_snapshot_that_expires_while_it_is_read(spark: Any, table: str) -> None:
    found = sink.opened(spark, table)
    sql(spark, "DELETE FROM {}", table)
    expire(spark)
    with pytest.raises(Exception, match="Cannot find snapshot"):
        found.frame.collect()


def test_catalogs_that_spark_does_not_have(spark: Any) -> None:
    for form in (None, "table"):
        with pytest.raises(UsageError, match="no catalog glue") as caught:
            audit_path(spark, "glue.sinks.orders", form, lineage=split_once())
        assert "spark.sql.catalog.glue" in caught.value.next
        with pytest.raises((UsageError, CannotTell), match=r"no table lake\.sinks\.nothing"):
            audit_path(spark, "lake.sinks.nothing", form, lineage=split_once())
