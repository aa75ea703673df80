"""One server of each kind for all tests of the stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.lease_server import lease_server
from tests.support.needs import needs
from tests.support.servers import Running
from tests.support.servers.mariadb import mariadb
from tests.support.servers.postgresql import postgresql


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with lease_server() as url:
        yield url


@pytest.fixture(scope="session")
@needs("postgres")
def postgres() -> Iterator[Running]:
    with postgresql() as running:
        yield running


@pytest.fixture(scope="session")
@needs("mysql")
def mysql() -> Iterator[Running]:
    with mariadb() as running:
        yield running
