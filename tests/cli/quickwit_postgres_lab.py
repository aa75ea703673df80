"""A lab whose store is Quickwit's metastore in a real PostgreSQL, restored from a recorded dump."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.cli.lab import Lab
from tests.cli.quickwit_lab import GOLDEN
from tests.support.servers import PASSWORD, USER, Running

_names = itertools.count()
_left: dict[tuple[Path, str], list[str]] = defaultdict(list)
"""Databases that no test uses any more, by the server's folder and their encoding."""


def connected(running: Running, database: str, port: int | None = None) -> Any:
    return psycopg.connect(
        host="127.0.0.1", port=port or running.port, user=USER, password=PASSWORD,
        dbname=database, autocommit=True, client_encoding="UTF8",
    )


@contextmanager
def restored(
    running: Running, release: str, state: str, encoding: str = "UTF8"
) -> Iterator[str]:
    """The name of a database of its own that holds the dump.

    To make a database costs the server more than the dump: one that was left is emptied and named
    anew."""
    name, left = f"metastore_{next(_names)}", _left[running.folder, encoding]
    with connected(running, running.database) as server:
        if left:
            old = left.pop()
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [old]
            )
            server.execute(f"ALTER DATABASE {old} RENAME TO {name}")
        else:
            server.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}'")
    with connected(running, name) as database:
        database.execute("DROP SCHEMA public CASCADE")
        database.execute("CREATE SCHEMA public")
        database.execute("GRANT USAGE ON SCHEMA public TO PUBLIC")
        for part in ("pre-data", state, "post-data"):
            database.execute((GOLDEN / release / "postgres" / f"{part}.sql").read_text())
    yield name
    left.append(name)


@dataclass
class PostgresLab(Lab):
    """See `Lab`; `database` holds the metastore."""

    running: Running | None = None
    database: str = ""
    _open: dict[str, Any] = field(default_factory=dict)

    @property
    def locator(self) -> str:
        assert self.running is not None
        address = f"{USER}@127.0.0.1:{self.running.port}/{self.database}"
        return f"quickwit+postgres://{address}{self.options}"

    def sql(self, statement: str, *values: Any) -> list[Any]:
        """By one connection to each database: to make one takes longer than any statement."""
        assert self.running is not None
        if self.database not in self._open or self._open[self.database].closed:
            self._open[self.database] = connected(self.running, self.database)
        cursor = self._open[self.database].execute(statement, list(values) or None)
        return list(cursor.fetchall()) if cursor.description else []

    def close(self) -> None:
        for connection in self._open.values():
            connection.close()

    def text(self, index: str = "events") -> str:
        """As it stands there, byte for byte."""
        ((text,),) = self.sql(
            "SELECT index_metadata_json::text FROM indexes WHERE index_id = %s", index
        )
        return text

    def put(self, text: str, index: str = "events") -> None:
        self.sql("UPDATE indexes SET index_metadata_json = %s WHERE index_id = %s", text, index)

    def put_bytes(self, text: bytes, index: str) -> None:
        """Only a database of encoding SQL_ASCII takes any."""
        self.sql(
            "UPDATE indexes SET index_metadata_json = convert_from(decode(%s, 'hex'), 'SQL_ASCII') "
            "WHERE index_id = %s", text.hex(), index,
        )

    def positions(self, index: str = "events", source: str = "kinesis-events") -> dict[str, str]:
        found: dict[str, str] = json.loads(self.text(index))["checkpoint"][source]
        return found

    def disable(self, index: str = "events") -> None:
        """As `quickwit source disable` does: in the row, and nothing else in it."""
        document = json.loads(self.text(index))
        for source in document["sources"]:
            source["enabled"] = False
        self.put(json.dumps(document, ensure_ascii=False, separators=(",", ":")), index)

    def everything(self) -> dict[str, list[Any]]:
        """All rows of all tables, as bytes: some databases hold what is no text."""
        tables = self.sql(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' "
            "ORDER BY 1"
        )
        return {
            name: self.sql(
                f'SELECT convert_to(t::text, getdatabaseencoding()) FROM "{name}" t ORDER BY 1'  # noqa: S608
            )
            for (name,) in tables
        }
