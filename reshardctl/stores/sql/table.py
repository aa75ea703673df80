"""A table with two text columns as its key, as a store. Every value is read as text.

A row's attributes are the three columns that the library uses. The others are kept apart, so that
a deleted row can be put back (`OTHER_COLUMNS`): the database may fill them at any write, and
neither a guard nor a comparison looks at them.

The consumers' own queries name the table without quotes and compare nothing; ours lock the rows,
compare them with what was read, and write in one transaction (READ COMMITTED suffices: what is
compared is locked). Names go into statements quoted, values as parameters.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

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
from reshardctl.model.images import (
    NO_TRANSACTIONS,
    NO_UNIQUE_KEY,
    OTHER_COLUMNS,
    SAME_KEY,
    UNGUARDED,
)
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.base import checked, holds
from reshardctl.stores.sql.changes import Changes, Value, columns_of
from reshardctl.stores.sql.server import (
    Attempts,
    Column,
    Described,
    Server,
    Statement,
    compared,
    hidden,
    left_out,
    pads,
)

NAMED = 5
"""How many positions of one key a message names."""
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
        self._used = (*self._keys, numbers)
        self._attempts = Attempts(server, sleep)

    def identity(self) -> Mapping[str, str]:
        """`arn`: the address, without a user; `created`: what a recreated table does not share."""
        table = self._tried(self._described)
        return {"medium": self._server.medium, "arn": table.address, "created": table.created}

    def read(self) -> list[Image]:
        """A row for every key, in key order."""
        return self._tried(self._every)

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
        if self._unguarded(table) == NO_TRANSACTIONS:
            raise Refused(
                f"{table.address}: its engine has no transactions, so that a write could "
                "not be guarded", f"ALTER TABLE {self._shape.name} ENGINE=InnoDB",
            )
        keys = [write.key for write in writes]
        rows = self._named(cursor, table, keys, lock=True)
        self._refuse_ambiguous(table, rows)
        if not all(holds(self._as_used(write), rows[write.key]) for write in writes):
            seen = self._named(cursor, table, [key for key in keys if rows[key] is None])
            if unlocked := [key for key, row in seen.items() if row is not None]:
                raise hidden(f"{table.address}: {unlocked[0]}")
            return False
        put_back = [write for write in writes if OTHER_COLUMNS in _values(write)]
        self._execute(cursor, table, put_back)
        if self._other(table):
            self._server.spelled_out(cursor, on=False)
        self._execute(cursor, table, [write for write in writes if write not in put_back])
        self._check_kept(cursor, table, writes)
        return True

    def _execute(self, cursor: Any, table: Described, writes: Sequence[Write]) -> None:
        for statement, values in self._changes(table).statements(writes):
            cursor.execute(statement, values)

    def _as_used(self, write: Write) -> Write:
        """The write, guarded by what the library reads: other columns change by themselves."""
        return replace(write, guard=tuple(name for name in write.guard if name in self._used))

    def _unguarded(self, table: Described) -> str:
        """Why no write can be guarded there, "" where one can."""
        if not any(key <= set(self._keys) for key in table.unique):
            return NO_UNIQUE_KEY
        return "" if table.transactions else NO_TRANSACTIONS

    def _refuse_ambiguous(self, table: Described, rows: Mapping[str, Image | None]) -> None:
        """Refused where a statement for one row could meet several."""
        mend = (
            "leave one row for each namespace and shard_id, then: "
            f"ALTER TABLE {self._shape.name} ADD PRIMARY KEY ({', '.join(self._keys)})"
        )
        for key, row in rows.items():
            if row is not None and SAME_KEY in row.attributes:
                same = row.attributes[SAME_KEY]["M"]
                numbers = [row.attributes.get(self._numbers, {}), *same["next"]["L"]]
                shown = ", ".join(number.get("S", "NULL") for number in numbers)
                raise Refused(
                    f"{table.address}: {int(same['count']['N']) + 1} rows are {key} (at {shown}), "
                    "and a write would meet all of them", mend,
                )
        if self._unguarded(table) == NO_UNIQUE_KEY:
            raise Refused(
                f"{table.address}: no unique key forbids two rows of one shard, so that a write "
                "could not be guarded; the library itself cannot keep positions there", mend,
            )

    def _check_kept(self, cursor: Any, table: Described, writes: Sequence[Write]) -> None:
        """Raises Refused if a column keeps another value, or a row stays, before the commit."""
        gone = [write.key for write in writes if isinstance(write.change, Delete)]
        for key, row in self._named(cursor, table, gone).items():
            if row is not None:
                raise left_out(f"{table.address}: {key} is still there")
        wanted = {write.key: set_ for write in writes if (set_ := _values(write))}
        given = {name for values in wanted.values() for name in columns_of(values)}
        kept = self._named(cursor, table, wanted, whole=not given <= set(self._used))
        for key, values in wanted.items():
            row = kept[key]
            now = {} if row is None else columns_of(row.attributes)
            for column, value in columns_of(values).items():
                if now.get(column) != value and not self._filled(cursor, column):
                    raise Refused(
                        f"{table.address}: {column} of {key} would be kept as "
                        f"{_shown(now.get(column))}, not as {_shown(value)}",
                        "give the column the type of the library's own table"
                        if column in self._used else
                        "if a trigger sets the column: GRANT TRIGGER on the table to this user, "
                        "so that it is seen",
                    )

    def _filled(self, cursor: Any, column: str) -> bool:
        """Whether a trigger may set the column, which the library does not use."""
        return column not in self._used and self._server.fills(cursor, self._shape.name)

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

    def _every(self, cursor: Any) -> list[Image]:
        table = self._described(cursor)
        same: dict[tuple[str, ...], list[Mapping[str, Value]]] = {}
        for row in self._rows(cursor, table):
            same.setdefault(self._key(table, row), []).append(row)
        images: list[Image] = []
        for rows in same.values():
            named = self._image(table, *rows)
            if SAME_KEY in named.attributes or named.key != self._as_spelled(table, rows[0]).key:
                # The library's own query tells which rows are equal, and which of them is first.
                found = self._rows(cursor, table, *self._where(table, [named.key]))
                images += [self._as_spelled(table, row) for row in rows if row not in found]
                rows = found
            if rows:
                images.append(self._image(table, *rows))
        return sorted(images, key=lambda image: image.key)

    def _as_spelled(self, table: Described, row: Mapping[str, Value]) -> Image:
        """A row by the name that it has."""
        return self._image(table, row, asked=lambda _column, text: text)

    def _named(
        self, cursor: Any, table: Described, keys: Iterable[str], *, lock: bool = False,
        whole: bool = True,
    ) -> dict[str, Image | None]:
        """The rows that the database finds by these keys, however they are spelled there."""
        images: dict[str, Image | None] = dict.fromkeys(keys)
        if not images:
            return {}
        where, values = self._where(table, images)
        where += " FOR UPDATE" if lock else ""
        found: dict[tuple[str, ...], list[Mapping[str, Value]]] = {}
        for row in self._rows(cursor, table, where, values, whole=whole):
            found.setdefault(self._key(table, row), []).append(row)
        for name in images:
            parts = self._shape.parts(name)
            rows = found.pop(self._key(table, parts), [])
            if len(images) == 1:  # the database's word, whatever `compared` says
                rows += [row for same in found.values() for row in same]
                found = {}
            if rows:
                images[name] = replace(self._image(table, *rows), key=name)
        for space, shard in found:
            raise UsageError(
                f"{table.address}: the database takes row {space}/{shard} for one of another name",
                "give it the name that it stands for",
            )
        return images

    def _where(self, table: Described, keys: Iterable[str]) -> Statement:
        condition, values = self._changes(table).rows(keys)
        return f" WHERE {condition}", values

    def _rows(
        self, cursor: Any, table: Described, where: str = "", values: Sequence[Any] = (), *,
        whole: bool = True,
    ) -> list[Mapping[str, Value]]:
        """Rows by column: those that the library uses as it reads them, others exactly."""
        other = self._other(table) if whole else []
        if other:
            self._server.spelled_out(cursor, on=True)
        columns = [*self._used, *(column.name for column in other)]
        texts = ", ".join([
            *map(self._server.as_text, self._used), *map(self._server.whole, other)
        ])
        cursor.execute(f"SELECT {texts} FROM {self._table}{where}", list(values))  # noqa: S608
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]

    def _other(self, table: Described) -> list[Column]:
        return [column for column in table.columns if column.name not in self._used]

    def _key(self, table: Described, row: Mapping[str, Value]) -> tuple[str, ...]:
        """What the database compares of a row's key."""
        return tuple(
            compared(str(row[name] or ""), table.column(name).collation) for name in self._keys
        )

    def _image(
        self, table: Described, row: Mapping[str, Value], *further: Mapping[str, Value],
        asked: Callable[[Column, str], str] | None = None,
    ) -> Image:
        """A row as the library reads it, by the name under which it asks for it."""
        asked = asked or self._asked
        attributes: dict[str, AttributeValue] = {
            name: {"S": str(row[name])} for name in self._used if row[name] is not None
        }
        other = {
            column.name: _value(row[column.name]) for column in self._other(table)
            if column.name in row
        }
        for name in self._keys:
            text = asked(table.column(name), str(row[name] or ""))
            if row[name] is not None and text != row[name]:
                attributes[name], other[name] = {"S": text}, {"S": row[name]}
        if other:
            attributes[OTHER_COLUMNS] = {"M": other}
        if why := self._unguarded(table):
            attributes[UNGUARDED] = {"S": why}
        if further:
            following = [_value(same[self._numbers]) for same in further[:NAMED]]
            attributes[SAME_KEY] = {
                "M": {"count": {"N": str(len(further))}, "next": {"L": following}}
            }
        names = [str(attributes.get(name, {}).get("S", "")) for name in self._keys]
        return Image(self._shape.image_key(*names), canonical(attributes))

    def _asked(self, column: Column, text: str) -> str:
        """A part of a key as consumers spell it, where the database takes this one for equal."""
        head = self._shape.heads.get(column.name, "")
        begun = text[: len(head)]
        if head and compared(begun, column.collation) == compared(head, column.collation):
            text = head + text[len(head):]
        return text.rstrip(" ") if pads(column.collation) else text

    def _tried(self, look: Callable[[Any], T]) -> T:
        return self._attempts.reading(look, self._shape.name)


def _shown(value: Value) -> str:
    return value if isinstance(value, str) else repr(value)


def _value(value: Value) -> AttributeValue:
    match value:
        case None:
            return {"NULL": True}
        case bytes():
            return {"B": base64.b64encode(value).decode()}
        case _:
            return {"S": value}


def _values(write: Write) -> Attributes:
    """The attributes that a write sets in its row."""
    match write.change:
        case Create(attributes):
            return attributes
        case Update(values):
            return values
        case _:
            return {}
