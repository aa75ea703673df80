"""The contract suite on tables of a real PostgreSQL and a real MariaDB."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from reshardctl.model import Image, TableShape, Update, Write
from reshardctl.stores.sql import SqlTable
from reshardctl.stores.sql.mysql import MySql
from reshardctl.stores.sql.postgres import Postgres
from reshardctl.stores.sql.server import address_of
from tests.contracts.store_contract import SampleRows, StoreContract, update
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
        self.kind, self.running = kind, running
        self.server = self.server_for()
        self.shape = TableShape(f"Positions{next(_names)}", hash="namespace", range="shard_id")
        self.mask = self.medium()
        self.connection = self.server.connect()
        self.sql(create_table(kind, self.shape.name, further))

    def server_for(self, user: str = USER, password: str = PASSWORD, port: int = 0) -> Any:
        """The database as a user, or by another way."""
        place = f"127.0.0.1:{port}/{self.running.database}" if port else self.running.target
        return KINDS[self.kind](address_of(f"{user}@{place}", password))

    def inner(self, server: Any = None) -> Any:
        of = server or self.server
        return SqlTable(of, self.shape, "sequence_number", lambda _seconds: None)

    def sql(self, statement: str, *values: Any) -> list[Any]:
        cursor = self.connection.cursor()
        cursor.execute(statement.replace("{t}", self.shape.name), list(values))
        rows = list(cursor.fetchall()) if cursor.description else []
        self.connection.commit()
        return rows

    def medium(self, server: Any = None) -> Mask:
        return Mask(self.inner(server), [self.shape])

    def plant(self, image: Image) -> None:
        self.pull(image.key)
        values = {n: v["S"] for n, v in self.mask.put_on(image).attributes.items()}
        marks = ", ".join(["%s"] * len(values))
        statement = f"INSERT INTO {{t}} ({', '.join(values)}) VALUES ({marks})"  # noqa: S608
        self.sql(statement, *values.values())

    def pull(self, key: str) -> None:
        self.sql("DELETE FROM {t} WHERE shard_id = %s", key)


def moved(row: Image, text: str, *further: str) -> Write:
    """A guarded write of another position."""
    return update(row, Update({"sequence_number": {"S": text}}), "sequence_number", *further)


class TestTables(StoreContract):
    samples = WORDS

    @pytest.fixture
    def store(self, table: Table) -> Table:
        return table
