"""Our errors as text, because PySpark passes on nothing but an exception's text."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from reshardctl.errors import ReshardError

T = TypeVar("T")
_WORDS = (
    ("add --region, or set", 'add .option("region", "us-east-1"), or set'),
    ("check --region and --profile:", 'check .option("region", …) and the credentials:'),
    ("--region and AWS_ENDPOINT_URL_KINESIS", "the options region and endpointUrl"),
    ("give --stream a name", "give streamName a name"),
)
"""Words of our commands, and those of this source."""


class SourceFailed(Exception):
    """A query's failure: what happened, and on the next line what to do."""


def told(error: ReshardError) -> SourceFailed:
    """The error with its advice in its text, in a query's words instead of a command's."""
    way = error.next
    for command, here in _WORDS:
        way = way.replace(command, here)
    return SourceFailed(f"{error.what}\n{way}" if way else error.what)


def telling(method: Callable[..., T]) -> Callable[..., T]:
    """Lets a method raise `told` errors."""

    @wraps(method)
    def wrapped(*args: Any, **options: Any) -> T:
        try:
            return method(*args, **options)
        except ReshardError as error:
            raise told(error) from None

    return wrapped
