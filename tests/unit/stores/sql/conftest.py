"""A table of positions for each test, in each database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.servers import Running
from tests.unit.stores.sql.test_contract import Table


@pytest.fixture
def table(running: tuple[str, Running]) -> Iterator[Table]:
    made = Table(*running)
    yield made
    made.connection.close()
