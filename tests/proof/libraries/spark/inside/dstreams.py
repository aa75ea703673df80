"""Runs Kinesis receivers of Spark Streaming, side by side, until nothing comes any more."""

from __future__ import annotations

import threading
import time
from typing import Any

from pyspark import RDD, StorageLevel
from pyspark.serializers import NoOpSerializer
from pyspark.sql import SparkSession
from pyspark.streaming import DStream, StreamingContext

_LOOK_SECONDS = 0.2
_BATCH_SECONDS = 1


def run(spark: SparkSession, request: dict[str, Any]) -> dict[str, Any]:
    """`receivers` are `{"app", "stream", "initial"}` ("Latest", "TrimHorizon"), all at `endpoint`.

    A streaming context may be started once a process, so all of them start together. They are
    stopped when each has delivered at least its `enough` records and nothing has come for `quiet`
    seconds, at the latest after `patience` seconds. Answers `delivered`: payloads by application.
    """

    lock, last = threading.Lock(), [time.monotonic()]
    delivered: dict[str, list[str]] = {each["app"]: [] for each in request["receivers"]}
    context = StreamingContext(spark.sparkContext, _BATCH_SECONDS)

    def keeper(app: str) -> Any:
        def keep(rdd: RDD) -> None:
            payloads = rdd.collect()
            with lock:
                delivered[app] += payloads
                last[0] = time.monotonic() if payloads else last[0]

        return keep

    for each in request["receivers"]:
        _receiver(context, each, request["endpoint"]).foreachRDD(keeper(each["app"]))
    context.start()
    began = time.monotonic()
    while time.monotonic() - began < request["patience"]:
        time.sleep(_LOOK_SECONDS)
        with lock:
            full = all(len(delivered[e["app"]]) >= e["enough"] for e in request["receivers"])
            if full and time.monotonic() - last[0] > request["quiet"]:
                break
    context.stop(stopSparkContext=False, stopGraceFully=False)
    seconds = round(time.monotonic() - began, 1)
    return {"delivered": delivered, "seconds": seconds}


def _receiver(context: StreamingContext, each: dict[str, Any], endpoint: str) -> DStream[str]:
    """The payloads of one application.

    PySpark's own KinesisUtils speaks to kinesis-asl from 3.4 on only, and its helper of 3.3.0 would
    send metrics: so the Scala builder is called.
    """
    jvm = context.sparkContext._jvm
    kinesis = jvm.org.apache.spark.streaming.kinesis
    metrics = jvm.com.amazonaws.services.kinesis.metrics.interfaces.MetricsLevel
    built = (
        kinesis.KinesisInputDStream.builder()
        .streamingContext(context._jssc)
        .checkpointAppName(each["app"])
        .streamName(each["stream"])
        .endpointUrl(endpoint)
        .regionName("us-east-1")
        .initialPosition(getattr(kinesis.KinesisInitialPositions, each["initial"])())
        .checkpointInterval(context._jduration(_BATCH_SECONDS))
        .storageLevel(context.sparkContext._getJavaStorageLevel(StorageLevel.MEMORY_ONLY))
        .metricsLevel(metrics.NONE)
        .build()
    )
    tag = getattr(getattr(jvm.scala.reflect, "ClassTag$"), "MODULE$").AnyRef()
    stream = jvm.org.apache.spark.streaming.api.java.JavaDStream(built, tag)
    return DStream(stream, context, NoOpSerializer()).map(lambda payload: payload.decode())
