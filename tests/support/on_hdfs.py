"""One HDFS for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.servers.hdfs import Hdfs, hdfs

READER = "spark"
"""The user of the query, whose files an administrator repairs."""


@pytest.fixture(scope="module")
def system() -> Iterator[Hdfs]:
    """A file system that the tests of a module leave empty, each its own folders."""
    with hdfs() as running:
        yield running
