"""The contract suite, on the medium in memory and on DynamoDB."""

from __future__ import annotations

import pytest

from reshardctl.model import Image
from tests.contracts.medium_contract import MediumContract
from tests.contracts.memory_store import MemoryStore
from tests.support.lease_server import LeaseTable
from tests.support.several_tables import SeveralTables, composite, fixed, two_tables


class MemoryUnderTest:
    def __init__(self) -> None:
        self._medium = MemoryStore()

    def medium(self) -> MemoryStore:
        return self._medium

    def plant(self, image: Image) -> None:
        self._medium.plant(image)

    def pull(self, key: str) -> None:
        self._medium.pull(key)


class TestMemory(MediumContract):
    @pytest.fixture
    def store(self) -> MemoryUnderTest:
        return MemoryUnderTest()


class TestDynamoDb(MediumContract):
    @pytest.fixture
    def store(self, server: str) -> LeaseTable:
        return LeaseTable(server)


class TestTwoTables(MediumContract):
    @pytest.fixture
    def store(self, server: str) -> SeveralTables:
        return SeveralTables(server, two_tables)


class TestCompositeKey(MediumContract):
    @pytest.fixture
    def store(self, server: str) -> SeveralTables:
        return SeveralTables(server, composite)


class TestFixedHashValue(MediumContract):
    @pytest.fixture
    def store(self, server: str) -> SeveralTables:
        return SeveralTables(server, fixed)


def test_the_suite_is_as_large_as_promised() -> None:
    assert len([name for name in dir(MediumContract) if name.startswith("test_")]) >= 30
