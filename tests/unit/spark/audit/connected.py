"""Run by test_connect.py: audits through a Connect server and says what it found, as JSON."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from reshardctl.kinesis import Kinesis
from reshardctl.kinesis.fast import Reach
from reshardctl.spark.audit import Columns, audit, audit_path
from reshardctl.testing import load_topology, serve
from tests.unit.lineage.histories import CREATED
from tests.unit.spark.audit.sinks import clean, frame, row, split_once
from tests.unit.spark.settings import CONFIGURATION, INTERPRETED

TOPOLOGY = {
    "name": "orders", "account": "123456789012", "region": "us-east-1",
    "created": int(time.time()) - 1000,
    "retention_hours": 24, "mode": "PROVISIONED", "now": 1000,
    "shards": [{"id": 0, "range": ["0", "1"], "open": 0, "records": {"n": 3, "from": 1, "to": 50}}],
}  # fmt: skip


def session() -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote("local[2]")
    for name, value in {**CONFIGURATION, **INTERPRETED}.items():
        builder = builder.config(name, value)
    return builder.config("spark.connect.grpc.binding.address", "127.0.0.1").getOrCreate()


def main(folder: str) -> None:
    spark = session()
    rows = [*clean(), row(1, 2), row(1, 9, sequence_number=None),
            row(2, 0, CREATED + 1, batch=99)]  # fmt: skip
    sink = frame(spark, rows)
    found = audit(sink, lineage=split_once(), columns=Columns(order="batch"))
    said: dict[str, Any] = {"connect": "connect" in type(spark).__module__}
    said["rows"] = found.facts.rows
    said["shards"] = {
        name[-1]: [one.rows, one.doubled, one.disordered]
        for name, one in found.facts.shards.items()
    }
    said["unusable"] = [row["fault"] for row in found.unusable.collect()]
    sink.write.parquet(f"{folder}/sink")
    by_path = audit_path(spark, f"{folder}/sink", lineage=split_once()).facts
    said["path"] = [by_path.form, by_path.rows, by_path.changed]
    fake = load_topology(TOPOLOGY)
    lineage = Kinesis.of_client(fake.client()).lineage("orders")
    with serve(fake) as server:
        stream = (Reach("us-east-1", server.url), "orders")
        against = audit(sink.limit(0), lineage=lineage, stream=stream)
        compared = against.facts.compared.values()
        said["read"] = sum(one.read for one in compared)
        said["lacks"] = sum(one.missing for one in compared)
        said["missing"] = len(against.missing.collect()) if against.missing else 0
    print(json.dumps(said), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
