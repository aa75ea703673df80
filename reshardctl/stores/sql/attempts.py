"""Transactions that are retried when the connection is lost, and their outcome then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any, TypeVar

from reshardctl.model import Step
from reshardctl.model.retry import FailureKind, Retry
from reshardctl.model.write_state import Get, WriteResult, applied
from reshardctl.stores.sql.server import Server

T = TypeVar("T")

PAUSES: Sequence[float] = (0.2, 1.0, 3.0)
"""Seconds between tries, if the connection is lost or the server asks for another try."""


class Attempts:
    """Transactions on one server. Each call opens a connection of its own and closes it."""

    def __init__(self, server: Server, sleep: Callable[[float], None]) -> None:
        """Connects to nothing yet."""
        self._server = server
        self._retry = Retry(PAUSES, sleep, server.errors, server.kind_of)

    def reading(self, look: Callable[[Any], T], what: str) -> T:
        """Returns what `look` makes of a cursor. what: the name of the read in an error."""
        def read() -> T:
            with closing(self._server.connect()) as connection:
                cursor = connection.cursor()
                self._server.begin(cursor)
                return look(cursor)

        return self._retry.read(read, lambda e: self._server.failure(e, f"reading {what}"))

    def writing(self, step: Step, change: Callable[[Any], bool], get: Get) -> WriteResult:
        """Makes all that `change` does with a cursor, or nothing if it returns False.

        No token identifies a repeat: its guards fail on its own rows, which then tell the outcome.
        """
        commit_sent = False

        def transaction() -> WriteResult:
            nonlocal commit_sent
            commit_sent = False
            with closing(self._server.connect()) as connection:
                try:
                    cursor = connection.cursor()
                    self._server.begin(cursor)
                    if not change(cursor):
                        connection.rollback()
                        return WriteResult.CONFLICT
                    commit_sent = True
                    connection.commit()
                except BaseException:
                    with suppress(self._server.errors):
                        connection.rollback()
                    raise
            return WriteResult.APPLIED

        def kind_of(error: Exception) -> FailureKind:
            kind = self._server.kind_of(error)
            if kind is FailureKind.LOST_ANSWER and not commit_sent:
                return FailureKind.TRANSIENT
            return kind

        return replace(self._retry, kind_of=kind_of).write(
            transaction, lambda: applied(step, get),
            lambda error: self._server.failure(error, step.title, writing=True),
        )
