"""Checkpoints of Spark in a bucket: inspect, fix, undo, by the documented actions.

The recorded directories without their checksums: Hadoop writes none on S3.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.cli.lab import opened
from tests.cli.restoring import set_restored_and_undone_twice
from tests.cli.spark_lab import FOLDERS, GOLDEN, HEAD, QUBOLE, V1, SparkLab, golden_fake, said
from tests.support.lease_server import session

_buckets = itertools.count()


@dataclass
class BucketLab(SparkLab):
    """See `SparkLab`; the checkpoint lies in a bucket. slash: what ends the prefix."""

    bucket: str = ""
    slash: str = ""

    @property
    def locator(self) -> str:
        return f"spark+s3://{self.bucket}/jobs/orders{self.slash}{self.options}"

    @property
    def s3(self):
        return session().client("s3", endpoint_url=self.servers.dynamodb)

    def files(self) -> dict[str, tuple[bytes, int]]:
        listed = self.s3.list_objects_v2(Bucket=self.bucket).get("Contents", [])
        return {
            one["Key"]: (self.s3.get_object(Bucket=self.bucket, Key=one["Key"])["Body"].read(), 0)
            for one in listed
        }


@pytest.fixture
def lab(servers, tmp_path, monkeypatch, wire, request) -> Iterator[BucketLab]:
    release, shape, slash = request.param
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", servers.dynamodb)
    folder = FOLDERS[release]
    fake = golden_fake(folder, shape)
    with opened(servers, fake, [], tmp_path / "state", monkeypatch, wire) as base:
        lab = BucketLab(
            base.servers, base.fake, base.table, base.state, base.wire, "st",
            said(folder, shape, release), base.on_sleep, base.slept,
            bucket=f"spark-{next(_buckets)}", slash=slash,
        )
        lab.s3.create_bucket(Bucket=lab.bucket)
        root = GOLDEN / folder / shape
        for path in sorted(root.rglob("*")):
            if path.is_file() and not path.name.endswith(".crc"):
                key = f"jobs/orders/{path.relative_to(root)}"
                lab.s3.put_object(Bucket=lab.bucket, Key=key, Body=path.read_bytes())
        yield lab


LOSSY = [
    (HEAD, "s1x", "/"), (QUBOLE, "s3", ""),
    *(pytest.param((*one, ""), marks=pytest.mark.long) for one in ((HEAD, "s1"), (QUBOLE, "s4"))),
]


@pytest.mark.parametrize("lab", LOSSY, indirect=True, ids=lambda one: "-".join(one))
def test_fixed_and_undone(lab):
    before = lab.files()
    assert lab.inspect().code == 1
    done = lab.fix("--format", "json")
    assert done.code == 0, done.err
    after = lab.files()
    assert after != before
    assert not any(key.endswith(".crc") for key in after)
    assert lab.dry("--format", "json").json["decision"]["kind"] == "nothing"
    assert lab.inspect().code == 0
    assert lab.undo().code == 0
    assert lab.files() == before


@pytest.mark.parametrize("lab", [(QUBOLE, "s3", "")], indirect=True, ids=["s3a"])
def test_fixed_by_the_path_that_spark_has(lab):
    path = lab.locator.replace("spark+s3://", "spark:s3a://")
    words = ["--stream", lab.stream, "--region", "us-east-1", "--assume-stopped", "--yes"]
    assert lab.cli("fix", path, *words).code == 0
    assert lab.inspect().code == 0


@pytest.mark.parametrize("lab", [(QUBOLE, "s1", ""), (V1, "m1", "")], indirect=True,
                         ids=lambda one: "-".join(one))
def test_a_sound_one_is_left_alone(lab):
    before = lab.files()
    assert lab.inspect().code == 0
    assert lab.fix().code == 0
    assert (lab.files(), lab.journals()) == (before, [])


@pytest.mark.parametrize("lab", [(HEAD, "s1", "")], indirect=True, ids=["missing"])
def test_what_is_not_there_is_named(lab):
    taken = lab.bucket
    lab.bucket = "spark-nowhere"
    done = lab.inspect()
    assert done.code in (2, 3)
    assert done.says("spark-nowhere")
    lab.bucket, lab.slash = taken, "-other"
    done = lab.inspect()
    assert done.code in (2, 3)
    assert done.says("jobs/orders-other")


@pytest.mark.parametrize("lab", [(QUBOLE, "s1", "")], indirect=True, ids=["s1"])
def test_set_restored_from_a_snapshot_and_undone_twice(lab, tmp_path):
    set_restored_and_undone_twice(lab, lab.files, tmp_path)
