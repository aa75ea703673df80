"""Sinks by path and by name, as Spark itself writes them; broken ones are called what they are, and
folders of tables whose files say less than their log are not read as plain files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reshardctl.errors import CannotTell, UsageError
from reshardctl.spark.audit import audit_path
from reshardctl.spark.audit import sink as sinks
from reshardctl.spark.audit.sink import opened
from tests.proof.damaged_sinks.files import write_parquet
from tests.proof.damaged_sinks.layouts import OURS
from tests.unit.spark.audit.sinks import clean, frame, split_once
from tests.unit.spark.fetched import exists, needs_delta


def rows_of(spark: Any, sink: Path | str, form: str | None = None) -> tuple[str, dict[str, int]]:
    facts = audit_path(spark, str(sink), form, lineage=split_once()).facts
    assert facts.unusable == () and facts.changed == ""
    return facts.form, {name[-1]: one.rows for name, one in facts.shards.items()}


@pytest.mark.parametrize("form", ["parquet", "json", "csv"])
def test_files(spark: Any, tmp_path: Path, form: str) -> None:
    writer = frame(spark, clean()).write
    if form == "csv":
        writer = writer.option("header", True).option("compression", "gzip")
    writer.format(form).save(str(tmp_path / "sink"))
    assert rows_of(spark, tmp_path / "sink") == (form, {"1": 5, "2": 3, "3": 1})


def test_a_table(spark: Any) -> None:
    frame(spark, clean()).write.mode("overwrite").saveAsTable("audited_rows")
    try:
        assert rows_of(spark, "audited_rows") == ("table", {"1": 5, "2": 3, "3": 1})
        assert rows_of(spark, "default.audited_rows")[0] == "table"
    finally:
        spark.sql("DROP TABLE audited_rows")
    with pytest.raises(UsageError, match="there is no table audited_rows"):
        audit_path(spark, "audited_rows", "table", lineage=split_once())


def test_only_committed_files_of_a_file_sink_count(spark: Any, tmp_path: Path) -> None:
    """A file that no batch has committed lies beside (FileStreamSink, MetadataLogFileIndex)."""
    given, sink = tmp_path / "given", tmp_path / "sink"
    rows = frame(spark, clean())
    rows.coalesce(1).write.parquet(str(given))
    query = (
        spark.readStream.schema(rows.schema).parquet(str(given)).writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        .start(str(sink))
    )  # fmt: skip
    assert query.awaitTermination(120)
    (file,) = given.glob("part-*")
    (sink / "part-uncommitted.parquet").write_bytes(file.read_bytes())
    assert rows_of(spark, sink) == ("parquet", {"1": 5, "2": 3, "3": 1})
    facts = audit_path(spark, str(sink), lineage=split_once()).facts
    assert all(one.proven == one.last and one.proof for one in facts.shards.values())
    plain = audit_path(spark, str(given), lineage=split_once()).facts
    assert all(one.proven is None and not one.proof for one in plain.shards.values())


@needs_delta
def test_delta_is_read_at_one_version(spark: Any, tmp_path: Path) -> None:
    sink = str(tmp_path / "sink")
    frame(spark, clean()).write.format("delta").save(sink)
    found = sinks.opened(spark, sink)
    frame(spark, clean()[:2]).write.format("delta").mode("append").save(sink)
    assert (found.form, found.frame.count()) == ("delta", 9)
    assert not found.proof.text, "a batch job may have left anything out"
    assert sinks.opened(spark, sink).frame.count() == 11


@needs_delta
def test_a_delta_table_of_the_catalog_is_read_at_one_version(spark: Any) -> None:
    """As many rows as before, but others: counting them again would not show it."""
    frame(spark, clean()).write.format("delta").saveAsTable("audited_delta")
    try:
        found = sinks.opened(spark, "audited_delta")
        before = sorted(row.sequence_number for row in found.frame.collect())
        spark.sql("DELETE FROM audited_delta WHERE shard_id LIKE '%3'")
        frame(spark, clean()[:1]).write.format("delta").mode("append").saveAsTable("audited_delta")
        assert sorted(row.sequence_number for row in found.frame.collect()) == before
        assert (found.form, sinks._changed(spark, found, 9)) == ("table", "")
    finally:
        spark.sql("DROP TABLE audited_delta")


@pytest.mark.skipif(exists("delta"), reason="this Spark has Delta Lake")
def test_without_delta_the_package_is_named(spark: Any, tmp_path: Path) -> None:
    log = tmp_path / "sink" / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020d}.json").write_text("{}")
    with pytest.raises(UsageError, match="has no Delta Lake") as caught:
        audit_path(spark, str(tmp_path / "sink"), lineage=split_once())
    assert "io.delta:delta-spark_2.13" in caught.value.next


def test_sinks_that_cannot_be_read(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no .*/nowhere"):
        audit_path(spark, str(tmp_path / "nowhere"), lineage=split_once())
    (tmp_path / "empty").mkdir()
    with pytest.raises(CannotTell, match="holds no file"):
        audit_path(spark, str(tmp_path / "empty"), lineage=split_once())
    odd = tmp_path / "odd"
    odd.mkdir()
    for name in ("rows.avro", "MORE.AVRO.GZ"):
        (odd / name).write_bytes(b"Obj")
    with pytest.raises(UsageError, match=r"format of its files is not known \(2 \.avro\)"):
        audit_path(spark, str(odd), lineage=split_once())
    with pytest.raises(UsageError, match="no such form"):
        audit_path(spark, str(odd), "avro", lineage=split_once())


def test_a_sink_that_is_written_to_meanwhile(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = tmp_path / "sink"
    rows = frame(spark, clean()).coalesce(1)
    rows.write.parquet(str(sink))
    before = sinks._changed

    def written(*words: Any) -> str:
        rows.write.mode("append").parquet(str(sink))
        return before(*words)

    monkeypatch.setattr(sinks, "_changed", written)
    facts = audit_path(spark, str(sink), lineage=split_once()).facts
    assert (facts.rows, facts.changed) == (9, "it had 1 files, and then 2")


def _rows(folder: Path) -> None:
    """A file of rows; who wrote it does not matter here."""
    folder.mkdir(parents=True, exist_ok=True)
    write_parquet(folder / "part-0.parquet", [{"sequence_number": row["sequence_number"]}
                                              for row in clean()], OURS)  # fmt: skip


def _touched(root: Path, *names: str) -> None:
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}")


ICEBERG = ("metadata/00001-5f8b.metadata.json", "metadata/snap-1.avro")
HUDI = (".hoodie/hoodie.properties",)
DELTA = (f"_delta_log/{0:020d}.json",)


@pytest.mark.parametrize(("marks", "rows", "form", "said"), [
    # Iceberg's LocationProviders: data below data/, in folders of the partition or of a hash.
    (ICEBERG, "data", None, "Iceberg"),
    (ICEBERG, "data", "parquet", "Iceberg"),
    (ICEBERG, "data/at_hour=2026-11-26-19", None, "Iceberg"),
    (ICEBERG, "data/0101/0110/1001/11110010", "parquet", "Iceberg"),
    (("metadata/v3.gz.metadata.json",), "data", None, "Iceberg"),
    # Hudi's HoodieTableMetaClient and HoodiePartitionMetadata.
    (HUDI, "", None, "Hudi"),
    ((*HUDI, "2026/11/26/.hoodie_partition_metadata"), "2026/11/26", None, "Hudi"),
    ((*HUDI, "a/.hoodie_partition_metadata.parquet"), "a", "parquet", "Hudi"),
    # Delta's protocol: partitions are folders of the table.
    (DELTA, "", "parquet", "Delta"),
    (DELTA, "day=2026-11-26/hour=3", None, "Delta"),
])  # fmt: skip
def test_they_are_refused(
    spark: Any, tmp_path: Path, marks: tuple[str, ...], rows: str, form: str | None, said: str
) -> None:
    table = tmp_path / "orders"
    _rows(table / rows)
    _touched(table, *marks)
    for path in {table / rows, table} if said == "Iceberg" else {table / rows}:
        with pytest.raises(UsageError, match=said) as caught:
            opened(spark, str(path), form)
        wanted = f"{table} --form delta" if said == "Delta" else "--form table"
        assert wanted in caught.value.next


@pytest.mark.parametrize("rows", ["data", "metadata/data", "lake/day=2026-11-26", "data/orders"])
def test_folders_of_such_names_are_read(spark: Any, tmp_path: Path, rows: str) -> None:
    """Without a log beside them they are files like any others."""
    _rows(tmp_path / rows)
    _touched(tmp_path, "metadata/orders.json")
    found = opened(spark, str(tmp_path / rows))
    assert (found.form, found.frame.count()) == ("parquet", 9)
