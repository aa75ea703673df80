"""The Qubole connector as a query is given it."""

from __future__ import annotations

from tests.interop.spark.session import Outcome, Spark
from tests.interop.spark.shapes import Planted

FORMAT = "kinesis"


def options(planted: Planted) -> dict[str, str]:
    """The options of the query that wrote the checkpoint."""
    return {
        "streamName": planted.shape.scene["stream"],
        "endpointUrl": planted.address,
        "regionName": "us-east-1",
        "awsAccessKeyId": "testing",
        "awsSecretKey": "testing",
        "startingPosition": planted.shape.initial,
    }


def restart(spark: Spark, planted: Planted, files: str = "", **more: str) -> Outcome:
    """The next start of the query; ``more`` are options of its own, ``files`` a file sink."""
    sink = {"files": files} if files else {}
    return spark.query(FORMAT, {**options(planted), **more}, planted.checkpoint, **sink)
