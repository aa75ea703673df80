"""Runs several iterators concurrently, each in its own order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")


def together(sources: Sequence[Iterator[T]], at_once: int) -> Iterator[T]:
    """Yields what the iterators yield, as it comes; each is one step ahead of its consumer.

    at_once: how many run at a time; the others wait until one is exhausted. An exception of one is
    raised after those that are running have finished their step.
    """
    waiting = list(reversed(sources))
    with ThreadPoolExecutor(max(1, min(at_once, len(sources)))) as pool:
        asked: dict[Future[list[T]], Iterator[T]] = {}

        def ask(source: Iterator[T]) -> None:
            asked[pool.submit(_step, source)] = source

        while waiting and len(asked) < at_once:
            ask(waiting.pop())
        while asked:
            done, _ = wait(asked, return_when=FIRST_COMPLETED)
            for future in done:
                source, items = asked.pop(future), future.result()
                if items:
                    ask(source)
                elif waiting:
                    ask(waiting.pop())
                yield from items


def _step(source: Iterator[T]) -> list[T]:
    """The iterator's next item, or nothing after its end."""
    for item in source:
        return [item]
    return []
