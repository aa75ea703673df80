"""The process that a query runs in (running.py): started, spoken to, killed with all its kin."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.proof.libraries.spark.built import HERE, INSIDE, beside
from tests.proof.libraries.spark.session import CREDENTIALS

ROOT = HERE.parents[3]
READY_SECONDS = 120.0
CONFIGURATION = {
    "spark.master": "local[2]",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.pollingDelay": "50",
    # What a batch added is told from what the logs before it say.
    "spark.sql.streaming.fileSink.log.deletion": "false",
    "spark.sql.streaming.noDataProgressEventInterval": "100",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


class Life:
    """One process; `kill` leaves it no moment, `close` lets it go."""

    def __init__(
        self, release: str, register: str, log: Path, more: Mapping[str, str] | None = None
    ) -> None:
        """`more`: variables of its environment."""
        self._log = log.open("a")
        given = {"conf": CONFIGURATION, "register": register}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.proof.libraries.spark.soak.running", json.dumps(given)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True,
            cwd=ROOT, env={**_surroundings(release), **(more or {})}, start_new_session=True,
        )  # fmt: skip
        self._said: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def order(self, what: str, **more: Any) -> None:
        """Tell it what to do; nothing happens where it is dead."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps({"do": what, **more}) + "\n")
            self._process.stdin.flush()

    def hears(self, *kinds: str, seconds: float = READY_SECONDS) -> dict[str, Any]:
        """The next thing it says that is one of these.

        AssertionError when it says nothing of the kind in time, or ends before it does.
        """
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            try:
                said = self._said.get(timeout=left)
            except queue.Empty:
                break
            if said["is"] in kinds:
                return said
            assert said["is"] != "gone", f"the process ended; see {self._log.name}"
        raise AssertionError(f"none of {kinds} within {seconds} s; see {self._log.name}")

    def said(self) -> list[dict[str, Any]]:
        """What it has said since, without waiting."""
        found = []
        while not self._said.empty():
            found.append(self._said.get())
        return found

    def kill(self) -> None:
        """SIGKILL to the driver, its JVM and its workers at once."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._bury()

    def close(self) -> None:
        """Let it end by itself, or kill it."""
        assert self._process.stdin is not None
        with suppress(subprocess.TimeoutExpired, BrokenPipeError):
            self._process.stdin.close()
            self._process.wait(10)
        self.kill()

    def _bury(self) -> None:
        self._process.wait()
        self._log.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.put(json.loads(line))
        self._said.put({"is": "gone"})


def _surroundings(release: str) -> dict[str, str]:
    """PySpark of this release beside the environment that runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    kept.pop("SPARK_HOME", None)
    return {**kept, **CREDENTIALS, **beside(release, INSIDE)}
