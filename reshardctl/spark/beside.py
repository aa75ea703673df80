"""Runs Spark jobs of one thread beside those of another.

A job of few rows is mostly planned and compiled, by one thread. Two of them use two cores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_Result = TypeVar("_Result")


def begun(work: Callable[[], _Result], *, beside: bool = True) -> Callable[[], _Result]:
    """Begin `work`; returns a function that waits for its result, or raises what it raised.

    The thread ends with the process, so that Ctrl-C need not wait for it. It has the job group and
    the other properties that Spark keeps for the calling thread.

    Args:
        work: It may use the session of this process.
        beside: Whether in a thread of its own; else when its result is asked for. A client of Spark
            Connect never has one: its server decides what runs when.
    """
    from pyspark.sql.utils import is_remote

    if not beside or is_remote():
        return work
    from pyspark import InheritableThread

    done: list[_Result] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    thread = InheritableThread(run, daemon=True)
    thread.start()

    def result() -> _Result:
        thread.join()
        for error in failed:
            raise error
        return done[0]

    return result
