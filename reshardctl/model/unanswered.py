"""Services that were asked and have not answered yet, so that a person who waits can be told."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_asked: dict[object, tuple[str, float]] = {}


@contextmanager
def asking(service: str) -> Iterator[None]:
    """A context in which the service is waited for. service: its address; "" for none."""
    if not service:
        yield
        return
    token = object()
    _asked[token] = service, time.monotonic()
    try:
        yield
    finally:
        del _asked[token]


def unanswered(seconds: float) -> tuple[str, float] | None:
    """The service that has been waited for the longest, and the seconds; `None` below `seconds`."""
    now = time.monotonic()
    service, since = min(_asked.copy().values(), key=lambda held: held[1], default=("", now))
    return (service, now - since) if now - since >= seconds else None
