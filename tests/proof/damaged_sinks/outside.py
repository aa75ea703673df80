"""A sink's files counted without Spark and without the injector's own books: what lies on disk."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from reshardctl.testing import shards
from tests.proof.damaged_sinks.layouts import Layout

Counts = dict[str, tuple[int, int, int, int, int]]
"""By shard: rows, the lowest number, the highest, records that are there twice, rows too many."""


def counts(root: Path, layout: Layout) -> Counts:
    """Of rows whose number is one of Kinesis' own, by the shard that the number names."""
    number, sub = layout.roles["number"], layout.roles.get("sub", "")
    found: dict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
    for line in lines(root):
        try:
            place = shards.parse(str(line.get(number) or ""))
        except shards.SequenceNumberError:
            continue
        found[place.shard][int(place), int(line.get(sub) or 0)] += 1
    return {
        f"shardId-{shard:012d}": (
            sum(copies.values()), min(copies)[0], max(copies)[0],
            sum(n > 1 for n in copies.values()), sum(copies.values()) - len(copies),
        )
        for shard, copies in sorted(found.items())
    }  # fmt: skip


def lines(root: Path) -> list[dict[str, Any]]:
    """Every row of a directory of Parquet, JSON or CSV files."""
    found: list[dict[str, Any]] = []
    for file in sorted(root.rglob("part-*")):
        if file.suffix == ".parquet":
            import pyarrow.parquet as pq

            found += pq.ParquetFile(file).read().to_pylist()
        elif file.suffix == ".json":
            found += [json.loads(line) for line in file.open(encoding="utf-8")]
        elif file.suffix == ".csv":
            found += csv.DictReader(file.open(encoding="utf-8", newline=""))
    return found
