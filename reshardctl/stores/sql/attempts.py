"""Transactions that are tried anew where the connection goes, and what is known of them then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from typing import Any, TypeVar

from reshardctl.errors import CannotTell, ReshardError
from reshardctl.model import Step
from reshardctl.model.write_state import Get, Landed, landed, uncertain
from reshardctl.stores.sql.server import Kind, Server

T = TypeVar("T")

PAUSES: Sequence[float] = (0.2, 1.0, 3.0)
"""Seconds between tries, where the connection is lost or the server asks for another try."""


class Attempts:
    """On one server. Each call makes a connection of its own and ends it."""

    def __init__(self, server: Server, sleep: Callable[[float], None]) -> None:
        """Connects to nothing yet."""
        self._server = server
        self._sleep = sleep

    def reading(self, look: Callable[[Any], T], what: str) -> T:
        """What `look` makes of a cursor; what: named where it fails."""
        for pause in (*PAUSES, None):
            try:
                with closing(self._server.connect()) as connection:
                    cursor = connection.cursor()
                    self._server.begin(cursor)
                    return look(cursor)
            except self._server.errors as error:
                if self._server.kind_of(error) is not Kind.LOST or pause is None:
                    raise self._server.failure(error, f"reading {what}") from None
            self._sleep(pause)
        raise CannotTell("unreachable")

    def writing(self, step: Step, change: Callable[[Any], bool], get: Get) -> Landed:
        """All that `change` does with a cursor, or nothing where it says False.

        No token tells a repeat: its guards fail on its own rows, which then tell.
        """
        lost = False
        for pause in (*PAUSES, None):
            sent = _Sent()
            try:
                ended = self._transaction(change, sent)
                if ended is Landed.MOVED and lost and landed(step, get):
                    return Landed.DONE
                return ended
            except ReshardError as error:
                if lost:
                    raise uncertain(error) from None
                raise
            except self._server.errors as error:
                kind = self._server.kind_of(error)
                if kind is Kind.LOST and sent.commit:
                    lost = True
                if lost and landed(step, get):
                    return Landed.DONE
                if kind is Kind.TAKEN:
                    return Landed.MOVED
                if kind is Kind.OTHER or pause is None:
                    failed = self._server.failure(error, step.title, writing=True)
                    raise (uncertain(failed) if lost else failed) from None
            self._sleep(pause)
        raise AssertionError("unreachable")

    def _transaction(self, change: Callable[[Any], bool], sent: _Sent) -> Landed:
        with closing(self._server.connect()) as connection:
            try:
                cursor = connection.cursor()
                self._server.begin(cursor)
                if not change(cursor):
                    connection.rollback()
                    return Landed.MOVED
                sent.commit = True
                connection.commit()
            except BaseException:
                with suppress(self._server.errors):
                    connection.rollback()
                raise
        return Landed.DONE


class _Sent:
    """Whether a commit was sent."""

    def __init__(self) -> None:
        self.commit = False

