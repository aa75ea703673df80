"""A sink and a checkpoint on S3, through Hadoop's connector (`s3a://`): the usual places of both.

The bucket is moto's, the connector and AWS's SDK below it are the published ones, fetched by
tests/proof/libraries/spark/hadoop-aws.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from reshardctl.testing import serve
from tests.proof.damaged_sinks import damage
from tests.proof.damaged_sinks.files import write_sink
from tests.proof.damaged_sinks.layouts import OURS
from tests.proof.libraries.own_query import CHECKPOINT, stopped_resharded_and_rebuilt
from tests.proof.libraries.rebuilding import Operator, Said
from tests.proof.libraries.spark.built import jars
from tests.support.lease_server import lease_server
from tests.unit.spark.audit.scenes import Scene, scene
from tests.unit.spark.settings import INTERPRETED

pytestmark = [pytest.mark.interop, pytest.mark.needs("spark-4", "hadoop-aws")]
BUCKET = "lake"


class Lake:
    """An empty bucket, and what an operator sets so that Spark finds it.

    without: the beginning of the name of a jar that is forgotten.
    """

    url = f"s3a://{BUCKET}"

    def __init__(self, url: str, without: str = "-") -> None:
        self.endpoints = {"s3": url}
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
        self._client.put_object(Bucket=BUCKET, Key=f"{folder}/")

    def lose(self, folder: str) -> None:
        """Deletes all objects below a prefix, and that of the directory."""
        for name in self.names(folder):
            self._client.delete_object(Bucket=BUCKET, Key=f"{folder}/{name}")

    def names(self, folder: str) -> list[str]:
        """The keys below a prefix."""
        answer = self._client.list_objects_v2(Bucket=BUCKET, Prefix=f"{folder}/")
        keys = [each["Key"] for each in answer.get("Contents", [])]
        return [key.removeprefix(f"{folder}/") for key in keys]


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
    assert any(name.endswith(".parquet") for name in lake.names("rows/missing"))


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
    missing = f"put-object --bucket {BUCKET} --key {CHECKPOINT}/"
    stopped_resharded_and_rebuilt(lake, tmp_path, missing)
