"""Reads that need not wait for one another, each in a thread of its own.

The threads are daemons: Ctrl-C ends the command at once, because reading leaves nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from reshardctl.errors import CannotTell, ReshardError

AT_ONCE = 8
"""The most jobs that are done at the same time."""

Result = TypeVar("Result")


class Started(Generic[Result]):
    """A job that is being done."""

    def __init__(
        self, job: Callable[[], Result], thread: Callable[..., threading.Thread] = threading.Thread
    ) -> None:
        """Starts it. thread: makes the thread."""
        self._job = job
        self._results: list[Result] = []
        self._failure: Exception | None = None
        self._thread = thread(target=self._do, daemon=True)
        self._thread.start()

    def _do(self) -> None:
        try:
            self._results.append(self._job())
        except Exception as failure:
            self._failure = failure

    def check(self) -> None:
        """Raises what the job has raised, if it has failed already."""
        if self._failure is not None:
            raise self._failure

    def result(self) -> Result:
        """Waits for its result, and raises what it raised."""
        self._thread.join()
        self.check()
        return self._results[0]


def ahead(items: Iterator[Result]) -> Iterator[Result]:
    """The same items; the first is made from now on, before it is asked for."""
    first = Started(lambda: list(islice(items, 1)))

    def every() -> Iterator[Result]:
        yield from first.result()
        yield from items

    return every()


def together(jobs: Sequence[Callable[[], Result]], limit: int = AT_ONCE) -> list[Result]:
    """The results of all jobs, in order. Raises what the first of them that failed has raised."""
    if min(limit, len(jobs)) < 2:
        return [job() for job in jobs]
    results: list[Any] = [None] * len(jobs)
    failures: dict[int, Exception] = {}
    queue: SimpleQueue[int] = SimpleQueue()
    for index in range(len(jobs)):
        queue.put(index)

    def work() -> None:
        while True:
            try:
                index = queue.get_nowait()
            except Empty:
                return
            try:
                results[index] = jobs[index]()
            except Exception as failure:
                failures[index] = failure

    for worker in [Started(work) for _ in range(min(limit, len(jobs)))]:
        worker.result()
    if failures:
        raise failures[min(failures)]
    return results


def at_once(
    jobs: Sequence[Callable[[], Result]], limit: int = AT_ONCE
) -> list[Result | ReshardError]:
    """The results of all jobs, in order; for one that failed, its failure."""

    def outcome(job: Callable[[], Result]) -> Result | ReshardError:
        try:
            return job()
        except ReshardError as error:
            return error
        except Exception as error:
            return CannotTell(
                f"unexpected {type(error).__name__}: {error}",
                "this is a defect of reshardctl; look at this consumer alone",
            )

    return together([partial(outcome, job) for job in jobs], limit)
