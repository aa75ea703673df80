"""MySQL and MariaDB through PyMySQL.

The password comes from the locator, from MYSQL_PWD or from the [client] section of ~/.my.cnf, as
for MySQL's own programs; only user and password are taken from that file, because a socket or a
host in it would be another server than the locator's.
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from reshardctl.errors import CannotTell, Refused, ReshardError, UsageError, install
from reshardctl.model.retry import FailureKind
from reshardctl.stores.sql.changes import update_each
from reshardctl.stores.sql.server import AGAIN, REFUSED, Address, Column, Described, Statement

CONNECT, READ = 10, 120
"""Seconds for a connection, and for an answer."""
_BYTES = {
    "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bit", "vector",
    "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring",
    "multipolygon", "geomcollection", "geometrycollection",
}
"""As mysqldump --hex-blob: what text cannot hold, bytes put back."""
_EXACT = {"decimal", "varchar", "char", "tinytext", "text", "mediumtext", "longtext"}
NOT_KEPT = "MySQL does not keep it"
"""CREATE_TIME is that of the last OPTIMIZE or ALTER TABLE, in the zone of the session; InnoDB's
table ids change as well."""
_UTC = "'+00:00'"
_LOST = {2006, 2013, 2055, 1053, 1927, 4031, 0}
"""CR_SERVER_GONE_ERROR, CR_SERVER_LOST and the like: the manual's error reference."""
_UNCLEAR = {1026, 1030, 1105, 1180}
"""ER_ERROR_ON_WRITE, ER_GET_ERRNO, ER_UNKNOWN_ERROR, ER_ERROR_DURING_COMMIT: none of them says
whether a commit was done."""
_AGAIN = {1205, 1213, 1020}
_NO_DATABASE, _DENIED = {1049}, {1142, 1143, 1227, 1044}


def driver() -> Any:
    """The module pymysql. UsageError if it is not installed."""
    try:
        import pymysql
    except ImportError:
        raise UsageError(
            "MySQL needs a driver that is not installed", install("mysql")
        ) from None
    return pymysql


