"""What was computed from a parsed table is computed once, and apart for what it is against."""

from __future__ import annotations

from collections import Counter
from functools import partial

from reshardctl.model.memo import Once


def test_the_same_question_against_the_same_things_is_answered_once():
    once, asked = Once(), Counter[str]()
    lineage, application = object(), object()

    def answer() -> int:
        asked["times"] += 1
        return asked["times"]

    assert [once("start", (lineage, application), answer) for _ in range(3)] == [1, 1, 1]
    assert once("processed", (lineage, application), answer) == 2
    assert once("start", (lineage, object()), answer) == 3


def test_what_it_is_asked_against_lives_as_long_as_the_answer():
    """Python gives an object's id again once it is gone: no answer may go to the next one."""
    once = Once()
    answers = [once("start", (object(),), partial(int, number)) for number in range(50)]
    assert answers == list(range(50))
