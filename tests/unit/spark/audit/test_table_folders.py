"""Folders of tables whose files say less than their log: they are not read as plain files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reshardctl.errors import UsageError
from reshardctl.spark.audit.sink import opened
from tests.proof.damaged_sinks.files import write_parquet
from tests.proof.damaged_sinks.layouts import OURS
from tests.unit.spark.audit.sinks import clean


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