class MySql:
    """See `Server`."""

    medium = "mysql"
    given = ""

    def __init__(self, address: Address) -> None:
        """Loads the driver; connects to nothing yet."""
        self._driver = driver()
        self._address = address
        self.errors: type[Exception] = self._driver.err.Error

    @property
    def location(self) -> str:
        """The address, in words."""
        return self._address.location("mysql", 3306)

    def connect(self) -> Any:
        """Opens a connection without autocommit."""
        address = self._address
        user, password = _credentials()
        try:
            return self._driver.connect(
                host=address.host, port=address.port or 3306, database=address.database,
                user=address.user or user or None, password=address.password or password,
                charset="utf8mb4", autocommit=False, connect_timeout=CONNECT, read_timeout=READ,
                write_timeout=READ, program_name="reshardctl",
            )
        except (self.errors, OSError, RuntimeError) as error:
            raise self._unreached(error) from None

    def begin(self, cursor: Any) -> None:
        """Limits waits, and makes each read see the latest committed rows."""
        cursor.execute("SET SESSION innodb_lock_wait_timeout = 20")
        cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")

    def described(self, cursor: Any, table: str) -> Described | None:
        """A table of the database, or SCHEMA.TABLE."""
        schema, _, name = table.rpartition(".")
        cursor.execute(
            "SELECT table_schema, table_name, engine "
            "FROM information_schema.tables WHERE table_schema = COALESCE(NULLIF(%s, ''), "
            "DATABASE()) AND table_name = %s AND table_type = 'BASE TABLE'", [schema, name],
        )
        row = cursor.fetchone()
        if row is None:
            return None
        schema, name, engine = row
        # EXTRA is DEFAULT_GENERATED for columns with a default of MySQL 8.
        cursor.execute(
            "SELECT column_name, data_type, column_type, COALESCE(collation_name, '') "
            "FROM information_schema.columns WHERE table_schema = %s AND table_name = %s "
            "AND COALESCE(generation_expression, '') = '' ORDER BY ordinal_position",
            [schema, name],
        )
        columns = tuple(
            Column(column, whole, kind in _EXACT, collation, kind in _BYTES)
            for column, kind, whole, collation in cursor.fetchall()
        )
        return Described(
            f"{self.location}/{schema}.{name}", NOT_KEPT, columns, engine == "InnoDB",
            self._unique(cursor, schema, name),
        )

    def _unique(self, cursor: Any, schema: str, name: str) -> tuple[frozenset[str], ...]:
        cursor.execute(
            "SELECT index_name, column_name FROM information_schema.statistics "
            "WHERE table_schema = %s AND table_name = %s AND non_unique = 0", [schema, name],
        )
        keys: dict[str, set[str | None]] = {}
        for index, column in cursor.fetchall():
            keys.setdefault(index, set()).add(column)  # None: an expression
        return tuple(
            frozenset(filter(None, columns)) for columns in keys.values() if None not in columns
        )

    def quoted(self, name: str) -> str:
        """The name in backticks."""
        return "`" + name.replace("`", "``").replace("%", "%%") + "`"

    def named(self, table: str) -> str:
        """The name as written: whether case matters is the server's setting."""
        return ".".join(map(self.quoted, table.split(".")))

    def as_text(self, name: str) -> str:
        """Decimals and text alike, as the server prints them."""
        return f"CAST({self.quoted(name)} AS CHAR)"

    def whole(self, column: Column) -> str:
        """Bytes as they are, and a FLOAT with all of its digits: as text it has six."""
        name = self.quoted(column.name)
        if column.is_bytes:
            return f"CAST({name} AS BINARY)"
        return f"CAST({name}{' + 0e0' if column.type.startswith('float') else ''} AS CHAR)"

    def spelled_out(self, cursor: Any, *, on: bool) -> None:
        """A TIMESTAMP is text of the session's zone."""
        cursor.execute(f"SET SESSION time_zone = {_UTC if on else 'DEFAULT'}")

    def fills(self, cursor: Any, table: str) -> bool:
        """Whether a trigger is shown, for which the privilege TRIGGER is needed."""
        schema, _, name = table.rpartition(".")
        cursor.execute(
            "SELECT 1 FROM information_schema.triggers WHERE event_manipulation = 'INSERT' AND "
            "event_object_schema = COALESCE(NULLIF(%s, ''), DATABASE()) "
            "AND event_object_table = %s LIMIT 1", [schema, name],
        )
        return cursor.fetchone() is not None

    def one_of(self, column: Column, texts: Sequence[str]) -> Statement:
        """The texts as a list."""
        return f"{self.quoted(column.name)} IN ({', '.join(['%s'] * len(texts))})", texts

    def updates(
        self, table: str, columns: Sequence[Column], keys: int, rows: Sequence[Mapping[str, Any]]
    ) -> Iterator[Statement]:
        """A statement for each row: no form for many rows is common to MySQL and MariaDB."""
        return update_each(self, table, columns, keys, rows)

    def alike(self, cursor: Any, columns: Sequence[str]) -> list[str]:
        """The tables that have these columns."""
        cursor.execute(
            "SELECT table_name FROM information_schema.columns WHERE table_schema = DATABASE() "
            "AND column_name IN %s GROUP BY table_name HAVING count(*) = %s "
            "ORDER BY table_name LIMIT 5", [tuple(columns), len(columns)],
        )
        return [name for (name,) in cursor.fetchall()]

    def kind_of(self, error: Exception) -> FailureKind:
        """The kind of an error, by its number."""
        code = _code(error)
        if code == 1062:
            return FailureKind.CONFLICT
        if code in _AGAIN:
            return FailureKind.TRANSIENT
        lost = code in _LOST | _UNCLEAR or isinstance(error, self._driver.err.InterfaceError)
        return FailureKind.LOST_ANSWER if lost else FailureKind.PERMANENT

    def failure(self, error: Exception, doing: str, *, writing: bool = False) -> ReshardError:
        """The error to raise, in the server's own words; they hold no password."""
        what = f"{self.location}: {doing}: {_words(error)}"
        if _code(error) in _DENIED:
            needed = "SELECT, INSERT, UPDATE, DELETE" if writing else "SELECT"
            kind = Refused if writing else CannotTell
            return kind(what, f"GRANT {needed} on the table to this user")
        if _code(error) in (1290, 1792, 1836):
            return Refused(what, "name the primary server, not a replica")
        refused = writing and self.kind_of(error) is FailureKind.PERMANENT
        return CannotTell(what, REFUSED if refused else AGAIN)

    def _unreached(self, error: Exception) -> ReshardError:
        what = f"{self.location} cannot be reached: {_words(error)}"
        if _code(error) in _NO_DATABASE:
            return UsageError(what, "name the right database in the locator")
        return CannotTell(
            what, "check host, port and user; the password comes from MYSQL_PWD or ~/.my.cnf"
        )


def _credentials() -> tuple[str, str]:
    """User and password from where MySQL's own programs look."""
    file = configparser.ConfigParser(
        allow_no_value=True, interpolation=None, strict=False, default_section="\0"
    )
    with suppress(OSError, configparser.Error, UnicodeDecodeError, RuntimeError):
        file.read_string((Path.home() / ".my.cnf").read_text(encoding="utf-8"))
    client = file["client"] if file.has_section("client") else {}
    user, password = ((client.get(name) or "").strip("'\"") for name in ("user", "password"))
    return user, os.environ.get("MYSQL_PWD") or password


def _code(error: Exception) -> int:
    return error.args[0] if error.args and isinstance(error.args[0], int) else -1


def _words(error: Exception) -> str:
    return str(error.args[1]) if len(error.args) > 1 else (str(error) or type(error).__name__)
