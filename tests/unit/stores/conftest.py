"""One DynamoDB server for all tests of the stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.lease_server import lease_server


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with lease_server() as url:
        yield url
