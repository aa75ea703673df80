"""Keeps what was computed from one parsed table, so that a question is answered once."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any, TypeVar

V = TypeVar("V")


class Once:
    """The answers about one table, by question and by what it is asked against.

    against: a lineage, an application, told apart by identity. Neither these nor the answers may be
    changed afterwards.
    """

    def __init__(self) -> None:
        self._answers: list[tuple[str, tuple[object, ...], Any]] = []

    def __call__(self, question: str, against: tuple[object, ...], answer: Callable[[], V]) -> V:
        """The answer that was given before, or this one."""
        for asked, things, known in self._answers:
            if asked == question and all(map(is_, things, against)):
                before: V = known
                return before
        new = answer()
        self._answers.append((question, against, new))
        return new
