"""What the store needs from each kind of database server, and the address of a database.

A transaction is retried when the connection is lost; its outcome is then looked for.
"""

from __future__ import annotations

import re
import unicodedata
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.errors import Refused, ReshardError, UsageError
from reshardctl.model import Step
from reshardctl.model.retry import FailureKind, Retry, before_sending
from reshardctl.model.write_state import Get, WriteResult, applied

Statement = tuple[str, Sequence[Any]]
"""A statement with `%s` for each value, and the values."""
_TARGET = re.compile(
    r"(?:(?P<user>[^/@]+)@)?(?P<host>\[[0-9a-fA-F:.]+\]|[^/@:]+)(?::(?P<port>[0-9]+))?"
    r"/(?P<database>[^/]+)\Z"
)


AGAIN = "try again; if it stays so, ask who runs the server"
"""What to do about an error that is not known better."""
REFUSED = "mend what the server names, or ask who runs it; then run this again"
"""What to do where it refuses a write: a trigger, a constraint, a full disk."""


@dataclass(frozen=True, slots=True)
class Address:
    """A database on a server.

    port: `None` for the usual one. user: "" for the driver's default. password: "" for whatever the
    driver finds in its own places; never shown.
    """

    host: str
    port: int | None
    database: str
    user: str = ""
    password: str = field(default="", repr=False)

    def location(self, scheme: str, port: int) -> str:
        """The address in words, without a user. port: the usual one of such servers."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{self.port or port}/{self.database}"


def address_of(target: str, password: str) -> Address:
    """Reads `[USER@]HOST[:PORT]/DATABASE`, the target of a locator. UsageError for another text."""
    match = _TARGET.match(target)
    if match is None:
        raise UsageError(f"{target!r} is no database", "write it as [USER@]HOST[:PORT]/DATABASE")
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port < 65536:
        raise UsageError(
            f"{target!r}: {port} is no port", "write it as [USER@]HOST[:PORT]/DATABASE"
        )
    return Address(
        match["host"].strip("[]"), port, match["database"], match["user"] or "", password
    )


class Column(Struct, frozen=True):
    """One column.

    exact: whether it keeps any whole number, or any text, as it was given. collation: which texts
    it takes for equal, see `compared`. is_bytes: whether it holds bytes, not text.
    """

    name: str
    type: str
    exact: bool
    collation: str = ""
    is_bytes: bool = False


class Described(Struct, frozen=True):
    """A table as the server describes it.

    created: changes when it is dropped and recreated, and stays through all maintenance. unique:
    the columns of each unique key.
    """

    address: str
    created: str
    columns: tuple[Column, ...]
    transactions: bool = True
    unique: tuple[frozenset[str], ...] = ()

    def column(self, name: str) -> Column:
        """A column; one that the table has not is left for the server to complain about."""
        found = (column for column in self.columns if column.name == name)
        return next(found, Column(name, "text", exact=False))


def compared(text: str, collation: str) -> str:
    """What a column compares of a text: texts that give the same one are equal to the database.

    collation: as MySQL names them; "" compares every character. Accents and case as Unicode has
    them, which is close to every collation; the database itself decides about each row.
    """
    if pads(collation):
        text = text.rstrip(" ")
    if "_ci" not in collation:
        return text
    folded = unicodedata.normalize("NFKD", text.casefold())
    if "_as_" in collation:
        return folded
    return "".join(character for character in folded if not unicodedata.combining(character))


def pads(collation: str) -> bool:
    """Whether blanks at the end of a text are not compared."""
    return bool(collation) and not any(word in collation for word in ("_0900_", "_nopad_"))


class Server(Protocol):
    """One kind of server, through its driver. All calls except these are DB-API 2.0."""

    medium: str
    errors: type[Exception]
    """The exceptions that its driver raises."""
    given: str
    """Words before VALUES by which a row gets its numbers as given, where the server counts."""

    @property
    def location(self) -> str:
        """The address in words, without a user."""

    def connect(self) -> Any:
        """Opens a connection without autocommit. Raises CannotTell or UsageError."""

    def begin(self, cursor: Any) -> None:
        """Starts every transaction: limits how long it may wait."""

    def described(self, cursor: Any, table: str) -> Described | None:
        """The table that the consumer's own queries would find by this name; `None` if absent."""

    def quoted(self, name: str) -> str:
        """A column's name for use in a statement with parameters."""

    def named(self, table: str) -> str:
        """A table's name, perhaps SCHEMA.TABLE, as it was written without quotes."""

    def as_text(self, name: str) -> str:
        """An expression that gives a column's value as text, as the library reads it."""

    def whole(self, column: Column) -> str:
        """An expression of a value, text or bytes, that puts it back exactly; see `spelled_out`."""

    def spelled_out(self, cursor: Any, *, on: bool) -> None:
        """Makes `whole` the same text in every session; off: the server's own settings again.

        Defaults and triggers write times by those settings.
        """

    def fills(self, cursor: Any, table: str) -> bool:
        """Whether a trigger runs for new rows of the table, as far as this user is told."""

    def one_of(self, column: Column, texts: Sequence[str]) -> Statement:
        """A condition that a column has one of these texts, and its values."""

    def updates(
        self, table: str, columns: Sequence[Column], keys: int, rows: Sequence[Mapping[str, Any]]
    ) -> Iterable[Statement]:
        """Statements that set columns of rows by key, each row to values of its own.

        table: its name, quoted. columns: first those of the key, `keys` of them, then those to set.
        rows: the values as text or None, by the names of the columns.
        """

    def alike(self, cursor: Any, columns: Sequence[str]) -> list[str]:
        """Tables of the database that have all of these columns, for messages."""

    def kind_of(self, error: Exception) -> FailureKind:
        """What an error of the driver means for the transaction that it ended.

        LOST_ANSWER: the connection was lost, or the error does not tell how a commit ended; before
        a commit nothing is in place. TRANSIENT: rolled back by the server in favour of another (a
        deadlock, a lock waited for too long). CONFLICT: a row that was to be created exists.
        PERMANENT: the statement or the commit failed, so that the transaction is rolled back.
        """

    def failure(self, error: Exception, doing: str, *, writing: bool = False) -> ReshardError:
        """The error to raise: missing permission, or no connection."""


