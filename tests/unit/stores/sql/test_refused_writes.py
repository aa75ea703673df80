"""A server that refuses a write, or leaves it out without a word: nothing is written, and told so.

Where a statement or a COMMIT fails, PostgreSQL rolls the transaction back (its manual, "ROLLBACK",
"SET CONSTRAINTS"); so does InnoDB, which has no deferred constraint.
"""

from __future__ import annotations

from typing import Any

import psycopg
import pymysql
import pytest

from reshardctl.errors import CannotTell, Refused, ReshardError, UsageError
from reshardctl.model import Create, Image, Step, TableShape, Update, Write
from reshardctl.model.images import Change
from reshardctl.model.retry import FailureKind
from reshardctl.stores.sql.changes import Changes
from reshardctl.stores.sql.mysql import MySql
from reshardctl.stores.sql.postgres import Postgres
from reshardctl.stores.sql.server import Described, address_of
from tests.contracts.store_contract import delete, step
from tests.unit.stores.faults_of_stores import two_writes
from tests.unit.stores.sql.test_contract import Table, _row

FUNCTION = (
    "CREATE OR REPLACE FUNCTION {t}_f() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'positions are frozen'; END $$"
)
SILENT = (
    "CREATE OR REPLACE FUNCTION {t}_f() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RETURN NULL; END $$"
)
OTHER = "CREATE TABLE {t}_other (shard_id text PRIMARY KEY)"
POSTGRES = {
    "trigger": ([
        FUNCTION, "CREATE TRIGGER no BEFORE UPDATE ON {t} FOR EACH ROW EXECUTE FUNCTION {t}_f()",
    ], "positions are frozen"),
    "trigger-at-commit": ([
        FUNCTION, "CREATE CONSTRAINT TRIGGER no AFTER UPDATE ON {t} DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION {t}_f()",
    ], "positions are frozen"),
    "check": (["ALTER TABLE {t} ADD CHECK (shard_id = 'a')"], "violates check constraint"),
    "foreign-key": ([
        OTHER, "INSERT INTO {t}_other VALUES ('a')",
        "ALTER TABLE {t} ADD FOREIGN KEY (shard_id) REFERENCES {t}_other",
    ], "violates foreign key constraint"),
    "foreign-key-at-commit": ([
        OTHER, "INSERT INTO {t}_other VALUES ('a')",
        "ALTER TABLE {t} ADD FOREIGN KEY (shard_id) REFERENCES {t}_other DEFERRABLE INITIALLY "
        "DEFERRED",
    ], "violates foreign key constraint"),
    "unknown-column-value": (["ALTER TABLE {t} ADD needed text NOT NULL DEFAULT ''",
        "ALTER TABLE {t} ALTER needed DROP DEFAULT"], "violates not-null constraint"),
    "silent-trigger": ([
        SILENT, "CREATE TRIGGER no BEFORE UPDATE ON {t} FOR EACH ROW EXECUTE FUNCTION {t}_f()",
    ], "would be kept as"),
}  # fmt: skip
MYSQL = {
    "trigger": ([
        "CREATE TRIGGER {t}_no BEFORE UPDATE ON {t} FOR EACH ROW "
        "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'positions are frozen'",
    ], "positions are frozen"),
    "check": (["ALTER TABLE {t} ADD CHECK (shard_id = 'a')"], "CONSTRAINT"),
    "foreign-key": ([
        "CREATE TABLE {t}_other (shard_id varchar(255) PRIMARY KEY)",
        "INSERT INTO {t}_other VALUES ('a')",
        "ALTER TABLE {t} ADD FOREIGN KEY (shard_id) REFERENCES {t}_other (shard_id)",
    ], "foreign key constraint fails"),
    "unknown-column-value": (["ALTER TABLE {t} ADD needed varchar(9) NOT NULL"], "default value"),
}  # fmt: skip
CASES = {"postgres": POSTGRES, "mysql": MYSQL}


@pytest.fixture
def table(table: Table) -> Table:
    """With a position."""
    table.plant(_row("a", 0))
    return table


GONE = step(delete(_row("a", 0), "sequence_number"))


def changed(table: Table, *statements: str) -> None:
    for statement in statements:
        table.sql(statement)


def refused(table: Table, medium: Any, step: Step) -> Refused:
    """How the write ended; the rows are as they were."""
    before = table.medium().read()
    with pytest.raises(Refused) as caught:
        medium.write(step, "t")
    assert table.medium().read() == before
    return caught.value


