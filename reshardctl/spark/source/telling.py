"""Our errors where PySpark passes on nothing but an exception's text."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from reshardctl.errors import ReshardError

T = TypeVar("T")


class SourceFailed(Exception):
    """What a query dies of: what happened, and on the next line what to do."""


def told(error: ReshardError) -> SourceFailed:
    """The error with its way on in its text."""
    return SourceFailed(f"{error.what}\n{error.next}" if error.next else error.what)


def telling(method: Callable[..., T]) -> Callable[..., T]:
    """Let a method raise `told` errors."""

    @wraps(method)
    def wrapped(*args: Any, **words: Any) -> T:
        try:
            return method(*args, **words)
        except ReshardError as error:
            raise told(error) from None

    return wrapped
