"""A table with two text columns as its key, as a store. Every value is read as text.

The consumers' own queries name the table without quotes and compare nothing; ours lock the rows,
compare them with what was read, and write in one transaction (READ COMMITTED suffices: what is
compared is locked). Names go into statements quoted, values as parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from reshardctl.errors import NoStore, Refused, UsageError
from reshardctl.model import (
    Attributes,
    AttributeValue,
    Create,
    Delete,
    Image,
    Step,
    TableShape,
    Update,
    Write,
    canonical,
)
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.guards import checked, holds
from reshardctl.stores.sql.attempts import Attempts
from reshardctl.stores.sql.server import Described, Server

T = TypeVar("T")


class SqlTable:
    """One table. No call is made before a method is called; each opens and closes a connection."""

    max_writes = 100

    def __init__(
        self, server: Server, shape: TableShape, numbers: str, sleep: Callable[[float], None]
    ) -> None:
        """Calls nothing yet.

        shape: the table and the two columns of its key. numbers: the column of the position.
        """
        assert shape.range is not None
        self._server = server
        self._shape = shape
        self._keys = (shape.hash, shape.range)
        self._numbers = numbers
        self._attempts = Attempts(server, sleep)

    def identity(self) -> Mapping[str, str]:
        """`arn`: the address, without a user; `created`: what a recreated table does not share."""
        table = self._tried(self._described)
        return {"medium": self._server.medium, "arn": table.address, "created": table.created}

    def read(self) -> list[Image]:
        """Every row in key order, by one statement."""
        return self._tried(lambda cursor: sorted(
            self._rows(cursor, self._described(cursor), ""), key=lambda image: image.key
        ))

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows as they are now."""
        return self._tried(lambda cursor: self._named(cursor, self._described(cursor), keys))

    def write(self, step: Step, token: str) -> WriteResult:  # noqa: ARG002 - see Attempts
        """All writes of the step or none."""
        writes = checked(step, self.max_writes)
        return self._attempts.writing(
            step, lambda cursor: self._changed(cursor, writes), self.get
        )

    def _changed(self, cursor: Any, writes: Sequence[Write]) -> bool:
        table = self._described(cursor)
        if not table.transactions:
            raise Refused(
                f"{table.address}: its engine has no transactions, so that a write could "
                "not be guarded", f"ALTER TABLE {self._shape.name} ENGINE=InnoDB",
            )
        rows = self._named(cursor, table, [write.key for write in writes], lock=True)
        if not all(holds(write, rows[write.key]) for write in writes):
            return False
        for write in writes:
            self._change(cursor, write)
        self._check_kept(cursor, table, writes)
        return True

    def _check_kept(self, cursor: Any, table: Described, writes: Sequence[Write]) -> None:
        """Raises Refused if a column keeps another value than was written, before the commit."""
        rows = self._named(cursor, table, [write.key for write in writes])
        for write in writes:
            now = rows[write.key]
            for column, value in _values(write).items():
                kept = now.attributes.get(column) if now else None
                if kept != value:
                    raise Refused(
                        f"{table.address}: {column} of {write.key} would be kept as {kept}, not "
                        f"as {_plain(value)}; nothing was written",
                        "give the column the type of the library's own table",
                    )

    def _change(self, cursor: Any, write: Write) -> None:
        name = self._server.quoted
        table, parts = self._table, self._shape.parts(write.key)
        where = " AND ".join(f"{name(column)} = %s" for column in self._keys)
        key = [parts[column] for column in self._keys]
        match write.change:
            case Create(attributes):
                values = {n: _plain(v) for n, v in attributes.items()} | parts
                columns = ", ".join(map(name, values))
                marks = ", ".join(["%s"] * len(values))
                statement = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608
                cursor.execute(statement, list(values.values()))
            case Update(values, remove, add):
                if add:
                    raise ValueError(f"{write.key}: no column counts")
                wanted = {n: _plain(v) for n, v in values.items()} | dict.fromkeys(remove)
                sets = ", ".join(f"{name(column)} = %s" for column in wanted)
                statement = f"UPDATE {table} SET {sets} WHERE {where}"  # noqa: S608
                cursor.execute(statement, [*wanted.values(), *key])
            case Delete():
                cursor.execute(f"DELETE FROM {table} WHERE {where}", key)  # noqa: S608

    @property
    def _table(self) -> str:
        return self._server.named(self._shape.name)

    def _described(self, cursor: Any) -> Described:
        """The table. NoStore if it is absent, UsageError if it is another library's."""
        name = self._shape.name
        needed = (*self._keys, self._numbers)
        table = self._server.described(cursor, name)
        if table is None:
            others = self._server.alike(cursor, needed)
            raise NoStore(
                f"there is no table {name} in this database",
                f"name it with table=; tables of the kind are here: {', '.join(others)}" if others
                else "no table here holds positions: is it the right database?", name,
            )
        columns = {column.name: column for column in table.columns}
        if missing := [column for column in needed if column not in columns]:
            raise UsageError(
                f"table {name} has no column {missing[0]}: it does not hold {self._shape.holds}",
                "name the right table with table=",
            )
        if not columns[self._numbers].exact:
            raise UsageError(
                f"table {name}: column {self._numbers} is {columns[self._numbers].type}, which "
                "cannot hold a sequence number of 56 digits", "name the right table with table=",
            )
        return table

    def _named(
        self, cursor: Any, table: Described, keys: Iterable[str], *, lock: bool = False
    ) -> dict[str, Image | None]:
        rows: dict[str, Image | None] = dict.fromkeys(keys)
        if not rows:
            return {}
        equal = " AND ".join(f"{self._server.quoted(column)} = %s" for column in self._keys)
        values = [self._shape.parts(key)[column] for key in rows for column in self._keys]
        where = " WHERE " + " OR ".join([f"({equal})"] * len(rows))
        where += " FOR UPDATE" if lock else ""
        images = {image.key: image for image in self._rows(cursor, table, where, values)}
        return {key: images.get(key) for key in rows}

    def _rows(
        self, cursor: Any, table: Described, where: str, values: Sequence[str] = ()
    ) -> list[Image]:
        columns = [column.name for column in table.columns]
        texts = ", ".join(map(self._server.as_text, columns))
        cursor.execute(f"SELECT {texts} FROM {self._table}{where}", list(values))  # noqa: S608
        return [self._image(dict(zip(columns, row, strict=True))) for row in cursor.fetchall()]

    def _image(self, row: Mapping[str, str | None]) -> Image:
        first, second = self._keys
        attributes: Attributes = {n: {"S": v} for n, v in row.items() if v is not None}
        return Image(
            self._shape.image_key(row[first] or "", row[second] or ""), canonical(attributes)
        )

    def _tried(self, look: Callable[[Any], T]) -> T:
        return self._attempts.reading(look, self._shape.name)


def _values(write: Write) -> Attributes:
    """The attributes that a write sets in its row."""
    match write.change:
        case Create(attributes):
            return attributes
        case Update(values):
            return values
        case _:
            return {}


def _plain(value: AttributeValue) -> str:
    """A column's value. ValueError for what a text column cannot hold."""
    ((kind, body),) = value.items()
    if kind != "S":
        raise ValueError(f"a column cannot hold {kind}")
    return str(body)