@pytest.mark.only(lambda running, name: name in CASES[running], "not possible there")
@pytest.mark.parametrize("name", POSTGRES | MYSQL)
def test_what_the_database_refuses_is_refused(table, running, name):
    statements, words = CASES[running[0]][name]
    changed(table, *statements)
    assert words in refused(table, table.medium(), two_writes(_row)).what


@pytest.mark.only(lambda running: running == "postgres", "MariaDB's triggers cannot skip a row")
def test_a_row_that_a_trigger_keeps_is_not_said_to_be_deleted(table: Table) -> None:
    changed(
        table, SILENT,
        "CREATE TRIGGER no BEFORE DELETE ON {t} FOR EACH ROW EXECUTE FUNCTION {t}_f()",
    )
    assert "is still there" in refused(table, table.medium(), GONE).what
    changed(table, "DROP TRIGGER no ON {t}")


def as_user(table: Table, *statements: str) -> Any:
    """The table as another user sees it, after these statements of the owner."""
    changed(table, "CREATE ROLE r{t} LOGIN PASSWORD 'x'", *statements)
    return table.medium(table.server_for(f"r{table.shape.name}".lower(), "x"))


@pytest.mark.only(lambda running: running == "postgres", "MariaDB has no policies of rows")
@pytest.mark.parametrize("allowed", ["SELECT", "SELECT, UPDATE"])
def test_a_row_that_a_policy_hides_from_writes(table: Table, allowed: str) -> None:
    """Such a row is read and not found FOR UPDATE, or not deleted, and no error says so."""
    policies = [
        f"CREATE POLICY p_{verb} ON {{t}} FOR {verb} USING (true)" for verb in allowed.split(", ")
    ]
    medium = as_user(
        table, "GRANT SELECT, INSERT, UPDATE, DELETE ON {t} TO r{t}",
        "ALTER TABLE {t} ENABLE ROW LEVEL SECURITY", *policies,
    )
    assert medium.read() == [_row("a", 0)]
    assert "row-level security" in refused(table, medium, GONE).next
    # A row that is to be created is refused by name (SQLSTATE 42501).
    made = step(*two_writes(_row).writes[1:])
    assert "row-level security policy" in refused(table, medium, made).what


@pytest.mark.only(lambda running: running == "postgres", "see below for MariaDB")
def test_a_role_that_only_reads(table: Table) -> None:
    medium = as_user(
        table, "GRANT SELECT, INSERT, UPDATE, DELETE ON {t} TO r{t}",
        "ALTER ROLE r{t} SET default_transaction_read_only = on",
    )
    error = refused(table, medium, two_writes(_row))
    assert "read-only transaction" in error.what and "primary server" in error.next


@pytest.mark.only(lambda running: running == "mysql", "see above for PostgreSQL")
def test_a_server_that_only_reads(table: Table) -> None:
    """--read-only binds everybody but administrators; a user who may only SELECT is told so."""
    name = table.shape.name
    root = pymysql.connect(unix_socket=str(table.running.folder / "socket"), user="root")
    with root, root.cursor() as cursor:
        cursor.execute("SET GLOBAL read_only = 1")
        try:
            assert "read-only" in refused(table, table.medium(), two_writes(_row)).what
        finally:
            cursor.execute("SET GLOBAL read_only = 0")
        cursor.execute(f"CREATE USER r{name}@'127.0.0.1' IDENTIFIED BY 'x'")
        cursor.execute(f"GRANT SELECT ON positions.* TO r{name}@'127.0.0.1'")
    medium = table.medium(table.server_for(f"r{name}", "x"))
    assert "GRANT SELECT, INSERT" in refused(table, medium, two_writes(_row)).next


