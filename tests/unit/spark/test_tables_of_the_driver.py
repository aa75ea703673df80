"""Small tables of the driver's rows: what comes back is what was given, whatever it takes."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from reshardctl.spark.functions import SMALL, table_of

SCHEMA = "at INT, number BIGINT, shard STRING, since DOUBLE, open BOOLEAN"
ROWS: list[tuple[Any, ...]] = [
    (0, 2**62, "shardId-000000000001", 1_700_000_000.123456, True),
    (-1, -5, "~", 1e-300, False),
    (None, None, None, None, None),
    (7, 0, "", 1e22, None),
]


@pytest.mark.parametrize("rows", [
    [], ROWS, ROWS[2:3],
    [(1, 2, "it's \\ ${user} \n \u00e9", 0.5, True)],
    [(1, 2, "x", inf, True)],
    ROWS * SMALL,
], ids=["none", "all kinds", "nulls", "odd text", "infinite", "many"])  # fmt: skip
def test_rows_come_back(spark: Any, rows: list[tuple[Any, ...]]) -> None:
    made = table_of(spark, rows, SCHEMA)
    assert made.schema == spark.createDataFrame([], SCHEMA).schema
    assert sorted(map(repr, map(tuple, made.collect()))) == sorted(map(repr, rows))


def test_few_rows_need_no_python(spark: Any) -> None:
    plan = table_of(spark, ROWS, SCHEMA)._jdf.queryExecution().toString()
    assert "LocalTableScan" in plan and "ExistingRDD" not in plan
