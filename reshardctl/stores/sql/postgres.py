"""PostgreSQL through psycopg 3.

The locator alone decides where a write goes: what libpq would take from PGHOSTADDR, PGPORT,
PGDATABASE, PGOPTIONS and PGCLIENTENCODING is given here, so that none of them is used. PGPASSWORD,
~/.pgpass, PGUSER, PGSSLMODE and the like are libpq's own and work as everywhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from socket import SHUT_RDWR, socket
from threading import Timer
from typing import TYPE_CHECKING, Any

from reshardctl.errors import CannotTell, Refused, ReshardError, UsageError, install
from reshardctl.model.retry import FailureKind
from reshardctl.stores.sql.server import AGAIN, REFUSED, Address, Column, Described, Statement

if TYPE_CHECKING:
    import psycopg

CONNECT = 10
"""Seconds for a connection."""
ANSWER = 150
"""Seconds for an answer, more than `BEGIN` allows a statement."""
BEGIN = (
    "SELECT set_config('lock_timeout', '20s', true), set_config('statement_timeout', '120s', true)"
)
"""As SET LOCAL, but both in one statement."""
SPELLED_OUT = {
    "TimeZone": "UTC", "DateStyle": "ISO", "IntervalStyle": "iso_8601", "bytea_output": "hex",
    "extra_float_digits": "3", "lc_monetary": "C",
}
"""Settings by which a value becomes text, and under which all of it is in the text."""
_EXACT = ("numeric", "text", "character varying")
_AGAIN = {"40001", "40P01", "55P03"}
"""serialization_failure, deadlock_detected, lock_not_available: appendix A of the manual."""
_UNCLEAR = ("08", "57", "58", "XX", "40003")
"""Connection, operator intervention, system and internal errors, statement_completion_unknown: none
of them says whether a commit was done. Any other error has rolled the transaction back."""


def driver() -> Any:
    """The module psycopg. UsageError if it is not installed."""
    try:
        import psycopg
    except ImportError:
        raise UsageError(
            "PostgreSQL needs a driver that is not installed",
            install("postgres"),
        ) from None
    return psycopg


def _impatient(module: Any) -> Any:
    """A class of connections that are cut where no answer comes: libpq itself waits for ever."""

    class Impatient(module.Connection):  # type: ignore[misc]
        """A connection on which an answer is awaited for `ANSWER` seconds at most."""

        def wait(self, *words: Any, **more: Any) -> Any:
            """Waits as psycopg does, for at most `ANSWER` seconds."""
            watch = Timer(ANSWER, _cut, [self.pgconn.socket])
            watch.daemon = True
            watch.start()
            try:
                return super().wait(*words, **more)
            finally:
                watch.cancel()

    return Impatient


def _cut(descriptor: int) -> None:
    """Ends a connection; whoever waits for its answer learns it from the system."""
    with suppress(OSError), socket(fileno=os.dup(descriptor)) as ours:
        ours.shutdown(SHUT_RDWR)


class Postgres:
    """See `Server`."""

    medium = "postgres"
    given = "OVERRIDING SYSTEM VALUE"

    def __init__(self, address: Address) -> None:
        """Loads the driver; connects to nothing yet."""
        self._driver = driver()
        self._address = address
        self.errors: type[Exception] = self._driver.Error

    @property
    def location(self) -> str:
        """The address, in words."""
        return self._address.location("postgres", 5432)

    def connect(self) -> psycopg.Connection[Any]:
        """Opens a connection without autocommit."""
        address = self._address
        try:
            connection: psycopg.Connection[Any] = _impatient(self._driver).connect(
                host=address.host, hostaddr="", port=address.port or 5432, dbname=address.database,
                user=address.user or None, password=address.password or None, options="",
                connect_timeout=CONNECT, application_name="reshardctl", prepare_threshold=None,
                client_encoding="UTF8",
            )
        except self.errors as error:
            raise self._unreached(error) from None
        return connection

    def begin(self, cursor: Any) -> None:
        """Sets limits that end with the transaction: a pooler hands the session on."""
        cursor.execute(BEGIN)

    def described(self, cursor: Any, table: str) -> Described | None:
        """The table that the search path gives for the unquoted name, in lower case."""
        cursor.execute(
            "SELECT c.oid, n.nspname, c.relname, "
            "ARRAY(SELECT ARRAY_TO_STRING(ARRAY(SELECT k.attname FROM pg_attribute k "
            "WHERE k.attrelid = c.oid AND k.attnum = ANY(i.indkey)), chr(31)) FROM pg_index i "
            "WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL "
            "AND i.indexprs IS NULL), "
            "a.attname, format_type(a.atttypid, a.atttypmod), "
            "COALESCE(l.collisdeterministic, true) "
            "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 "
            "AND NOT a.attisdropped AND a.attgenerated = '' "
            "LEFT JOIN pg_collation l ON l.oid = a.attcollation "
            "WHERE c.oid = to_regclass(%s) AND c.relkind IN ('r', 'p') ORDER BY a.attnum",
            [self.named(table)],
        )
        rows = cursor.fetchall()
        if not rows:
            return None
        oid, schema, name, keys, *_ = rows[0]
        columns = tuple(
            Column(
                column, kind, kind.startswith(_EXACT) and not kind.endswith("[]"),
                _collation(kind, exact),
            )
            for *_, column, kind, exact in rows if column is not None
        )
        return Described(
            f"{self.location}/{schema}.{name}", f"oid {oid}", columns,
            unique=tuple(frozenset(key.split("\x1f")) for key in keys),
        )

    def quoted(self, name: str) -> str:
        """The name in double quotes."""
        return '"' + name.replace('"', '""').replace("%", "%%") + '"'

    def named(self, table: str) -> str:
        """The name in lower case."""
        return ".".join(map(self.quoted, table.lower().split(".")))

    def as_text(self, name: str) -> str:
        """The value as the server prints it: a numeric keeps its digits and its scale."""
        return f"{self.quoted(name)}::text"

    def whole(self, column: Column) -> str:
        """Every type is read back from its text."""
        return self.as_text(column.name)

    def spelled_out(self, cursor: Any, *, on: bool) -> None:
        """Settings of this transaction."""
        if on:
            asked = ", ".join(["set_config(%s, %s, true)"] * len(SPELLED_OUT))
            values = [part for setting in SPELLED_OUT.items() for part in setting]
            cursor.execute(f"SELECT {asked}", values)
            return
        for name in SPELLED_OUT:
            cursor.execute(f"SET LOCAL {name} TO DEFAULT")

    def fills(self, cursor: Any, table: str) -> bool:
        """Whether there is a trigger that was not made by a constraint."""
        cursor.execute(
            "SELECT 1 FROM pg_trigger WHERE tgrelid = to_regclass(%s) AND NOT tgisinternal "
            "AND tgtype & 4 <> 0 LIMIT 1", [self.named(table)],
        )
        return cursor.fetchone() is not None

    def one_of(self, column: Column, texts: Sequence[str]) -> Statement:
        """The texts as one array, which costs the server less than a value for each."""
        kind = column.type if _is_citext(column.type) else "text"
        return f"{self.quoted(column.name)} = ANY(%s::{kind}[])", [list(texts)]

    def updates(
        self, table: str, columns: Sequence[Column], keys: int, rows: Sequence[Mapping[str, Any]]
    ) -> Iterator[Statement]:
        """One statement for all rows, which are given as one array for each column."""
        arrays = ", ".join(["%s::text[]"] * len(columns))
        names = ", ".join(self.quoted(column.name) for column in columns)
        given = [f"given.{self.quoted(c.name)}::{c.type.replace('%', '%%')}" for c in columns]
        own = [self.quoted(column.name) for column in columns]
        sets = ", ".join(f"{n} = {v}" for n, v in zip(own[keys:], given[keys:], strict=True))
        where = " AND ".join(
            f"t.{n} = {v}" for n, v in zip(own[:keys], given[:keys], strict=True)
        )
        yield (
            f"UPDATE {table} AS t SET {sets} FROM unnest({arrays}) AS given({names}) "  # noqa: S608
            f"WHERE {where}",
            [[row[column.name] for row in rows] for column in columns],
        )

    def alike(self, cursor: Any, columns: Sequence[str]) -> list[str]:
        """The tables that have these columns."""
        cursor.execute(
            "SELECT table_schema || '.' || table_name FROM information_schema.columns "
            "WHERE column_name = ANY(%s) GROUP BY 1 HAVING count(*) = %s ORDER BY 1 LIMIT 5",
            [list(columns), len(columns)],
        )
        return [name for (name,) in cursor.fetchall()]

    def kind_of(self, error: Exception) -> FailureKind:
        """The kind of an error, by its SQLSTATE; without one the connection was lost."""
        state = getattr(error, "sqlstate", None)
        if state == "23505":
            return FailureKind.CONFLICT
        if state in _AGAIN:
            return FailureKind.TRANSIENT
        gone = state is None and isinstance(
            error, (self._driver.OperationalError, self._driver.InterfaceError)
        )
        if gone or (state or "").startswith(_UNCLEAR):
            return FailureKind.LOST_ANSWER
        return FailureKind.PERMANENT

    def failure(self, error: Exception, doing: str, *, writing: bool = False) -> ReshardError:
        """The error to raise, with the server's own first line; it holds no password."""
        state = getattr(error, "sqlstate", None)
        what = f"{self.location}: {doing}: {_line(error)}"
        if state == "42501":
            needed = "SELECT, INSERT, UPDATE, DELETE" if writing else "SELECT"
            kind = Refused if writing else CannotTell
            return kind(what, f"GRANT {needed} on the table to this user")
        if state == "25006":
            return Refused(what, "name the primary server, not a replica")
        refused = writing and self.kind_of(error) is FailureKind.PERMANENT
        return CannotTell(what, REFUSED if refused else AGAIN)

    def _unreached(self, error: Exception) -> ReshardError:
        what = f"{self.location} cannot be reached: {_line(error)}"
        if re.search(r'database ".*" does not exist', str(error)):
            return UsageError(what, "name the right database in the locator")
        return CannotTell(
            what, "check host, port and user; the password comes from PGPASSWORD or ~/.pgpass"
        )


def _is_citext(kind: str) -> bool:
    return kind.rpartition(".")[2] == "citext"


def _collation(kind: str, exact: bool) -> str:
    """As `compared` knows them: citext and ICU collations that are told to ignore case."""
    return "" if exact and not _is_citext(kind) else "citext_nopad_as_ci"


def _line(error: Exception) -> str:
    """The server's message without its details; without a server's, the last line of libpq's."""
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    if primary and primary.strip():
        return str(primary.strip().splitlines()[0])
    lines = str(error).strip().splitlines()
    return lines[-1].strip() if lines else type(error).__name__
