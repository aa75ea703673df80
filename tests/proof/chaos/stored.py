"""The rows that a consumer of chaos keeps, in the form of DynamoDB's items, whatever holds them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from tests.proof.drawn.states import Rows
from tests.proof.libraries.go.stores import connected
from tests.support.servers import PASSWORD, Running


class Stored(Protocol):
    """All rows, by their keys."""

    def rows(self) -> Rows: ...
    def put(self, rows: Rows) -> None: ...


class Table:
    """Items of a DynamoDB table, by their keys."""

    def __init__(self, client: Any, table: str, *keys: str) -> None:
        self._client, self._table, self._keys = client, table, keys

    def rows(self) -> Rows:
        try:
            pages = self._client.get_paginator("scan").paginate(
                TableName=self._table, ConsistentRead=True
            )
            items = [item for page in pages for item in page["Items"]]
        except self._client.exceptions.ResourceNotFoundException:
            return {}
        rows = {"/".join(item[key]["S"] for key in self._keys): item for item in items}
        return {key: _coded(row, bytes, base64.b64encode) for key, row in sorted(rows.items())}

    def put(self, rows: Rows) -> None:
        """Make the table hold these. ClientError where it cannot."""
        before = self.rows()
        for key, row in rows.items():
            if row != before.get(key):
                item = _coded(row, str, base64.b64decode)
                self._client.put_item(TableName=self._table, Item=item)
        for key in before.keys() - rows.keys():
            named = {name: before[key][name] for name in self._keys}
            self._client.delete_item(TableName=self._table, Key=named)


class Keys:
    """Keys of an application in Redis: `APP:checkpoint:STREAM:SHARD`, each a sequence number."""

    def __init__(self, running: Running, app: str) -> None:
        import redis

        self._redis: Any = redis.Redis(port=running.port, password=PASSWORD)
        self._app = app

    def rows(self) -> Rows:
        rows: Rows = {}
        for key in sorted(self._redis.keys(f"{self._app}:checkpoint:*")):
            stream, _, shard = key.decode().partition(":checkpoint:")[2].rpartition(":")
            space, number = f"{self._app}-{stream}", self._redis.get(key).decode()
            rows[f"{space}/{shard}"] = _numbered(space, shard, number)
        return rows

    def put(self, rows: Rows) -> None:
        for key in self._redis.keys(f"{self._app}:checkpoint:*"):
            self._redis.delete(key)
        for row in rows.values():
            space = row["namespace"]["S"].partition("-")[2]
            value = row.get("sequence_number", {}).get("S")
            if value is not None:
                name = f"{self._app}:checkpoint:{space}:{row['shard_id']['S']}"
                self._redis.set(name, value)


class SqlTable:
    """Rows of PostgreSQL or MariaDB: namespace, shard and a sequence number."""

    def __init__(self, kind: str, running: Running, table: str) -> None:
        self._kind, self._running, self._table = kind, running, table

    def rows(self) -> Rows:
        with self._cursor() as cursor:
            cursor.execute(f"SELECT * FROM {self._table}")  # noqa: S608 - a name of ours
            found = sorted(cursor.fetchall())
        return {f"{row[0]}/{row[1]}": _numbered(*row) for row in found}

    def put(self, rows: Rows) -> None:
        """Make the table hold these. The driver's error where it cannot."""
        with self._cursor() as cursor:
            cursor.execute(f"DELETE FROM {self._table}")  # noqa: S608
            for row in rows.values():
                if (value := row.get("sequence_number", {}).get("S")) is not None:
                    cursor.execute(
                        f"INSERT INTO {self._table} VALUES (%s, %s, %s)",  # noqa: S608
                        (row["namespace"]["S"], row["shard_id"]["S"], value),
                    )

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        """In one transaction."""
        connection = connected(self._kind, self._running)
        try:
            yield connection.cursor()
            connection.commit()
        finally:
            connection.close()


class Folder:
    """Files below a folder, by their relative paths. Their bytes are a text of Latin-1."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def rows(self) -> Rows:
        files = {
            path.relative_to(self._root).as_posix(): path.read_bytes().decode("latin-1")
            for path in sorted(self._root.rglob("*")) if path.is_file()
        }
        return {name: {"bytes": {"S": text}} for name, text in files.items()}

    def put(self, rows: Rows) -> None:
        before = self.rows()
        for name in before.keys() - rows.keys():
            (self._root / name).unlink()
        for name, row in rows.items():
            if row != before.get(name):
                path = self._root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(row["bytes"]["S"].encode("latin-1"))


def _numbered(space: str, shard: str, number: object) -> dict[str, Any]:
    return {
        "namespace": {"S": space}, "shard_id": {"S": shard}, "sequence_number": {"S": str(number)},
    }


def _coded(row: Mapping[str, Any], kind: type, code: Callable[[Any], bytes]) -> dict[str, Any]:
    """Bytes as boto3 takes them, or as text, which damages are written in."""
    coded = {}
    for name, value in row.items():
        body = value.get("B")
        if isinstance(body, kind):
            whole = code(body)
            coded[name] = {"B": whole.decode() if kind is bytes else whole}
        else:
            coded[name] = dict(value)
    return coded
