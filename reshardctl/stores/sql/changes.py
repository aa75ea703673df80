"""Statements that make the changes of a step, many rows at a time. Names quoted, values given."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reshardctl.model import (
    Attributes,
    AttributeValue,
    Create,
    Delete,
    TableShape,
    Update,
    Write,
)
from reshardctl.model.images import OTHER_COLUMNS, SAME_KEY, UNGUARDED
from reshardctl.stores.sql.server import Column, Described, Server, Statement

_TOLD = frozenset({OTHER_COLUMNS, SAME_KEY, UNGUARDED})
"""Attributes that are no columns."""
Value = str | bytes | None
"""What a column holds."""


class Changes:
    """The statements for one table, as it is described by its server."""

    def __init__(self, server: Server, shape: TableShape, described: Described) -> None:
        """Calls nothing. shape: the table and the two columns of its key."""
        assert shape.range is not None
        self._server = server
        self._shape = shape
        self._table = server.named(shape.name)
        self._described = described
        self._keys = (shape.hash, shape.range)

    def rows(self, keys: Iterable[str]) -> Statement:
        """A condition for rows by key, and its values: the rows of a namespace by one list."""
        first = self._server.quoted(self._keys[0])
        shards: dict[str, list[str]] = {}
        for key in keys:
            namespace, shard = self._key(key)
            shards.setdefault(namespace, []).append(shard)
        conditions: list[str] = []
        values: list[Any] = []
        for namespace, names in shards.items():
            one_of, given = self._server.one_of(self._described.column(self._keys[1]), names)
            conditions.append(f"({first} = %s AND {one_of})")
            values += [namespace, *given]
        return " OR ".join(conditions), values

    def statements(self, writes: Sequence[Write]) -> Iterator[Statement]:
        """All changes; rows that are changed in the same way go into one statement."""
        deleted: list[str] = []
        created: dict[tuple[str, ...], list[Mapping[str, Value]]] = {}
        updated: dict[tuple[str, ...], list[Mapping[str, str | None]]] = {}
        for write in writes:
            parts = dict(zip(self._keys, self._key(write.key), strict=True))
            match write.change:
                case Create(attributes):
                    row = parts | columns_of(attributes)
                    created.setdefault(tuple(row), []).append(row)
                case Update(values, remove, add):
                    if add:
                        raise ValueError(f"{write.key}: no column counts")
                    wanted = _texts(values) | dict.fromkeys(remove)
                    updated.setdefault(tuple(wanted), []).append({**wanted, **parts})
                case Delete():
                    deleted.append(write.key)
        for names, rows in created.items():
            yield self._created(names, rows)
        for names, changed in updated.items():
            columns = [self._described.column(name) for name in (*self._keys, *names)]
            yield from self._server.updates(self._table, columns, len(self._keys), changed)
        if deleted:
            condition, parameters = self.rows(deleted)
            yield f"DELETE FROM {self._table} WHERE {condition}", parameters  # noqa: S608

    def _created(self, names: Sequence[str], rows: Sequence[Mapping[str, Value]]) -> Statement:
        columns = ", ".join(map(self._server.quoted, names))
        marks = ", ".join([f"({', '.join(['%s'] * len(names))})"] * len(rows))
        values = [row[name] for row in rows for name in names]
        given = self._server.given
        return f"INSERT INTO {self._table} ({columns}) {given} VALUES {marks}", values  # noqa: S608

    def _key(self, key: str) -> tuple[str, str]:
        parts = self._shape.parts(key)
        return parts[self._keys[0]], parts[self._keys[1]]


def update_each(
    server: Server, table: str, columns: Sequence[Column], keys: int,
    rows: Iterable[Mapping[str, Any]],
) -> Iterator[Statement]:
    """A statement for each row, for servers that have no better way."""
    names = [column.name for column in columns]
    where = " AND ".join(f"{server.quoted(name)} = %s" for name in names[:keys])
    sets = ", ".join(f"{server.quoted(name)} = %s" for name in names[keys:])
    statement = f"UPDATE {table} SET {sets} WHERE {where}"  # noqa: S608
    for row in rows:
        yield statement, [row[name] for name in (*names[keys:], *names[:keys])]


def columns_of(attributes: Attributes) -> dict[str, Value]:
    """The columns of a new row; a row that is put back gives all of them, see `OTHER_COLUMNS`."""
    other = attributes.get(OTHER_COLUMNS, {}).get("M", {})
    used = {name: plain(value) for name, value in attributes.items() if name not in _TOLD}
    return used | {name: _other(value) for name, value in other.items()}


def _other(value: AttributeValue) -> Value:
    ((kind, body),) = value.items()
    match kind:
        case "NULL":
            return None
        case "B":
            return base64.b64decode(body)
        case _:
            return plain(value)


def plain(value: AttributeValue) -> str:
    """A column's value. ValueError for what a text column cannot hold."""
    ((kind, body),) = value.items()
    if kind != "S":
        raise ValueError(f"a column cannot hold {kind}")
    return str(body)


def _texts(values: Attributes) -> dict[str, str | None]:
    return {name: plain(value) for name, value in values.items()}