@pytest.mark.parametrize(("number", "kind"), [
    (1062, FailureKind.CONFLICT), (1020, FailureKind.TRANSIENT), (1205, FailureKind.TRANSIENT),
    (1026, FailureKind.LOST_ANSWER), (1053, FailureKind.LOST_ANSWER),
    (2013, FailureKind.LOST_ANSWER), (1048, FailureKind.PERMANENT), (1406, FailureKind.PERMANENT),
    (1030, FailureKind.LOST_ANSWER), (1105, FailureKind.LOST_ANSWER),
    (1180, FailureKind.LOST_ANSWER), (1213, FailureKind.TRANSIENT), (2006, FailureKind.LOST_ANSWER),
    (2055, FailureKind.LOST_ANSWER), (1927, FailureKind.LOST_ANSWER),
    (4031, FailureKind.LOST_ANSWER), (0, FailureKind.LOST_ANSWER),
], ids=[
    "duplicate entry", "record has changed", "lock wait timeout", "error on write",
    "server shutdown", "connection lost", "column cannot be null", "data too long",
    "error of the storage engine", "unknown error", "error during commit", "deadlock",
    "server gone", "connection lost, extended", "connection killed", "client idle for too long",
    "the driver's own",
])  # fmt: skip
def test_what_an_error_number_of_mysql_means(number: int, kind: FailureKind) -> None:
    """MySQL's manual, Server and Client Error Message Reference."""
    error = pymysql.err.OperationalError(number, "as the server says it")
    assert MySql(address_of("u@127.0.0.1/positions", "x")).kind_of(error) is kind


@pytest.mark.parametrize(("error", "kind"), [
    (psycopg.errors.UniqueViolation, FailureKind.CONFLICT),
    (psycopg.errors.SerializationFailure, FailureKind.TRANSIENT),
    (psycopg.errors.DeadlockDetected, FailureKind.TRANSIENT),
    (psycopg.errors.LockNotAvailable, FailureKind.TRANSIENT),
    (psycopg.errors.AdminShutdown, FailureKind.LOST_ANSWER),
    (psycopg.errors.NotNullViolation, FailureKind.PERMANENT),
])  # fmt: skip
def test_what_a_state_of_postgresql_means(error, kind):
    """PostgreSQL's manual, appendix A."""
    assert Postgres(address_of("u@127.0.0.1/positions", "x")).kind_of(error("said")) is kind


@pytest.mark.parametrize(("error", "said", "way"), [
    (pymysql.err.OperationalError(1049, "Unknown database 'none'"), "Unknown database 'none'",
     "name the right database in the locator"),
    (pymysql.err.OperationalError("Packet sequence number wrong"), "Packet sequence number wrong",
     "check host, port and user"),
    (pymysql.err.OperationalError(), "OperationalError", "check host, port and user"),
])  # fmt: skip
def test_a_connection_that_mysql_refuses(monkeypatch, error, said, way):
    """1049 is ER_BAD_DB_ERROR (the same reference); PyMySQL's own errors have no number."""

    def connect(**_: object) -> None:
        raise error

    monkeypatch.setattr(pymysql, "connect", connect)
    with pytest.raises(ReshardError, match=f"cannot be reached: {said}$") as caught:
        MySql(address_of("u@127.0.0.1/none", "x")).connect()
    assert caught.value.next.startswith(way)
    assert isinstance(caught.value, UsageError) is (said.startswith("Unknown"))


@pytest.mark.parametrize(("said", "kind"), [
    ('database "none" does not exist', UsageError),
    ('role "u" does not exist', CannotTell),
    ('permission denied for database "none"', CannotTell),
])  # fmt: skip
def test_a_connection_that_postgresql_refuses(monkeypatch, said, kind):
    """The words of postinit.c and miscinit.c. A host may be called so that they are in its name."""

    def connect(**_: object) -> None:
        raise psycopg.OperationalError(f'server at "database-1" failed: FATAL:  {said}')

    monkeypatch.setattr(psycopg.Connection, "connect", connect)
    with pytest.raises(kind, match=f"cannot be reached: .*{said}$"):
        Postgres(address_of("u@127.0.0.1/none", "x")).connect()


SHAPE = TableShape("places", hash="namespace", range="shard_id")


ROW = Image("app/s", {"namespace": {"S": "app"}, "shard_id": {"S": "s"}})


@pytest.mark.parametrize(("change", "words"), [
    (Update({}, (), {"sequence_number": 1}), "app/s: no column counts"),
    (Update({"sequence_number": {"N": "7"}}), "a column cannot hold N"),
    (Create({**ROW.attributes, "sequence_number": {"SS": ["7"]}}), "a column cannot hold SS"),
])  # fmt: skip
def test_what_is_no_text_is_no_statement(change: Change, words: str) -> None:
    server = Postgres(address_of("u@127.0.0.1/positions", "x"))
    changes = Changes(server, SHAPE, Described("postgres://127.0.0.1", "", ()))
    with pytest.raises(ValueError, match=words):
        list(changes.statements([Write("app/s", change, ROW, "a test")]))
