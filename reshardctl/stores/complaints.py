"""Errors about a text, with the name of the place where it is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reshardctl.errors import NotLoaded, UsageError


@contextmanager
def complaints_about(place: str) -> Iterator[None]:
    """A UsageError of the body names the place first; bytes that are no UTF-8 become one."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise NotLoaded(
            f"{place}: not UTF-8 ({error})", "restore it from a backup, or name another place"
        ) from None
    except UsageError as error:
        kind = NotLoaded if isinstance(error, NotLoaded) else UsageError
        raise kind(f"{place}: {error.what}", error.next) from None
