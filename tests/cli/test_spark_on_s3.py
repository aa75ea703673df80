"""Checkpoints of Spark in a bucket: inspect, fix, undo, by the documented actions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.restoring import set_restored_and_undone_twice
from tests.cli.spark_lab import HEAD, QUBOLE, V1
from tests.cli.spark_s3_lab import BucketLab, bucket_lab


@pytest.fixture
def lab(servers, tmp_path, monkeypatch, wire, request) -> Iterator[BucketLab]:
    release, shape, slash = request.param
    with bucket_lab(release, shape, slash, servers, tmp_path, monkeypatch, wire) as lab:
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


@pytest.mark.long
@pytest.mark.parametrize("lab", [(QUBOLE, "s1", "")], indirect=True, ids=["s1"])
def test_set_restored_from_a_snapshot_and_undone_twice(lab, tmp_path):
    set_restored_and_undone_twice(lab, lab.files, tmp_path)
