"""Steps of many rows: one transaction, a handful of statements, the guards of single rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reshardctl.model import Create, Delete, Image, Step, Update, Write
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.sql import SqlTable
from tests.support.servers import Running
from tests.support.several_tables import Mask
from tests.unit.stores.sql.test_contract import Table, _row

MANY = 300


@pytest.fixture
def table(running: tuple[str, Running]) -> Iterator[Table]:
    made = Table(*running)
    yield made
    made.connection.close()


class Counting:
    """A server that counts its connections and the statements in them."""

    def __init__(self, server: Any) -> None:
        self.server, self.statements = server, 0
        self.open: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.server, name)

    def connect(self) -> Any:
        self.open.append(self.server.connect())
        return _Connection(self, self.open[-1])


class _Connection:
    def __init__(self, counts: Counting, connection: Any) -> None:
        self.counts, self.connection = counts, connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)

    def cursor(self) -> Any:
        return _Cursor(self.counts, self.connection.cursor())


class _Cursor:
    def __init__(self, counts: Counting, cursor: Any) -> None:
        self.counts, self.cursor = counts, cursor

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cursor, name)

    def execute(self, *words: Any) -> Any:
        self.counts.statements += 1
        return self.cursor.execute(*words)


def over(table: Table) -> tuple[Counting, Mask]:
    server: Any = Counting(table.server)
    inner: Any = SqlTable(server, table.shape, "sequence_number", lambda _seconds: None)
    return server, Mask(inner, [table.shape])


def planted(table: Table, count: int) -> list[Image]:
    rows = [_row(f"k{n:05}", n) for n in range(count)]
    creating = tuple(Write(row.key, Create(row.attributes), None, "a test") for row in rows)
    assert table.medium().write(Step("all", creating), "t") is WriteResult.APPLIED
    return rows


def moved(row: Image, by: int) -> Write:
    number = int(row.attributes["sequence_number"]["S"]) + by
    change = Update({"sequence_number": {"S": str(number)}})
    return Write(row.key, change, row, "a test", ("sequence_number",))


def test_each_row_gets_its_own_number(table: Table) -> None:
    rows = planted(table, MANY)
    server, medium = over(table)
    step = Step("move", tuple(moved(row, 7 * n) for n, row in enumerate(rows)))
    assert medium.write(step, "t") is WriteResult.APPLIED
    assert medium.read() == [_row(row.key, 8 * n) for n, row in enumerate(rows)]
    assert len(server.open) == 1


@pytest.mark.only(lambda running: running == "postgres", "MySQL has a statement for each row")
def test_many_rows_take_as_many_statements_as_two(table: Table) -> None:
    counts = []
    for count in (2, MANY):
        rows = planted(table, count)
        server, medium = over(table)
        assert medium.write(Step("move", tuple(moved(row, 1) for row in rows)), "t") is \
            WriteResult.APPLIED
        counts.append(server.statements)
        table.sql(f"DELETE FROM {table.shape.name}")  # noqa: S608
    assert counts[0] == counts[1]


def test_one_row_of_many_that_moved_keeps_all_as_they_are(table: Table) -> None:
    rows = planted(table, MANY)
    table.plant(_row("k00150", 123_456))
    step = Step("move", tuple(moved(row, 9) for row in rows))
    assert table.medium().write(step, "t") is WriteResult.CONFLICT
    expected = {row.key: row for row in rows} | {"k00150": _row("k00150", 123_456)}
    assert table.medium().read() == [expected[key] for key in sorted(expected)]


def test_a_row_that_is_gone_or_was_created_keeps_all_as_they_are(table: Table) -> None:
    rows = planted(table, 3)
    new = _row("new", 1)
    creating = Write("new", Create(new.attributes), None, "a test")
    table.pull(rows[1].key)
    moving = Step("move", tuple(moved(row, 9) for row in rows))
    assert table.medium().write(moving, "t") is WriteResult.CONFLICT
    table.plant(_row("new", 2))
    both = Step("both", (moved(rows[0], 9), creating))
    assert table.medium().write(both, "t") is WriteResult.CONFLICT
    assert table.medium().read() == [rows[0], rows[2], _row("new", 2)]


def test_changes_of_every_kind_in_one_step(table: Table) -> None:
    """Rows that are created, moved and deleted; and some that nothing names."""
    rows = planted(table, 8)
    writes = [
        Write("new", Create(_row("new", 5).attributes), None, "a test"),
        Write("more", Create(_row("more", 6).attributes), None, "a test"),
        moved(rows[0], 100), moved(rows[1], 200),
        Write(rows[4].key, Delete(), rows[4], "a test", ("sequence_number",)),
        Write(rows[5].key, Delete(), rows[5], "a test", ("sequence_number",)),
    ]
    assert table.medium().write(Step("mixed", tuple(writes)), "t") is WriteResult.APPLIED
    assert table.medium().read() == [
        _row("k00000", 100), _row("k00001", 201), rows[2], rows[3], rows[6], rows[7],
        _row("more", 6), _row("new", 5),
    ]


def test_a_connection_that_was_closed_between_steps_is_opened_again(table: Table) -> None:
    """A server, or a firewall, ends a connection that was idle during a watch."""
    rows = planted(table, 2)
    server, medium = over(table)
    assert medium.read() == rows
    server.open[-1].close()
    assert medium.write(Step("move", tuple(moved(row, 3) for row in rows)), "t") is \
        WriteResult.APPLIED
    assert medium.read() == [_row("k00000", 3), _row("k00001", 4)]
    assert len(server.open) == 2


def test_a_read_sees_what_others_wrote_since_the_last_one(table: Table) -> None:
    rows = planted(table, 2)
    _, medium = over(table)
    assert medium.read() == rows
    table.plant(_row("k00001", 77))
    assert medium.read() == [rows[0], _row("k00001", 77)]
    assert medium.get(["k00001"]) == {"k00001": _row("k00001", 77)}


def test_no_connection_holds_a_lock_between_steps(table: Table) -> None:
    rows = planted(table, 2)
    _, medium = over(table)
    assert medium.write(Step("move", (moved(rows[0], 3),)), "t") is WriteResult.APPLIED
    assert medium.write(Step("again", (moved(rows[0], 3),)), "t") is WriteResult.CONFLICT
    table.sql(f"DELETE FROM {table.shape.name}")  # noqa: S608 - would wait for the lock
    assert medium.read() == []


def test_the_connection_is_closed_with_the_table(table: Table) -> None:
    planted(table, 1)
    server, medium = over(table)
    medium.read()
    del medium
    assert getattr(server.open[0], "closed", None) or not getattr(server.open[0], "open", True)
