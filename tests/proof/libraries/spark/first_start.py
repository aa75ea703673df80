"""What the tests have Spark do, once: Java archives the classes that it loads, for later starts.

Runs in PySpark's own environment when that is made (`environments`). A start with such an archive
takes half of the processor time of one without.

    python first_start.py DIRECTORY     # an empty one, for the files that Spark writes and reads
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession


def main() -> None:
    """Start Spark, and run batch and streaming queries over files of each format."""
    folder = Path(sys.argv[1])
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    records = spark.range(100).selectExpr("cast(id % 3 as string) as shard", "id as number")
    for form in ("parquet", "json", "csv"):
        path = str(folder / form)
        records.write.format(form).save(path)
        _query(records, spark.read.format(form).schema(records.schema).load(path))
    _stream(spark.readStream.schema(records.schema).parquet(str(folder / "parquet")), folder)
    spark.stop()


def _query(records: DataFrame, rows: DataFrame) -> None:
    rows.groupBy("shard").agg({"number": "max"}).orderBy("shard").collect()
    rows = rows.mapInPandas(_unchanged, rows.schema).dropDuplicates()
    rows.join(records, ["shard", "number"], "left_anti").collect()


def _unchanged(batches: Iterator[Any]) -> Iterator[Any]:
    return batches


def _stream(rows: DataFrame, folder: Path) -> None:
    writer = rows.writeStream.trigger(availableNow=True)
    collecting = writer.foreachBatch(lambda batch, _number: batch.collect())
    collecting.option("checkpointLocation", str(folder / "collecting")).start().awaitTermination()
    writer = rows.writeStream.trigger(availableNow=True)
    filing = writer.format("parquet").option("path", str(folder / "filed"))
    filing.option("checkpointLocation", str(folder / "filing")).start().awaitTermination()


if __name__ == "__main__":
    main()
