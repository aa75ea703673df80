"""The databases that a test of tables is run on: PostgreSQL and MariaDB, each by its name."""

from __future__ import annotations

import pytest

from tests.support.servers import Running


@pytest.fixture(
    scope="module",
    params=[pytest.param(kind, marks=pytest.mark.needs(kind)) for kind in ("postgres", "mysql")],
)
def running(request: pytest.FixtureRequest) -> tuple[str, Running]:
    return request.param, request.getfixturevalue(request.param)
