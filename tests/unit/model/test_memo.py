"""What a pure function answered is not computed again, and never given to another question."""

from __future__ import annotations

from collections import Counter
from itertools import count

from reshardctl.model.memo import ROWS, Memo

OWNER = object()


class Asked:
    """Functions that number their answers."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def start(self, _owner: object, *_about: object) -> int:
        return next(self._numbers)

    def processed(self, _owner: object, *_about: object) -> int:
        return -next(self._numbers)


def test_the_same_question_about_the_same_things_is_answered_once():
    memo, asked, rows, application = Memo(), Asked(), object(), object()
    assert [memo(asked.start, OWNER, rows, application) for _ in range(3)] == [1, 1, 1]
    assert memo(asked.processed, OWNER, rows, application) == -2
    assert memo(asked.start, OWNER, rows, object()) == 3
    assert memo(asked.start, OWNER, rows) == 4


def test_what_it_is_asked_about_lives_as_long_as_the_answer():
    """Python gives an object's id again once it is gone: no answer may go to the next one."""
    memo, asked = Memo(), Asked()
    assert [memo(asked.start, OWNER, object()) for _ in range(50)] == list(range(1, 51))


def test_the_newest_answers_of_each_function_are_kept():
    memo, asked, things = Memo(), Asked(), [object() for _ in range(4)]
    for thing in things[:3]:
        memo(asked.start, OWNER, thing, most=3)
        memo(asked.processed, OWNER, thing, most=3)
    assert memo(asked.start, OWNER, things[0], most=3) == 1  # asked for again: the newest now
    assert memo(asked.start, OWNER, things[3], most=3) == 7
    assert memo(asked.start, OWNER, things[0], most=3) == 1
    assert memo(asked.start, OWNER, things[1], most=3) == 8
    assert memo(asked.processed, OWNER, things[0], most=3) == -2


def test_each_place_is_asked_about_once():
    memo, asked = Memo(), Asked()
    places = [("0", "1"), ("0", "2"), ("0", "1")]
    assert [memo.once(asked.start, OWNER, place) for place in places] == [1, 2, 1]
    assert memo.once(asked.processed, OWNER, ("0", "1")) == -3


def test_an_answer_is_given_the_one_before():
    memo = Memo()

    def start(_owner: object, before: list[str] | None, shard: str) -> list[str]:
        return [*(before or []), shard]

    assert memo.onwards(start, OWNER, "0") == ["0"]
    assert memo.onwards(start, OWNER, "1") == ["0", "1"]


def test_the_last_answer_at_each_place_is_kept():
    memo, asked, one, other = Memo(), Asked(), object(), object()
    assert [memo.last(asked.start, OWNER, "0", one) for _ in range(2)] == [1, 1]
    assert memo.last(asked.start, OWNER, "1", one) == 2
    assert memo.last(asked.start, OWNER, "0", other) == 3
    assert memo.last(asked.start, OWNER, "0", one) == 4


def test_equal_rows_are_one_question_and_the_newest_answer_helps_with_the_next():
    memo, calls = Memo(), Counter[str]()

    def parse(rows: list[int], stream: str) -> list[str]:
        calls["parse"] += 1
        return [f"{stream}{row}" for row in rows]

    def again(rows: list[int], stream: str, before: list[str]) -> list[str]:
        calls["again"] += 1
        return [*before[:1], *parse(rows[1:], stream)]

    first = memo.equal(parse, [1, 2], "s", again=again)
    assert memo.equal(parse, [1, 2], "s", again=again) is first
    second = memo.equal(parse, [1, 3], "s", again=again)
    assert second == ["s1", "s3"] and second[0] is first[0]
    assert calls == {"parse": 2, "again": 1}


def test_the_rows_that_were_asked_for_last_are_kept():
    memo, asked = Memo(), Asked()
    for number in range(1, ROWS + 1):
        memo.equal(asked.start, OWNER, 0)
        memo.equal(asked.start, OWNER, number)
    assert memo.equal(asked.start, OWNER, 0) == 1
    assert memo.equal(asked.start, OWNER, 1) == ROWS + 2


def test_nothing_is_kept_that_was_given_up():
    memo, asked = Memo(), Asked()
    assert (memo(asked.start, OWNER), memo.last(asked.start, OWNER, ""), 1) == (1, 2, 1)
    memo.forget()
    assert (memo(asked.start, OWNER), memo.last(asked.start, OWNER, "")) == (3, 4)
