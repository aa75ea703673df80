"""Jobs in threads: at the same time, in their order, each with its own failure."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from reshardctl.at_once import Started, ahead, at_once, together
from reshardctl.errors import CannotTell, Refused


def waiting_for_the_others(number: int) -> tuple[threading.Barrier, Callable[[int], int]]:
    """A job that ends once so many are being done: one after the other they would never end."""
    all_here = threading.Barrier(number, timeout=30)

    def job(answer: int) -> int:
        all_here.wait()
        return answer

    return all_here, job


def test_jobs_run_side_by_side_and_keep_their_order():
    _, job = waiting_for_the_others(3)

    def refused() -> int:
        job(1)
        raise Refused("no")

    first, second, third = at_once([lambda: job(0), refused, lambda: job(2)], limit=3)
    assert (first, third) == (0, 2) and isinstance(second, Refused)


def test_no_more_jobs_at_once_than_allowed():
    running, most, lock = 0, 0, threading.Lock()

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        with lock:
            running -= 1

    at_once([work] * 50, limit=2)
    assert most <= 2


def test_an_accident_of_one_job_is_its_own():
    def accident() -> None:
        raise ZeroDivisionError("by zero")

    (found,) = at_once([accident])
    assert isinstance(found, CannotTell) and "ZeroDivisionError" in found.what


def test_of_several_failures_the_first_job_s_is_raised():
    _, job = waiting_for_the_others(3)

    def failing(number: int) -> None:
        job(number)
        raise Refused(f"job {number}")

    with pytest.raises(Refused, match="job 1"):
        together([lambda: job(0), lambda: failing(1), lambda: failing(2)])  # type: ignore[list-item]


def test_a_job_that_was_started_is_done_while_its_starter_goes_on():
    here, job = waiting_for_the_others(2)
    started = Started(lambda: job(7))
    here.wait()
    assert started.result() == 7
    started.check()


def test_a_job_that_was_started_fails_where_it_is_asked_for():
    def refused() -> None:
        raise Refused("no")

    started = Started(refused)
    with pytest.raises(Refused):
        started.result()
    with pytest.raises(Refused):
        started.check()


def test_the_first_item_is_made_ahead_and_the_others_when_asked_for():
    made: list[int] = []
    first_made = threading.Event()

    def items() -> Iterator[int]:
        for number in range(3):
            made.append(number)
            first_made.set()
            yield number

    coming = ahead(items())
    assert first_made.wait(30)
    assert next(coming) == 0 and made == [0]
    assert list(coming) == [1, 2]
    assert list(ahead(iter(()))) == []
