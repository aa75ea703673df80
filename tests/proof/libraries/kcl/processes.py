"""The processes of the releases: one at a time takes new starts, and none grows old.

A release leaves threads behind of every application that it ran (KCL 3.5.1: LeaseDiscovery); after
some six hundred, its heap is full of them, and nothing moves any more.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.proof.libraries.kcl.library import Library

MOST_STARTS = 250
"""Starts of one process."""


@dataclass(eq=False, slots=True)
class _Lent:
    """A process, how many starts it was given, and how many of them are under way."""

    library: Library
    starts: int = 0
    running: int = 0


class Processes:
    """Libraries by release; `lent` may be called from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: dict[str, _Lent] = {}
        self._all: set[_Lent] = set()

    @contextmanager
    def lent(self, release: str) -> Iterator[Library]:
        """The process of this release for one start. Begun when first asked for and after every
        MOST_STARTS; one that is replaced ends with the last of its own starts."""
        with self._lock:
            held = self._newest.get(release)
            if held is None or held.starts >= MOST_STARTS:
                held = self._newest[release] = _Lent(Library(release))
                self._all.add(held)
            held.starts += 1
            held.running += 1
        try:
            yield held.library
        finally:
            with self._lock:
                held.running -= 1
                spent = held.starts >= MOST_STARTS and not held.running
                if spent:
                    self._all.discard(held)
                    if self._newest.get(release) is held:
                        del self._newest[release]
            if spent:
                held.library.close()

    def close(self) -> None:
        """End them all."""
        while self._all:
            self._all.pop().library.close()
