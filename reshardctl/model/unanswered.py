"""Services that were asked and have not answered yet, so that a person who waits can be told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_asked: dict[object, str] = {}


@contextmanager
def asking(service: str) -> Iterator[None]:
    """A context in which the service is waited for. service: its address; "" for none."""
    if not service:
        yield
        return
    question = object()
    _asked[question] = service
    try:
        yield
    finally:
        del _asked[question]


def unanswered() -> Mapping[object, str]:
    """Each open question, and the service that was asked, the oldest first."""
    return _asked.copy()
