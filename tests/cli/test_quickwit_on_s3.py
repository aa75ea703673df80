"""Quickwit's file-backed metastore in a bucket: inspect, fix, undo, by the documented actions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from tests.cli.lab import opened
from tests.cli.quickwit_lab import GOLDEN, QuickwitLab, golden_fake
from tests.cli.restoring import set_restored_and_undone_twice
from tests.support.case_stream import shard_name
from tests.support.lease_server import session

_buckets = itertools.count()


@dataclass
class BucketLab(QuickwitLab):
    """See `QuickwitLab`; the metastore lies in a bucket."""

    bucket: str = ""

    @property
    def locator(self) -> str:
        return f"quickwit+s3://{self.bucket}/indexes{self.options}"

    @property
    def s3(self):
        return session().client("s3", endpoint_url=self.servers.dynamodb)

    def text(self, index: str = "events") -> str:
        key = f"indexes/{index}/metastore.json"
        return self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read().decode()


@contextmanager
def bucket_lab(state, servers, tmp_path, monkeypatch, wire) -> Iterator[BucketLab]:
    """A bucket with the metastore of a recorded state."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", servers.dynamodb)
    with opened(servers, golden_fake(state), [], tmp_path / "state", monkeypatch, wire) as base:
        lab = base.beside(
            BucketLab, stream="events", options="?release=0.9.0",
            bucket=f"quickwit-{next(_buckets)}",
        )
        lab.s3.create_bucket(Bucket=lab.bucket)
        root = GOLDEN / "0.9.0" / state / "metastore"
        for path in root.rglob("*.json"):
            key = f"indexes/{path.relative_to(root)}"
            lab.s3.put_object(Bucket=lab.bucket, Key=key, Body=path.read_bytes())
        yield lab


@pytest.fixture
def lab(servers, tmp_path, monkeypatch, wire) -> Iterator[BucketLab]:
    with bucket_lab("q3", servers, tmp_path, monkeypatch, wire) as lab:
        yield lab


@pytest.mark.parametrize("named", ["", "&index=events"], ids=["any", "named"])
def test_fixed_and_undone(lab, named):
    lab.options += named
    before = lab.text()
    assert lab.inspect("--format", "json").codes == {"RSH301"}
    assert lab.fix().code == 0
    assert lab.positions()[shard_name(0)].isdigit()
    assert lab.text() == before.replace('"~', '"')
    assert lab.inspect("--format", "json").codes == set()
    assert lab.undo().code == 0
    assert lab.text() == before


def test_a_file_that_somebody_broke_goes_back_as_a_whole(lab):
    before = lab.text()
    assert lab.fix().code == 0
    lab.s3.put_object(Bucket=lab.bucket, Key="indexes/events/metastore.json", Body=b"{")
    assert (lab.undo().code, lab.text()) == (4, "{")
    done = lab.undo("--whole-file")
    assert (done.code, lab.text()) == (0, before), done.err


def test_a_bucket_without_a_metastore(lab):
    lab.s3.create_bucket(Bucket="quickwit-nothing")
    lab.bucket = "quickwit-nothing"
    done = lab.inspect()
    assert done.code == 2
    assert done.says("nothing below s3://quickwit-nothing")


def test_a_bucket_that_is_not_there(lab):
    lab.bucket = "quickwit-nowhere"
    assert lab.inspect().code in (2, 3)
    assert lab.inspect().says("quickwit-nowhere")


def test_set_restored_from_a_snapshot_and_undone_twice(servers, tmp_path, monkeypatch, wire):
    with bucket_lab("q2", servers, tmp_path, monkeypatch, wire) as lab:
        set_restored_and_undone_twice(lab, lab.text, tmp_path)


def test_a_mistyped_index_is_not_taken_for_a_lost_file(lab):
    lab.options += "&index=evnts"
    done = lab.inspect()
    assert done.code == 2
    assert done.says("there is no index evnts", "did you mean events?")
