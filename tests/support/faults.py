"""Faults put between the code under test and a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    ReadTimeoutError,
)

Fault = Callable[[Callable[[], Any]], Any]
"""Takes the call; raises before or after making it, or answers something else."""


def answer(code: str, status: int = 400, message: str = "said by the test") -> ClientError:
    """An error as the service answers it."""
    return ClientError(
        {
            "Error": {"Code": code, "Message": message},
            "ResponseMetadata": {"HTTPStatusCode": status},
        },
        "Operation",
    )


def before(error: Exception) -> Fault:
    def fail(_call: Callable[[], Any]) -> Any:
        raise error

    return fail


def after(error: Exception) -> Fault:
    """The call is done, its answer is not seen."""

    def fail(call: Callable[[], Any]) -> Any:
        call()
        raise error

    return fail


URL = "http://127.0.0.1:1"
THROTTLED = before(answer("ProvisionedThroughputExceededException"))
BROKEN_BEFORE = before(answer("InternalServerError", 500))
BROKEN_AFTER = after(answer("InternalServerError", 500))
UNSENT = before(ConnectTimeoutError(endpoint_url=URL))
TIMEOUT_BEFORE = before(ReadTimeoutError(endpoint_url=URL))
TIMEOUT_AFTER = after(ReadTimeoutError(endpoint_url=URL))
CLOSED_AFTER = after(ConnectionClosedError(endpoint_url=URL))
DENIED = before(answer("AccessDeniedException"))
EXPIRED = before(answer("ExpiredTokenException"))

TRANSIENT = {
    "throttled": THROTTLED,
    "500-before": BROKEN_BEFORE,
    "500-after": BROKEN_AFTER,
    "unsent": UNSENT,
    "timeout-before": TIMEOUT_BEFORE,
    "timeout-after": TIMEOUT_AFTER,
    "closed-after": CLOSED_AFTER,
}
LASTING = {"denied": DENIED, "expired": EXPIRED}


class FaultySession:
    """A boto3 session whose client fails where it is told.

    faults: by the number of the call, from 0. always: by the operation's name. calls: all the
    operations called, in order, with their arguments.
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self.faults: dict[int, Fault] = {}
        self.always: dict[str, Fault] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def client(self, *arguments: Any, **options: Any) -> Any:
        return _FaultyClient(self, self._session.client(*arguments, **options))

    @contextmanager
    def none(self) -> Iterator[None]:
        """No faults for a while."""
        faults, always = self.faults, self.always
        self.faults, self.always = {}, {}
        yield
        self.faults, self.always = faults, always


class _FaultyClient:
    def __init__(self, owner: FaultySession, boto: Any) -> None:
        self._owner = owner
        self._boto = boto
        self.meta = boto.meta

    def __getattr__(self, operation: str) -> Any:
        def call(**arguments: Any) -> Any:
            number = len(self._owner.calls)
            self._owner.calls.append((operation, arguments))
            fault = self._owner.faults.get(number) or self._owner.always.get(operation)
            real = getattr(self._boto, operation)
            return fault(lambda: real(**arguments)) if fault else real(**arguments)

        return call
