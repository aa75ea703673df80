"""The virtual clock: time moves only when a test says so, or with real time from a given start."""

from __future__ import annotations

import time
from threading import Lock


class VirtualClock:
    """Epoch seconds as the fake sees them. Never runs backwards."""

    def __init__(self, start: float, *, ticking: bool = False) -> None:
        self._base = float(start)
        self._lock = Lock()
        self._since = time.monotonic()
        self.ticking = ticking

    def now(self) -> float:
        """Epoch seconds."""
        with self._lock:
            return self._read()

    def advance(self, seconds: float) -> float:
        """Move forward; returns the new time. ValueError if `seconds` is negative."""
        if seconds < 0:
            raise ValueError("the clock does not run backwards")
        with self._lock:
            self._base += seconds
            return self._read()

    def set(self, epoch: float) -> None:
        """Jump to `epoch`. ValueError if that is in the past."""
        with self._lock:
            if epoch < self._read():
                raise ValueError("the clock does not run backwards")
            self._base = float(epoch)
            self._since = time.monotonic()

    def _read(self) -> float:
        return self._base + (time.monotonic() - self._since if self.ticking else 0.0)
