"""A main store, and others whose keys begin with a prefix of their own, as one store."""

from __future__ import annotations

import pytest

from reshardctl.model import Create, Image, Step, Write
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.base import Joined
from tests.contracts.memory_store import MemoryStore


def row(key: str) -> Image:
    return Image(key, {"a": {"S": key}})


def made(key: str) -> Write:
    return Write(key, Create(row(key).attributes), None, "a test")


@pytest.fixture
def stores() -> tuple[MemoryStore, MemoryStore]:
    main = MemoryStore([row("z"), row("lo")], identity={"medium": "memory", "arn": "main"})
    return main, MemoryStore([row("log/1")], identity={"arn": "log"})


def test_each_row_is_in_the_store_of_its_prefix(stores: tuple[MemoryStore, MemoryStore]) -> None:
    main, log = stores
    joined = Joined(main, {"log/": log})
    assert joined.identity() == {"medium": "memory", "arn": "main", "log/arn": "log"}
    assert [image.key for image in joined.read()] == ["lo", "log/1", "z"]
    assert joined.get(["log/1", "log/2", "z"]) == {"log/1": row("log/1"), "log/2": None,
                                                   "z": row("z")}  # fmt: skip
    assert joined.write(Step("one", (made("log/2"),)), "t") is WriteResult.APPLIED
    assert "log/2" in log.rows and "log/2" not in main.rows


def test_a_step_is_of_one_store(stores: tuple[MemoryStore, MemoryStore]) -> None:
    """No transaction spans two."""
    joined = Joined(stores[0], {"log/": stores[1]})
    with pytest.raises(ValueError, match="a step of 2 writes; 1 to 1 are possible"):
        joined.write(Step("two", (made("log/2"), made("y"))), "t")
    assert "y" not in stores[0].rows and "log/2" not in stores[1].rows
