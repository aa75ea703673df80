"""Labs whose store is a real Redis, PostgreSQL or MariaDB with kinesis-consumer's positions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from reshardctl.model import Image
from reshardctl.stores.sql.mysql import MySql
from reshardctl.stores.sql.postgres import Postgres
from reshardctl.stores.sql.server import address_of
from tests.cli.lab import Item, Lab
from tests.support.position_tables import create_table
from tests.support.servers import PASSWORD, USER, Running

_names = itertools.count()


@dataclass
class StoreLab(Lab):
    """See `Lab`; rows are by namespace/shard, each the text of its number."""

    kind: str = ""
    running: Running | None = None
    table_name: str = ""
    handle: Any = None

    @property
    def address(self) -> str:
        """Without the password."""
        assert self.running is not None
        if self.kind == "redis":
            return f"127.0.0.1:{self.running.port}/{self.table_name}"
        return f"{USER}@{self.running.target}"

    @property
    def locator(self) -> str:
        table = "" if self.kind == "redis" else f"&table={self.table_name}"
        return f"kinesis-consumer+{self.kind}://{self.address}{self.options}{table}"

    def items(self) -> dict[str, Item]:
        return {key: {"sequence_number": number} for key, number in self.numbers().items()}

    def numbers(self) -> Mapping[str, str]:
        """What is stored, seen by another client."""
        if self.kind == "redis":
            found = {}
            for key in self.handle.keys("*:checkpoint:*"):
                app, _, rest = key.decode().partition(":checkpoint:")
                stream, _, shard = rest.rpartition(":")
                found[f"{app}-{stream}/{shard}"] = self.handle.get(key).decode()
            return found
        rows = self.sql(
            f"SELECT namespace, shard_id, sequence_number FROM {self.table_name}"  # noqa: S608
        )
        return {f"{space}/{shard}": str(number) for space, shard, number in rows}

    def put(self, space: str, shard: str, number: str) -> None:
        """As the library does: over what is there."""
        if self.kind == "redis":
            app, _, stream = space.partition("-")
            self.handle.set(f"{app}:checkpoint:{stream}:{shard}", number)
            return
        name = self.table_name
        where = "WHERE namespace = %s AND shard_id = %s"
        self.sql(f"DELETE FROM {name} {where}", space, shard)  # noqa: S608
        self.sql(f"INSERT INTO {name} VALUES (%s, %s, %s)", space, shard, number)  # noqa: S608

    def restore(self, items: Mapping[str, Item]) -> None:
        if self.kind == "redis":
            self.handle.flushdb()
        else:
            self.sql(f"DELETE FROM {self.table_name}")  # noqa: S608
        for key, item in items.items():
            space, shard = key.split("/")
            self.put(space, shard, item["sequence_number"])

    def sql(self, statement: str, *values: Any) -> list[Any]:
        cursor = self.handle.cursor()
        cursor.execute(statement, list(values))
        rows = list(cursor.fetchall()) if cursor.description else []
        self.handle.commit()
        return rows


@contextmanager
def store_lab(
    lab: Lab, kind: str, running: Running, images: Sequence[Image]
) -> Iterator[StoreLab]:
    """The same stream and clock with a store of its own on a server."""
    ours = lab.beside(StoreLab, kind=kind, running=running)
    if kind == "redis":
        import redis

        ours.table_name = str(next(_names) % 16)
        ours.handle = redis.Redis(port=running.port, db=int(ours.table_name), password=PASSWORD)
        ours.handle.flushdb()
    else:
        server = Postgres if kind == "postgres" else MySql
        ours.handle = server(address_of(f"{USER}@{running.target}", PASSWORD)).connect()
        ours.table_name = f"positions_{next(_names)}"
        ours.sql(create_table(kind, ours.table_name))
    for image in images:
        values = {name: value["S"] for name, value in image.attributes.items()}
        ours.put(values["namespace"], values["shard_id"], values["sequence_number"])
    try:
        yield ours
    finally:
        with suppress(Exception):
            ours.handle.close()
