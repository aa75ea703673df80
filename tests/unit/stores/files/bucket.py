"""moto's S3 as a server, one request at a time, and prefixes of buckets in it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any
from unittest.mock import patch

from moto.s3.responses import S3Response

from reshardctl.stores.files.s3 import S3
from reshardctl.stores.files.tree import Tree
from tests.support.lease_server import REGION, lease_server, session
from tests.unit.stores.files.trees import everything

_names = itertools.count()


@contextmanager
def bucket_server() -> Iterator[str]:
    """moto looks at a condition and then writes, with room between the two for another request;
    the service does both at once."""
    lock, real = Lock(), S3Response.key_response

    def one_at_a_time(*arguments: Any) -> Any:
        with lock:
            return real(*arguments)

    with patch.object(S3Response, "key_response", one_at_a_time), lease_server() as url:
        yield url


class Prefix:
    """A prefix of a bucket of its own."""

    def __init__(self, url: str, prefix: str = "jobs/orders") -> None:
        self.url, self.prefix = url, prefix
        self.name = f"checkpoints-{next(_names)}"
        self.slept: list[float] = []
        self.boto = session().client("s3", endpoint_url=url, region_name=REGION)
        self.boto.create_bucket(Bucket=self.name)

    def blobs(self, boto_session: Any = None) -> S3:
        return S3(
            boto_session or session(), self.name, self.prefix, endpoint_url=self.url,
            sleep=self.slept.append,
        )

    def tree(self, boto_session: Any = None, select: Any = everything) -> Tree:
        return Tree(self.blobs(boto_session), select)

    def key(self, key: str) -> str:
        head = self.prefix.strip("/")
        return f"{head}/{key}" if head else key

    def plant(self, key: str, content: bytes, **options: Any) -> None:
        self.boto.put_object(Bucket=self.name, Key=self.key(key), Body=content, **options)

    def pull(self, key: str) -> None:
        self.boto.delete_object(Bucket=self.name, Key=self.key(key))

    def contents(self) -> dict[str, bytes]:
        """Every object of the bucket by its whole key."""
        pages = self.boto.get_paginator("list_objects_v2").paginate(Bucket=self.name)
        keys = [one["Key"] for page in pages for one in page.get("Contents", ())]
        return {
            key: self.boto.get_object(Bucket=self.name, Key=key)["Body"].read() for key in keys
        }
