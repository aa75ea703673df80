"""A Redis for all tests of a file, and a database in it for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.needs import needs
from tests.support.servers import Running
from tests.support.servers.redisserver import redis_server
from tests.unit.stores.redis.test_contract import Keys


@pytest.fixture(scope="module")
@needs("redis")
def running() -> Iterator[Running]:
    with redis_server() as server:
        yield server


@pytest.fixture
def keys(running: Running) -> Keys:
    return Keys(running)
