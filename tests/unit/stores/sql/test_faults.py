"""Connections that go at any moment, locks that last, engines without transactions."""

from __future__ import annotations

from threading import Timer
from types import SimpleNamespace
from typing import Any

import pytest

from reshardctl.errors import CannotTell, Refused, UsageError
from reshardctl.model import Image, TableShape
from reshardctl.model.images import NO_TRANSACTIONS, UNGUARDED
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.sql import SqlTable
from reshardctl.stores.sql.server import Attempts, address_of
from tests.contracts.store_contract import step
from tests.support.position_tables import create_table
from tests.support.servers import PASSWORD, USER
from tests.support.servers.severed import way_to
from tests.unit.stores.faults_of_stores import cut_everywhere
from tests.unit.stores.sql.test_contract import KINDS, NUMBER, Table, _row, moved


@pytest.mark.long
@pytest.mark.parametrize("seen", [False, True], ids=["unseen", "seen"])
def test_a_connection_cut_at_any_message(table: Table, seen: bool) -> None:
    with way_to(table.running.port) as way:
        medium = table.medium(table.server_for(port=way.port))
        endings = cut_everywhere(table, way, medium, _row, seen=seen)
    assert "done" in endings


def test_a_connection_on_which_no_transaction_begins_is_closed() -> None:
    closed: list[str] = []

    def interrupted(_cursor: object) -> None:
        raise KeyboardInterrupt

    connection = SimpleNamespace(
        cursor=lambda: None, rollback=lambda: None, close=lambda: closed.append("it")
    )
    server: Any = SimpleNamespace(
        errors=(OSError,), kind_of=None, location="db", connect=lambda: connection,
        begin=interrupted,
    )
    with pytest.raises(KeyboardInterrupt):
        Attempts(server, lambda _seconds: None).reading(lambda _cursor: None, "rows")
    assert closed == ["it"]


def test_a_server_that_falls_silent(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A paused pooler keeps its connections open; its server's own limits end nothing then."""
    monkeypatch.setattr("reshardctl.stores.sql.postgres.ANSWER", 1)
    monkeypatch.setattr("reshardctl.stores.sql.mysql.READ", 1)
    for module in ("postgres", "mysql"):
        monkeypatch.setattr(f"reshardctl.stores.sql.{module}.CONNECT", 2)
    with way_to(table.running.port) as way:
        store = table.inner(table.server_for(port=way.port))
        assert store.read() == []
        with way.silent(), pytest.raises(CannotTell, match=r"cannot be reached|does not answer"):
            store.read()


def test_a_writer_waits_for_the_one_who_holds_the_row(table: Table) -> None:
    """The row lock of the other transaction: ours sees what it left, not what was read."""
    table.plant(_row("a", 0))
    cursor = table.connection.cursor()
    name = table.shape.name
    cursor.execute(f"UPDATE {name} SET sequence_number = sequence_number + 1")  # noqa: S608
    Timer(0.5, table.connection.commit).start()
    write = moved(_row("a", 0), str(NUMBER + 9))
    assert table.medium().write(step(write), "t") is WriteResult.CONFLICT
    assert table.medium().read() == [_row("a", 1)]


@pytest.mark.only(lambda running: running == "mysql", "PostgreSQL has one kind of table")
def test_an_engine_without_transactions_is_not_written(table: Table) -> None:
    table.plant(_row("a", 0))
    table.sql("ALTER TABLE {t} ENGINE=MyISAM")
    with pytest.raises(Refused, match="no transactions"):
        table.medium().write(step(moved(_row("a", 0), "1")), "t")
    told = {**_row("a", 0).attributes, UNGUARDED: {"S": NO_TRANSACTIONS}}
    assert table.medium().read() == [Image("a", told)]


def test_a_value_that_the_column_keeps_as_another_is_not_written(table: Table) -> None:
    """A column with a fraction: the library would ask Kinesis for "49….0", which is no number."""
    table.plant(_row("a", 0))
    change = {"postgres": "ALTER COLUMN sequence_number TYPE", "mysql": "MODIFY sequence_number"}
    table.sql(f"ALTER TABLE {{t}} {change[table.kind]} numeric(65,1)")
    (before,) = table.medium().read()
    with pytest.raises(Refused, match=f"{NUMBER + 9}.0"):
        table.medium().write(step(moved(before, str(NUMBER + 9))), "t")
    assert table.medium().read() == [before]


@pytest.mark.only(lambda running: running == "postgres", "a matter of PostgreSQL")
@pytest.mark.parametrize("said", ["SQL_ASCII", "LATIN1"])
@pytest.mark.parametrize("kept", ["SQL_ASCII", "UTF8"])
def test_the_environment_does_not_choose_the_encoding(table, running, monkeypatch, said, kept):
    """PGCLIENTENCODING is libpq's own; a row that LATIN1 cannot hold would hide all others, and a
    database in SQL_ASCII is answered in bytes (psycopg's manual, "Strings adaptation")."""
    kind, server = running
    base = f"{said}_{kept}".lower()
    table.connection.rollback()
    table.connection.autocommit = True
    table.sql(
        f"CREATE DATABASE {base} ENCODING '{kept}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
    )
    target = server.target.replace(server.database, base)
    one = KINDS[kind](address_of(f"{USER}@{target}", PASSWORD))
    with one.connect() as connection:
        connection.execute(create_table(kind, "places", "note text"))
        connection.execute("INSERT INTO places VALUES ('b', 's', 1, '€'), ('a', 's', 2, NULL)")
    monkeypatch.setenv("PGCLIENTENCODING", said)
    shape = TableShape("places", hash="namespace", range="shard_id")
    rows = SqlTable(one, shape, "sequence_number", lambda _seconds: None).read()
    assert [image.key for image in rows] == ["a/s", "b/s"]
    assert rows[1].attributes["other columns"] == {"M": {"note": {"S": "€"}}}


@pytest.mark.only(
    lambda running: running == "postgres", "the tests' user of MariaDB makes no users"
)
def test_a_user_who_may_only_read(table: Table) -> None:
    table.sql("CREATE ROLE r{t} LOGIN PASSWORD 'x'")
    table.sql("GRANT SELECT ON {t} TO r{t}")
    table.plant(_row("a", 0))
    masked = table.medium(table.server_for(f"r{table.shape.name}".lower(), "x"))
    assert masked.read() == [_row("a", 0)]
    with pytest.raises(Refused, match="permission denied") as refused:
        masked.write(step(moved(_row("a", 0), "1")), "t")
    assert "GRANT SELECT, INSERT, UPDATE, DELETE" in refused.value.next


@pytest.mark.parametrize("target", ["host", "host:0/db", "host:99999/db", "a/b/c", "@/db", ""])
def test_no_address(target: str) -> None:
    with pytest.raises(UsageError):
        address_of(target, "")


def test_every_port_of_tcp_is_one_and_a_password_is_hidden() -> None:
    assert [address_of(f"host:{port}/db", "").port for port in (1, 65535)] == [1, 65535]
    assert "pw" not in repr(address_of("me@host/db", "pw"))


def test_a_hostile_name_is_only_a_name(table: Table) -> None:
    for key in ("a'; DROP TABLE x; --", 'a"b', "a`b", "a%sb", "a\\"):
        image = Image(key, _row(key, 3).attributes)
        table.plant(image)
        assert table.medium().get([key])[key] == image
        table.pull(key)
