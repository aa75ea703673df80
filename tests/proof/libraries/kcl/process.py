"""A child process that is spoken to by lines, and that never outlives its parent."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

GOODBYE_SECONDS = 10


class LineProcess:
    """Starts a command and hands each line of its standard output to ``hear``, on a thread.

    The children here end when their standard input does, so even a killed parent leaves none.
    """

    def __init__(self, command: list[str], errors: Path, hear: Callable[[str], None]) -> None:
        errors.parent.mkdir(parents=True, exist_ok=True)
        self._errors = errors.open("w", encoding="utf-8")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
        )
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, args=(hear,), daemon=True)
        self._reader.start()

    def say(self, line: str) -> None:
        """Send one line; BrokenPipeError when the process is gone."""
        assert self._process.stdin is not None
        with self._lock:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def gone(self) -> bool:
        """Whether it has ended by itself; all that it wrote has been heard then."""
        if self._process.poll() is None:
            return False
        self._reader.join(GOODBYE_SECONDS)
        return True

    def kill(self) -> None:
        """SIGKILL: it finishes nothing."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End its standard input and wait; kill it when it does not go."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(GOODBYE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(GOODBYE_SECONDS)
        self._errors.close()

    def _read(self, hear: Callable[[str], None]) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            hear(line.rstrip("\n"))
