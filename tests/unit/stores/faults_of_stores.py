"""A step whose connection is cut at every message in turn: all or nothing, and it is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reshardctl.errors import AnswerLost, CannotTell
from reshardctl.model import Create, Image, Step, Update, Write
from reshardctl.model.write_state import WriteResult
from tests.support.servers.severed import Way

Row = Callable[[str, int], Image]


def two_writes(row: Row) -> Step:
    """A row that moves and a row that comes."""
    before = row("a", 0)
    change = Update({"sequence_number": row("a", 5).attributes["sequence_number"]})
    return Step("two", (
        Write("a", change, before, "a test", ("sequence_number",)),
        Write("b", Create(row("b", 1).attributes), None, "a test"),
    ))


def cut_everywhere(store: Any, way: Way, medium: Any, row: Row, *, seen: bool) -> set[str]:
    """How the writes ended. Whatever was said of one is what the rows say."""
    before, after = [row("a", 0)], [row("a", 5), row("b", 1)]
    step, endings, at = two_writes(row), set(), 0
    while True:
        at += 1
        store.pull("b")
        store.plant(before[0])
        way.reset(at, seen=seen)
        try:
            ended = "done" if medium.write(step, f"t{at}") is WriteResult.APPLIED else "moved"
        except AnswerLost:
            ended = "lost"
        except CannotTell:
            ended = "nothing"
        reached = way.count >= at
        way.reset()
        rows = store.medium().read()
        assert rows in (before, after), "never half of it"
        assert ended != "moved" and (ended == "lost" or rows == (
            after if ended == "done" else before
        )), (at, ended)
        endings.add(ended)
        if not reached:
            return endings
        assert at < 200
