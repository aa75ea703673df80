"""One server of each kind for all tests of the stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.databases import mysql, postgres, running
from tests.support.lease_server import lease_server

__all__ = ["mysql", "postgres", "running"]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with lease_server() as url:
        yield url
