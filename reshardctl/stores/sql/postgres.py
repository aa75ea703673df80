"""PostgreSQL through psycopg 3.

The locator alone decides where a write goes: what libpq would take from PGHOSTADDR, PGPORT,
PGDATABASE, PGOPTIONS and PGCLIENTENCODING is given here, so that none of them is used. PGPASSWORD,
~/.pgpass, PGUSER, PGSSLMODE and the like are libpq's own and work as everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reshardctl.errors import CannotTell, Refused, ReshardError, UsageError
from reshardctl.model.retry import FailureKind
from reshardctl.stores.sql.server import Address, Column, Described

if TYPE_CHECKING:
    import psycopg

CONNECT = 10
"""Seconds for a connection."""
BEGIN = ("SET LOCAL lock_timeout = '20s'", "SET LOCAL statement_timeout = '120s'")
_EXACT = ("numeric", "text", "character varying")
_AGAIN = {"40001", "40P01", "55P03"}
"""serialization_failure, deadlock_detected, lock_not_available: appendix A of the manual."""


def driver() -> Any:
    """The module psycopg. UsageError if it is not installed."""
    try:
        import psycopg
    except ImportError:
        raise UsageError(
            "PostgreSQL needs a driver that is not installed",
            "pip install 'reshardctl[postgres]'",
        ) from None
    return psycopg


class Postgres:
    """See `Server`."""

    medium = "postgres"

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
            connection: psycopg.Connection[Any] = self._driver.connect(
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
        for statement in BEGIN:
            cursor.execute(statement)

    def described(self, cursor: Any, table: str) -> Described | None:
        """The table that the search path gives for the unquoted name, in lower case."""
        cursor.execute(
            "SELECT c.oid, n.nspname, c.relname FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.oid = to_regclass(%s) AND c.relkind IN ('r', 'p')", [self.named(table)],
        )
        row = cursor.fetchone()
        if row is None:
            return None
        oid, schema, name = row
        cursor.execute(
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
            "WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped AND attgenerated = '' "
            "ORDER BY attnum", [oid],
        )
        columns = tuple(
            Column(column, kind, kind.startswith(_EXACT) and not kind.endswith("[]"))
            for column, kind in cursor.fetchall()
        )
        return Described(f"{self.location}/{schema}.{name}", f"oid {oid}", columns)

    def quoted(self, name: str) -> str:
        """The name in double quotes."""
        return '"' + name.replace('"', '""').replace("%", "%%") + '"'

    def named(self, table: str) -> str:
        """The name in lower case."""
        return ".".join(map(self.quoted, table.lower().split(".")))

    def as_text(self, name: str) -> str:
        """The value as the server prints it: a numeric keeps its digits and its scale."""
        return f"{self.quoted(name)}::text"

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
        if gone or (state or "")[:2] in ("08", "57"):
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
        return CannotTell(what, "try again; if it stays so, ask who runs the server")

    def _unreached(self, error: Exception) -> ReshardError:
        what = f"{self.location} cannot be reached: {_line(error)}"
        if "does not exist" in str(error) and "database" in str(error):
            return UsageError(what, "name the right database in the locator")
        return CannotTell(
            what, "check host, port and user; the password comes from PGPASSWORD or ~/.pgpass"
        )


def _line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1].strip() if lines else type(error).__name__
