"""Steps of many rows: one transaction, a handful of statements, the guards of single rows."""

from __future__ import annotations

from typing import Any

import pytest

from reshardctl.model import Image, Write
from reshardctl.model.write_state import WriteResult
from tests.contracts.store_contract import create, delete, step
from tests.support.several_tables import Mask
from tests.unit.stores.sql.test_contract import Table, _row
from tests.unit.stores.sql.test_contract import moved as moved_to

MANY = 300


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
    return server, table.medium(server)


def planted(table: Table, count: int) -> list[Image]:
    rows = [_row(f"k{n:05}", n) for n in range(count)]
    assert table.medium().write(step(*map(create, rows)), "t") is WriteResult.APPLIED
    return rows


def moved(row: Image, by: int) -> Write:
    return moved_to(row, str(int(row.attributes["sequence_number"]["S"]) + by))


def test_each_row_gets_its_own_number(table: Table) -> None:
    rows = planted(table, MANY)
    server, medium = over(table)
    writes = step(*(moved(row, 7 * n) for n, row in enumerate(rows)))
    assert medium.write(writes, "t") is WriteResult.APPLIED
    assert medium.read() == [_row(row.key, 8 * n) for n, row in enumerate(rows)]
    assert len(server.open) == 1


@pytest.mark.only(lambda running: running == "postgres", "MySQL has a statement for each row")
def test_many_rows_take_as_many_statements_as_two(table: Table) -> None:
    counts = []
    for count in (2, MANY):
        rows = planted(table, count)
        server, medium = over(table)
        assert medium.write(step(*(moved(row, 1) for row in rows)), "t") is WriteResult.APPLIED
        counts.append(server.statements)
        table.sql("DELETE FROM {t}")
    assert counts[0] == counts[1]


def test_one_row_of_many_that_moved_keeps_all_as_they_are(table: Table) -> None:
    rows = planted(table, MANY)
    table.plant(_row("k00150", 123_456))
    assert table.medium().write(step(*(moved(row, 9) for row in rows)), "t") is WriteResult.CONFLICT
    expected = {row.key: row for row in rows} | {"k00150": _row("k00150", 123_456)}
    assert table.medium().read() == [expected[key] for key in sorted(expected)]


def test_a_row_that_is_gone_or_was_created_keeps_all_as_they_are(table: Table) -> None:
    rows = planted(table, 3)
    table.pull(rows[1].key)
    table.plant(_row("new", 2))
    for writes in (
        step(*(moved(row, 9) for row in rows)), step(moved(rows[0], 9), create(_row("new", 1))),
    ):
        assert table.medium().write(writes, "t") is WriteResult.CONFLICT
    assert table.medium().read() == [rows[0], rows[2], _row("new", 2)]


def test_changes_of_every_kind_in_one_step(table: Table) -> None:
    """Rows that are created, moved and deleted; and some that nothing names."""
    rows = planted(table, 8)
    writes = step(
        create(_row("new", 5)), create(_row("more", 6)), moved(rows[0], 100), moved(rows[1], 200),
        delete(rows[4], "sequence_number"), delete(rows[5], "sequence_number"),
    )
    assert table.medium().write(writes, "t") is WriteResult.APPLIED
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
    assert medium.write(step(*(moved(row, 3) for row in rows)), "t") is WriteResult.APPLIED
    assert medium.read() == [_row("k00000", 3), _row("k00001", 4)]
    assert len(server.open) == 2


def test_no_connection_holds_a_lock_between_steps(table: Table) -> None:
    rows = planted(table, 2)
    _, medium = over(table)
    assert medium.write(step(moved(rows[0], 3)), "t") is WriteResult.APPLIED
    assert medium.write(step(moved(rows[0], 3)), "t") is WriteResult.CONFLICT
    table.sql("DELETE FROM {t}")  # would wait for the lock
    assert medium.read() == []


def test_the_connection_is_closed_with_the_table(table: Table) -> None:
    planted(table, 1)
    server, medium = over(table)
    medium.read()
    del medium
    assert getattr(server.open[0], "closed", None) or not getattr(server.open[0], "open", True)
