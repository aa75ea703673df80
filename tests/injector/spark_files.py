"""Sinks that only Spark writes: its own file sink with a log of its batches, and Delta Lake."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.injector.files import write_json, write_parquet
from tests.injector.layouts import Layout
from tests.injector.rows import Row

BATCHES = 4


def _schema(layout: Layout) -> str:
    return ", ".join(f"`{name}` {kind}" for name, kind in layout.types.items())


def _parts(rows: Sequence[Row]) -> list[list[Row]]:
    """In the order of their batches, in a few pieces."""
    ordered = sorted(rows, key=lambda row: row.batch)
    size = -(-len(ordered) // BATCHES)
    return [ordered[at : at + size] for at in range(0, len(ordered), size)]


def file_sink(spark: Any, rows: Sequence[Row], layout: Layout, root: Path, form: str) -> Path:
    """A streaming query into files, with `_spark_metadata`; a batch a file of its source.

    The query then seems to have died in the midst of a batch: a file lies there that no batch has
    committed, with the first rows once more. Spark's readers leave it out.
    """
    source, sink = root / "source", root / "sink"
    source.mkdir(parents=True)
    for at, part in enumerate(_parts(rows)):
        file = source / f"{at}.parquet"
        write_parquet(file, [layout.cells(row) for row in part], layout)
        os.utime(file, (1_700_000_000 + at, 1_700_000_000 + at))
    query = (
        spark.readStream.schema(_schema(layout)).option("maxFilesPerTrigger", 1)
        .parquet(str(source)).writeStream.format(form)
        .option("checkpointLocation", str(root / "checkpoint"))
        .trigger(availableNow=True).start(str(sink))
    )  # fmt: skip
    query.awaitTermination(300)
    assert query.exception() is None and (sink / "_spark_metadata").is_dir()
    write = write_parquet if form == "parquet" else write_json
    write(sink / f"part-09999-of-no-batch.{form}", [layout.cells(r) for r in rows[:9]], layout)
    return sink


def delta(spark: Any, rows: Sequence[Row], layout: Layout, root: Path) -> Path:
    """Appended in a few commits; one more commit brings rows that a last one deletes."""
    for part in _parts(rows):
        _append(spark, part, layout, root)
    brought = [row for row in rows if row.number is not None][:5]
    _append(spark, brought, layout, root, row_id=-1)
    spark.sql(f"DELETE FROM delta.`{root}` WHERE row_id = -1")  # noqa: S608
    return root


def _append(spark: Any, rows: Sequence[Row], layout: Layout, root: Path, **change: Any) -> None:
    made = [tuple({**layout.cells(row), **change}.values()) for row in rows]
    spark.createDataFrame(made, _schema(layout)).coalesce(1).write.format("delta").mode(
        "append"
    ).save(str(root))