def hidden(what: str) -> Refused:
    """The error for a row that this user reads and cannot lock: a policy, without any error."""
    return Refused(
        f"{what}: the database lets this user read it, and not write it",
        "allow this user SELECT, UPDATE and DELETE by the table's row-level security policies",
    )


def left_out(what: str) -> Refused:
    """The error for a statement that a server answered as done and did not do."""
    return Refused(
        f"{what}, although the database answered that the statement was done",
        "look at the table's triggers and row-level security policies",
    )


T = TypeVar("T")

PAUSES: Sequence[float] = (0.2, 1.0, 3.0)
"""Seconds between tries, if the connection is lost or the server asks for another try."""


class Attempts:
    """Transactions on one server, over one connection that is opened again when it was lost.

    Between transactions the connection holds no lock and sees no old state: each ends in a commit
    or a rollback. It is closed with this object.
    """

    def __init__(self, server: Server, sleep: Callable[[float], None]) -> None:
        """Connects to nothing yet."""
        self._server = server
        self._retry = Retry(PAUSES, sleep, server.errors, server.kind_of, server.location)
        self._open: list[Any] = []
        """The connection between transactions; none while one runs, and after a failure."""
        weakref.finalize(self, _close_all, self._open)

    def reading(self, look: Callable[[Any], T], what: str) -> T:
        """Returns what `look` makes of a cursor. what: the name of the read in an error."""
        def read() -> T:
            with self._transaction() as (connection, cursor):
                answer = look(cursor)
                connection.rollback()
                return answer

        return self._retry.read(read, lambda e: self._server.failure(e, f"reading {what}"))

    def writing(self, step: Step, change: Callable[[Any], bool], get: Get) -> WriteResult:
        """Makes all that `change` does with a cursor, or nothing if it returns False.

        No token identifies a repeat: its guards fail on its own rows, which then tell the outcome.
        """
        commit_sent = False

        def transaction() -> WriteResult:
            nonlocal commit_sent
            commit_sent = False
            with self._transaction() as (connection, cursor):
                if not change(cursor):
                    connection.rollback()
                    return WriteResult.CONFLICT
                commit_sent = True
                connection.commit()
            return WriteResult.APPLIED

        kind_of = before_sending(self._server.kind_of, lambda: commit_sent)
        return replace(self._retry, kind_of=kind_of).write(
            transaction, lambda: applied(step, get),
            lambda error: self._server.failure(error, step.title, writing=True),
        )

    @contextmanager
    def _transaction(self) -> Iterator[tuple[Any, Any]]:
        """A connection in a transaction, kept for the next one unless anything is raised."""
        connection, cursor = self._begun()
        try:
            yield connection, cursor
        except BaseException:
            _give_up(connection)
            raise
        self._open.append(connection)

    def _begun(self) -> tuple[Any, Any]:
        """The open connection if it still answers, else a new one; and a cursor."""
        while self._open:
            connection = self._open.pop()
            try:
                return connection, self._cursor(connection)
            except self._server.errors:
                _give_up(connection)  # a server closes a connection that was idle for long
        connection = self._server.connect()
        try:
            return connection, self._cursor(connection)
        except BaseException:
            _give_up(connection)
            raise

    def _cursor(self, connection: Any) -> Any:
        cursor = connection.cursor()
        self._server.begin(cursor)
        return cursor


def _give_up(connection: Any) -> None:
    with suppress(Exception):
        connection.rollback()
    with suppress(Exception):
        connection.close()


def _close_all(connections: list[Any]) -> None:
    while connections:
        with suppress(Exception):
            connections.pop().close()
