"""Sinks that only Spark writes: its file sink with a log of its batches, Delta Lake, Iceberg."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.proof.damaged_sinks.files import write_json, write_parquet
from tests.proof.damaged_sinks.layouts import Cells, Layout
from tests.proof.damaged_sinks.rows import Row

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


def delta(
    spark: Any, rows: Sequence[Row], layout: Layout, root: Path, *, vectors: bool = False
) -> Path:
    """Appended in a few commits, the last with rows too many that one more commit deletes: the file
    is written again without them or, with `vectors`, has a deletion vector."""
    *parts, last = ([layout.cells(row) for row in part] for part in _parts(rows))
    for part in parts:
        _append(spark, part, layout, root)
    if vectors:
        alter(spark, root, "SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    brought = [{**cells, "row_id": -1} for cells in last[:5]]
    _append(spark, [*last, *brought], layout, root)
    spark.sql(f"DELETE FROM delta.`{root}` WHERE row_id = -1")  # noqa: S608
    assert vectors == bool(list(root.glob("deletion_vector_*.bin")))
    return root


def iceberg(spark: Any, rows: Sequence[Row], layout: Layout, table: str) -> None:
    """Partitioned by a hash, appended in a few commits; rows too many go by files of deletes."""
    *parts, last = ([layout.cells(row) for row in part] for part in _parts(rows))
    spark.sql(
        f"CREATE TABLE {table} ({_schema(layout)}) USING iceberg PARTITIONED BY "
        f"(bucket(2, {layout.roles['shard']})) "
        "TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')"
    )
    for part in parts:
        _frame(spark, part, layout).writeTo(table).append()
    brought = [{**cells, "row_id": -1} for cells in last[:5]]
    _frame(spark, [*last, *brought], layout).writeTo(table).append()
    spark.sql(f"DELETE FROM {table} WHERE row_id = -1")  # noqa: S608
    assert spark.table(f"{table}.delete_files").count()


def renamed(spark: Any, root: Path, column: str, name: str) -> None:
    """The column of a Delta table gets a name that its files do not have."""
    mapped = "'delta.columnMapping.mode' = 'name'"
    needs = "'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5'"
    alter(spark, root, f"SET TBLPROPERTIES ({mapped}, {needs})")
    alter(spark, root, f"RENAME COLUMN {column} TO `{name}`")


def alter(spark: Any, root: Path, words: str) -> None:
    spark.sql(f"ALTER TABLE delta.`{root}` {words}")


def _append(spark: Any, rows: Sequence[Cells], layout: Layout, root: Path) -> None:
    _frame(spark, rows, layout).write.format("delta").mode("append").save(str(root))


def _frame(spark: Any, rows: Sequence[Cells], layout: Layout) -> Any:
    made = [tuple(cells.values()) for cells in rows]
    return spark.createDataFrame(made, _schema(layout)).coalesce(1)
