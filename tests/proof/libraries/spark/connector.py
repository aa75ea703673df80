"""The Qubole connector as a query is given it."""

from __future__ import annotations

from tests.proof.libraries.spark.session import Outcome, Spark
from tests.proof.libraries.spark.shapes import Planted
from tests.proof.libraries.spark.tool import Tool

FORMAT = "kinesis"
RELEASE = "qubole-1.2.0_spark-3.0"


def options(planted: Planted) -> dict[str, str]:
    """The options of the query that wrote the checkpoint."""
    return {
        "streamName": planted.stream,
        "endpointUrl": planted.address,
        "regionName": "us-east-1",
        "awsAccessKeyId": "testing",
        "awsSecretKey": "testing",
        "startingPosition": planted.initial,
    }


def restart(spark: Spark, planted: Planted, files: str = "", **more: str) -> Outcome:
    """The next start of the query; ``more`` are options of its own, ``files`` a file sink."""
    sink = {"files": files} if files else {}
    given = {**options(planted), **more}
    return spark.query(FORMAT, given, planted.checkpoint, pause="1 second", **sink)


def locator(planted: Planted) -> str:
    """The checkpoint as the tool is told of it, with the options of the query."""
    return (
        f"spark:{planted.checkpoint}?release={RELEASE}"
        f"&startingPosition={planted.initial}&failOnDataLoss=true"
    )


def tool(planted: Planted) -> Tool:
    """The tool, its journals beside the checkpoint."""
    return Tool(planted.checkpoint.parent / "state", {"kinesis": planted.address})
