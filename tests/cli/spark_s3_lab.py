"""A lab whose store is a checkpoint in a bucket, as a real connector left it.

The recorded directories without their checksums: Hadoop writes none on S3.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.cli.lab import Servers, Wire, opened
from tests.cli.spark_lab import FOLDERS, GOLDEN, SparkLab, golden_fake, said
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

    @cached_property
    def s3(self) -> Any:
        return session().client("s3", endpoint_url=self.servers.dynamodb)

    def put(self, key: str, content: bytes) -> None:
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=content)

    def files(self) -> dict[str, tuple[bytes, int]]:
        """Every object: its content, or that it is archived."""
        listed = self.s3.list_objects_v2(Bucket=self.bucket).get("Contents", [])
        return {one["Key"]: (self._content(one), 0) for one in listed}

    def _content(self, listed: dict[str, Any]) -> bytes:
        if listed["StorageClass"] != "STANDARD":
            return f"{listed['StorageClass']} {listed['ETag']}".encode()
        found: bytes = self.s3.get_object(Bucket=self.bucket, Key=listed["Key"])["Body"].read()
        return found


@contextmanager
def bucket_lab(
    release: str, shape: str, slash: str, servers: Servers, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, wire: Wire,
) -> Iterator[BucketLab]:
    """A lab of a recorded checkpoint in a bucket of its own."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", servers.dynamodb)
    folder = FOLDERS[release]
    fake = golden_fake(folder, shape)
    with opened(servers, fake, [], tmp_path / "state", monkeypatch, wire) as base:
        lab = base.beside(
            BucketLab, stream="st", options=said(folder, shape, release),
            bucket=f"spark-{next(_buckets)}", slash=slash,
        )
        lab.s3.create_bucket(Bucket=lab.bucket)
        root = GOLDEN / folder / shape
        for path in sorted(root.rglob("*")):
            if path.is_file() and not path.name.endswith(".crc"):
                key = f"jobs/orders/{path.relative_to(root)}"
                lab.s3.put_object(Bucket=lab.bucket, Key=key, Body=path.read_bytes())
        yield lab
