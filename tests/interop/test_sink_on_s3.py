"""A sink and a checkpoint on S3, through Hadoop's connector (`s3a://`): the usual places of both.

The bucket is moto's, the connector and AWS's SDK below it are the published ones, fetched by
tests/interop/spark/hadoop-aws.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from reshardctl.testing import serve
from tests.injector import damage
from tests.injector.files import write_sink
from tests.injector.layouts import OURS
from tests.interop.rebuilding import Operator, Said
from tests.interop.spark.built import jars
from tests.interop.spark.growing import STREAM, Growing, after, before
from tests.interop.spark.recorded import of
from tests.interop.spark.session import Spark
from tests.interop.test_rebuild_spark import EVERYTHING, ours
from tests.spark.audit.scenes import Scene, scene
from tests.spark.settings import INTERPRETED
from tests.support.lease_server import lease_server

pytestmark = [pytest.mark.interop, pytest.mark.needs("spark-4", "hadoop-aws")]
BUCKET = "lake"


class Lake:
    """An empty bucket, and what an operator sets so that Spark finds it.

    without: the beginning of the name of a jar that is forgotten.
    """

    def __init__(self, url: str, without: str = "-") -> None:
        self.url = url
        self._client: Any = boto3.client(
            "s3", endpoint_url=url, region_name="us-east-1",
            aws_access_key_id="testing", aws_secret_access_key="testing",
        )  # fmt: skip
        self._client.create_bucket(Bucket=BUCKET)
        there = [str(jar) for jar in jars("hadoop-aws") if not jar.name.startswith(without)]
        self.configuration = {
            "spark.jars": ",".join(there),
            "spark.hadoop.fs.s3a.endpoint": url,
            "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.sql.shuffle.partitions": "2",
            **INTERPRETED,
        }

    @property
    def variables(self) -> dict[str, str]:
        """For a command of ours that starts Spark."""
        pairs = map("=".join, self.configuration.items())
        words = [word for pair in pairs for word in ("--conf", pair)]
        return {"PYSPARK_SUBMIT_ARGS": " ".join([*words, "pyspark-shell"])}

    def put(self, folder: Path, prefix: str) -> str:
        """Copies the files of a folder; returns where they are."""
        for path in folder.rglob("*"):
            if path.is_file():
                key = f"{prefix}/{path.relative_to(folder)}"
                self._client.upload_file(str(path), BUCKET, key)
        return f"s3a://{BUCKET}/{prefix}"

    def make(self, folder: str) -> None:
        """Puts the object that stands for a directory."""
        self._client.put_object(Bucket=BUCKET, Key=folder)

    def lose(self, prefix: str) -> None:
        """Deletes all objects below a prefix."""
        for key in self.keys(prefix):
            self._client.delete_object(Bucket=BUCKET, Key=key)

    def keys(self, prefix: str) -> list[str]:
        answer = self._client.list_objects_v2(Bucket=BUCKET, Prefix=prefix)
        return [each["Key"] for each in answer.get("Contents", [])]


@pytest.fixture
def lake() -> Iterator[Lake]:
    with lease_server() as url:
        yield Lake(url)


def audited(lake: Lake, made: Scene, sink: str, folder: Path, *words: str) -> Said:
    roles = [word for pair in OURS.roles.items() for word in ("--column", "=".join(pair))]
    with serve(made.history.fake()) as server:
        operator = Operator(folder / "state", {"kinesis": server.url}, variables=lake.variables)
        return operator.run("audit", sink, "--stream", "orders", *roles, *words)


def test_every_damage_is_told_and_the_missing_rows_are_written(lake: Lake, tmp_path: Path) -> None:
    made = scene(81, damage.EVERYTHING)
    sink = lake.put(write_sink(tmp_path / "sink", made.rows, OURS, "json"), "orders")
    said = audited(lake, made, sink, tmp_path, "--rows", f"s3a://{BUCKET}/rows")
    print(said.err)
    codes = {each["code"] for each in said.document["findings"] if each["severity"] != "info"}
    assert codes == {"RSH501", "RSH502", "RSH503", "RSH504", "RSH505", "RSH509"}
    assert said.code == 1 and said.document["records"] == {
        "read": sum(made.truth.read.values()),
        "missing": sum(map(len, made.truth.missing.values())),
        "doubled": len(made.truth.doubled),
        "extra": sum(held.extra for held in made.truth.shards.values()),
    }
    assert any(key.endswith(".parquet") for key in lake.keys("rows/missing/"))


def test_a_prefix_without_objects_is_no_empty_sink(lake: Lake, tmp_path: Path) -> None:
    said = audited(lake, scene(81, ()), f"s3a://{BUCKET}/nothing", tmp_path)
    assert said.code == 2 and f"there is no s3a://{BUCKET}/nothing" in said.err


def test_a_connector_without_one_of_its_jars(tmp_path: Path) -> None:
    with lease_server() as url:
        lake = Lake(url, without="analyticsaccelerator")
        sink = lake.put(write_sink(tmp_path / "sink", scene(81, ()).rows, OURS, "json"), "orders")
        said = audited(lake, scene(81, ()), sink, tmp_path)
    assert said.code == 2
    assert f"this Spark cannot read {sink}: it has no software.amazon" in said.err
    assert "--packages org.apache.hadoop:hadoop-aws:3.5.0" in said.err


def test_a_query_of_our_source_with_its_checkpoint_and_its_sink_there(
    lake: Lake, tmp_path: Path
) -> None:
    """docs/source.md: it is stopped, the stream is split, it is inspected and started again.

    Then its checkpoint is lost, rebuilt from the sink, and nothing is read twice.
    """
    checkpoint, sink = f"s3a://{BUCKET}/checkpoints/orders", f"s3a://{BUCKET}/orders"
    stream, spark = Growing(tmp_path), Spark("4", lake.configuration, packaged=True)
    try:
        with stream.at(before()) as planted:
            assert rows_of(spark, ours(planted, "TRIM_HORIZON"), checkpoint, sink) == sorted(
                of(s0=range(4))
            )
        with stream.at(after()) as planted:
            operator = Operator(
                tmp_path / "state", {"kinesis": planted.address, "s3": lake.url},
                variables=lake.variables,
            )
            looked = operator.run("inspect", f"spark:{checkpoint}", "--stream", STREAM)
            assert (looked.code, looked.document["findings"]) == (0, []), looked.err
            rows = rows_of(spark, ours(planted, "LATEST"), checkpoint, sink)
            assert rows == EVERYTHING
            audit = operator.run("audit", sink, "--stream", STREAM)
            lake.lose("checkpoints/")
            place = f"spark:{checkpoint}?release=kinesis-lineage&batch={newest(lake)}"
            refused = operator.rebuild(place, STREAM, sink)
            assert "put-object --bucket lake --key checkpoints/orders/" in refused.err
            lake.make("checkpoints/orders/")
            rebuilt = operator.rebuild(place, STREAM, sink)
            assert rebuilt.code == 0, rebuilt.err
            assert rows_of(spark, ours(planted, "LATEST"), checkpoint, sink) == EVERYTHING
    finally:
        spark.close()
    assert audit.code == 0, audit.err
    assert audit.document["records"] == {"read": 10, "missing": 0, "doubled": 0, "extra": 0}


def newest(lake: Lake) -> int:
    """The last batch that the file sink has in its log."""
    names = (key.rpartition("/")[2] for key in lake.keys("orders/_spark_metadata/"))
    return max(int(name.removesuffix(".compact")) for name in names if name)


def rows_of(spark: Spark, options: dict[str, str], checkpoint: str, sink: str) -> list[str]:
    """What a reader of the sink sees once the query has nothing more to do."""
    outcome = spark.query("kinesis-lineage", options, checkpoint, table=sink)
    assert not outcome.died
    return sorted(outcome.rows)
