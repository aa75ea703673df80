"""The contract suite on tables of a real PostgreSQL and a real MariaDB."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from reshardctl.model import Image, TableShape
from reshardctl.stores.sql import SqlTable
from reshardctl.stores.sql.mysql import MySql
from reshardctl.stores.sql.postgres import Postgres
from reshardctl.stores.sql.server import address_of
from tests.contracts.store_contract import SampleRows, StoreContract
from tests.support.position_tables import create_table
from tests.support.servers import PASSWORD, USER, Running
from tests.support.several_tables import Mask

_names = itertools.count()
NUMBER = 49680412033094866848527506851837432377108706273800486914
KINDS: dict[str, type[Postgres | MySql]] = {"postgres": Postgres, "mysql": MySql}


def _row(key: str, number: int) -> Image:
    return Image(key, {"sequence_number": {"S": str(NUMBER + number)}})


WORDS = SampleRows(
    _row, lambda key: _row(key, 0), "sequence_number", {}, ("medium", "arn", "created"),
)


class Table:
    """A table of its own for one test."""

    def __init__(self, kind: str, running: Running, further: str = "") -> None:
        self.server = KINDS[kind](address_of(f"{USER}@{running.target}", PASSWORD))
        self.shape = TableShape(f"Positions{next(_names)}", hash="namespace", range="shard_id")
        self.mask = Mask(self.inner(), [self.shape])
        self.connection = self.server.connect()
        self.sql(create_table(kind, self.shape.name, further))

    def inner(self) -> Any:
        return SqlTable(self.server, self.shape, "sequence_number", lambda _seconds: None)

    def sql(self, statement: str, *values: Any) -> list[Any]:
        cursor = self.connection.cursor()
        cursor.execute(statement, list(values))
        rows = list(cursor.fetchall()) if cursor.description else []
        self.connection.commit()
        return rows

    def medium(self) -> Mask:
        return Mask(self.inner(), [self.shape])

    def plant(self, image: Image) -> None:
        self.pull(image.key)
        values = {n: v["S"] for n, v in self.mask.put_on(image).attributes.items()}
        marks = ", ".join(["%s"] * len(values))
        statement = f"INSERT INTO {self.shape.name} ({', '.join(values)}) VALUES ({marks})"  # noqa: S608
        self.sql(statement, *values.values())

    def pull(self, key: str) -> None:
        self.sql(f"DELETE FROM {self.shape.name} WHERE shard_id = %s", key)  # noqa: S608


class TestTables(StoreContract):
    samples = WORDS

    @pytest.fixture
    def store(self, running: tuple[str, Running]) -> Iterator[Table]:
        table = Table(*running)
        yield table
        table.connection.close()
