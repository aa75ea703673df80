"""Transactions that are retried when the connection is lost, and their outcome then."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

from reshardctl.model import Step
from reshardctl.model.retry import Retry, before_sending
from reshardctl.model.write_state import Get, WriteResult, applied
from reshardctl.stores.sql.server import Server

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
        self._retry = Retry(PAUSES, sleep, server.errors, server.kind_of)
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
