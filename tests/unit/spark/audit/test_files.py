"""How a sink's rows lie in its files, and what these say of them, changes no answer.

Numbers of 56 digits are longer than what the metadata of tables keeps of a text: 32 characters in
Delta Lake (DATA_SKIPPING_STRING_PREFIX_LENGTH), 16 in Iceberg (write.metadata.metrics.default).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.spark.audit import Columns, audit
from tests.unit.spark.audit.sinks import Row, frame, numbered, row, split_once

RECORDS = [row(1, n, batch=n // 100) for n in range(600)]
TWICE = (63, 64, 255, 256, 599)
"""Ends of cells and of their words; a file ends before 300."""
FILES = {
    "ranges apart": [RECORDS[:300], RECORDS[300:]],
    "ranges that share a record": [RECORDS[:301], RECORDS[300:]],
    "doubled inside a file": [[*RECORDS[:300], RECORDS[7]], RECORDS[300:]],
    "doubled at the ends of cells": [[*RECORDS, *(RECORDS[n] for n in TWICE)]],
    "one inside the other": [RECORDS, RECORDS[299:301]],
}
DOUBLED = {
    "ranges apart": [], "ranges that share a record": [300], "doubled inside a file": [7],
    "doubled at the ends of cells": list(TWICE), "one inside the other": [299, 300],
}  # fmt: skip


def written(spark: Any, files: list[list[Row]], root: Path, statistics: str) -> Any:
    """A Parquet sink of these files; statistics: of what writer, or "compacted" into one file."""
    import pyarrow.parquet as pq

    for at, rows in enumerate(files):
        frame(spark, rows).coalesce(1).write.mode("append").parquet(str(root / f"{at}"))
    if statistics == "none":
        for path in root.rglob("part-*.parquet"):
            whole = pq.ParquetFile(path).read()
            pq.write_table(
                whole, path, write_statistics=False, use_deprecated_int96_timestamps=True
            )
        for crc in root.rglob(".*.crc"):
            crc.unlink()
    sink = spark.read.parquet(*(str(root / f"{at}") for at in range(len(files))))
    if statistics == "compacted":
        sink.orderBy("batch").coalesce(1).write.parquet(str(root / "compacted"))
        sink = spark.read.parquet(str(root / "compacted"))
    return sink


@pytest.mark.parametrize(("name", "statistics"), [
    *((name, "whole") for name in FILES),
    ("ranges that share a record", "none"), ("doubled at the ends of cells", "none"),
    ("ranges that share a record", "compacted"), ("one inside the other", "compacted"),
])  # fmt: skip
def test_files(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, statistics: str
) -> None:
    monkeypatch.setattr(sys.modules[audit.__module__], "KEPT", 8)
    sink = written(spark, FILES[name], tmp_path, statistics)
    found = audit(sink, lineage=split_once(), columns=Columns(order="batch"))
    rows = sum(map(len, FILES[name]))
    held, numbers = found.facts.shards, [numbered(1, n, after=n) for n in DOUBLED[name]]
    (one,) = held.values()
    assert replace(one, first=one.last) == replace(
        one, first=one.last, rows=rows, doubled=len(numbers), extra=len(numbers), disordered=0
    )
    assert (one.first.number, one.last.number) == (numbered(1, 0), numbered(1, 599, after=599))
    assert sorted(line["sequence_number"] for line in found.doubled.collect()) == numbers
