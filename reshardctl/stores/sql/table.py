"""A table with two text columns as its key, as a store. Every value is read as text.

The consumers' own queries name the table without quotes and compare nothing; ours lock the rows,
compare them with what was read, and write in one transaction (READ COMMITTED suffices: what is
compared is locked). Names go into statements quoted, values as parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from reshardctl.errors import NoStore, Refused, UsageError
from reshardctl.model import (
    Attributes,
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
from reshardctl.stores.sql.changes import Changes, plain
from reshardctl.stores.sql.server import Described, Server, Statement, hidden, left_out

T = TypeVar("T")


class SqlTable:
    """One table. No call is made before a method is called; all share one connection."""

    max_writes = 1_000

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
        keys = [write.key for write in writes]
        rows = self._named(cursor, table, keys, lock=True)
        if not all(holds(write, rows[write.key]) for write in writes):
            seen = self._named(cursor, table, [key for key in keys if rows[key] is None])
            if unlocked := [key for key, row in seen.items() if row is not None]:
                raise hidden(f"{table.address}: {unlocked[0]}")
            return False
        for statement, values in self._changes(table).statements(writes):
            cursor.execute(statement, values)
        self._check_kept(cursor, table, writes)
        return True

    def _check_kept(self, cursor: Any, table: Described, writes: Sequence[Write]) -> None:
        """Raises Refused if a column keeps another value, or a row stays, before the commit."""
        gone = [write.key for write in writes if isinstance(write.change, Delete)]
        for key, row in self._named(cursor, table, gone).items():
            if row is not None:
                raise left_out(f"{table.address}: {key} is still there")
        wanted = {write.key: set_ for write in writes if (set_ := _values(write))}
        columns = sorted({*self._keys, *(name for values in wanted.values() for name in values)})
        rows = self._texts(cursor, columns, *self._where(table, wanted)) if wanted else ()
        kept = {self._shape.image_key(row[self._keys[0]], row[self._keys[1]]): row for row in rows}
        for key, values in wanted.items():
            now = kept.get(key, {})
            for column, value in values.items():
                if now.get(column) != plain(value):
                    raise Refused(
                        f"{table.address}: {column} of {key} would be kept as {now.get(column)}, "
                        f"not as {plain(value)}",
                        "give the column the type of the library's own table",
                    )

    @property
    def _table(self) -> str:
        return self._server.named(self._shape.name)

    def _changes(self, table: Described) -> Changes:
        return Changes(self._server, self._shape, table)

    def _described(self, cursor: Any) -> Described:
        """The table. NoStore if it is absent, UsageError if it is another library's."""
        name = self._shape.name
        needed = (*self._keys, self._numbers)
        place = self._server.location
        table = self._server.described(cursor, name)
        if table is None:
            others = self._server.alike(cursor, needed)
            raise NoStore(
                f"there is no table {name} in {place}",
                f"name it with table=; tables of the kind are here: {', '.join(others)}" if others
                else "no table here holds positions: is it the right database?", name,
            )
        columns = {column.name: column for column in table.columns}
        if missing := [column for column in needed if column not in columns]:
            raise UsageError(
                f"table {name} in {place} has no column {missing[0]}: it does not hold "
                f"{self._shape.holds}",
                "name the right table with table=",
            )
        if not columns[self._numbers].exact:
            raise UsageError(
                f"table {name} in {place}: column {self._numbers} is "
                f"{columns[self._numbers].type}, which cannot hold a sequence number of 56 digits",
                "name the right table with table=",
            )
        return table

    def _named(
        self, cursor: Any, table: Described, keys: Iterable[str], *, lock: bool = False
    ) -> dict[str, Image | None]:
        rows: dict[str, Image | None] = dict.fromkeys(keys)
        if not rows:
            return {}
        where, values = self._where(table, rows)
        where += " FOR UPDATE" if lock else ""
        images = {image.key: image for image in self._rows(cursor, table, where, values)}
        return {key: images.get(key) for key in rows}

    def _where(self, table: Described, keys: Iterable[str]) -> Statement:
        condition, values = self._changes(table).rows(keys)
        return f" WHERE {condition}", values

    def _rows(
        self, cursor: Any, table: Described, where: str, values: Sequence[Any] = ()
    ) -> list[Image]:
        columns = [column.name for column in table.columns]
        return [self._image(row) for row in self._texts(cursor, columns, where, values)]

    def _texts(
        self, cursor: Any, columns: Sequence[str], where: str, values: Sequence[Any] = ()
    ) -> Iterator[dict[str, Any]]:
        """Rows as texts, by column."""
        texts = ", ".join(map(self._server.as_text, columns))
        cursor.execute(f"SELECT {texts} FROM {self._table}{where}", list(values))  # noqa: S608
        return (dict(zip(columns, row, strict=True)) for row in cursor.fetchall())

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
