"""The sinks that Spark writes for the injector hold its rows and nothing else, as Spark reads them
(no part of the audit in it)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.proof.damaged_sinks import damage
from tests.proof.damaged_sinks.layouts import CONNECTOR, OURS
from tests.proof.damaged_sinks.spark_files import delta, file_sink
from tests.unit.spark import delta as lake
from tests.unit.spark.audit.scenes import scene

needs_delta = pytest.mark.skipif(
    not lake.exists(), reason="no release of Delta Lake is for this one of Spark"
)


def idents(frame: Any) -> list[int]:
    return sorted(row[0] for row in frame.select("row_id").collect())


@pytest.mark.parametrize("form", ["parquet", "json"])
def test_spark_s_file_sink(spark: Any, tmp_path: Path, form: str) -> None:
    made = scene(6, damage.EVERYTHING)
    sink = file_sink(spark, made.rows, CONNECTOR, tmp_path, form)
    read = spark.read.format(form).load(str(sink))
    assert idents(read) == sorted(row.ident for row in made.rows)
    assert len(list(sink.glob("part-*"))) == 5


@needs_delta
def test_delta(spark: Any, tmp_path: Path) -> None:
    assert lake.jars(), "tests/proof/libraries/run fetches it"
    made = scene(6, damage.EVERYTHING)
    sink = delta(spark, made.rows, OURS, tmp_path / "lake")
    read = spark.read.format("delta").load(str(sink))
    assert idents(read) == sorted(row.ident for row in made.rows)
    assert len(list(sink.glob("part-*"))) > 4
