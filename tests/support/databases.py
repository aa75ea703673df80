"""PostgreSQL and MariaDB for the tests of a session, each started by the first that asks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.needs import needs
from tests.support.servers import Running
from tests.support.servers.mariadb import mariadb
from tests.support.servers.postgresql import postgresql

__all__ = ["mysql", "postgres", "running"]


@pytest.fixture(scope="session")
@needs("postgres")
def postgres() -> Iterator[Running]:
    with postgresql() as server:
        yield server


@pytest.fixture(scope="session")
@needs("mysql")
def mysql() -> Iterator[Running]:
    with mariadb() as server:
        yield server


@pytest.fixture(
    scope="module",
    params=[pytest.param(kind, marks=pytest.mark.needs(kind)) for kind in ("postgres", "mysql")],
)
def running(request: pytest.FixtureRequest) -> tuple[str, Running]:
    """Each of them by its name."""
    return request.param, request.getfixturevalue(request.param)
