"""A selection of rows that shows all that the whole table shows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


def covering(
    rows: Iterable[T], shows: Callable[[T], Iterable[Hashable]], name: Callable[[T], str] = str
) -> list[Any]:
    """Parameters: a row that shows something which none before it showed; the others `long`.

    A row that is a tuple has a value for each parameter.
    """
    return list(_marked(rows, shows, name))


def _marked(
    rows: Iterable[T], shows: Callable[[T], Iterable[Hashable]], name: Callable[[T], str]
) -> Iterator[Any]:
    seen: set[Hashable] = set()
    for row in rows:
        new = set(shows(row)) - seen
        seen |= new
        values = row if isinstance(row, tuple) else (row,)
        yield pytest.param(*values, id=name(row), marks=() if new else pytest.mark.long)
