"""The contract suite on a real Redis."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import redis

from reshardctl.model import Image, TableShape
from reshardctl.stores.redis import Server, Strings
from tests.contracts.store_contract import SampleRows, StoreContract
from tests.support.servers import PASSWORD, Running
from tests.support.several_tables import Mask

_names = itertools.count()
SHAPE = TableShape("", hash="namespace", range="shard_id")
NUMBER = 49680412033094866848527506851837432377108706273800486914


def _row(key: str, number: int) -> Image:
    return Image(key, {"sequence_number": {"S": str(NUMBER + number)}})


class Masked(Mask):
    """Rows of an application called app-a, of a stream called s-1."""

    def key_attributes(self, key: str) -> dict[str, Any]:
        return {"namespace": {"S": "app-a-s-1"}, "shard_id": {"S": key}}

    def worn(self, key: str) -> str:
        return f"app-a-s-1/{key}"


class Keys:
    """Positions in a database of their own."""

    def __init__(self, running: Running) -> None:
        self.database = next(_names) % 16
        self.port = running.port
        self.server = self.server_for()
        self.client: redis.Redis = self.server.client()
        self.client.flushdb()

    def server_for(self, user: str = "", port: int = 0) -> Server:
        """The server, as a user whose password is `x`, or by another way."""
        place = f"127.0.0.1:{port or self.port}/{self.database}"
        return Server(f"{user}@{place}", "x") if user else Server(place, PASSWORD)

    def store(self, app: str = "app-a", user: str = "", port: int = 0) -> Strings:
        return strings(self.server_for(user, port), app)

    def medium(self, user: str = "", port: int = 0) -> Masked:
        return Masked(self.store("app-a", user, port), [SHAPE])  # type: ignore[arg-type]

    def plant(self, image: Image) -> None:
        self.client.set(
            f"app-a:checkpoint:s-1:{image.key}", image.attributes["sequence_number"]["S"]
        )

    def pull(self, key: str) -> None:
        self.client.delete(f"app-a:checkpoint:s-1:{key}")


def strings(server: Server, app: str = "app-a") -> Strings:
    return Strings(server, SHAPE, "sequence_number", app, lambda _seconds: None)


class TestStrings(StoreContract):
    samples = SampleRows(
        _row, lambda key: _row(key, 0), "sequence_number", {}, ("medium", "arn", "created")
    )

    @pytest.fixture
    def store(self, keys: Keys) -> Keys:
        return keys
