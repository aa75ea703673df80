"""One DynamoDB server for all tests of the stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite(
    "reshardctl.testing.medium_contract", "reshardctl.testing.store_contract"
)

from tests.support.lease_server import lease_server  # noqa: E402


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with lease_server() as url:
        yield url
