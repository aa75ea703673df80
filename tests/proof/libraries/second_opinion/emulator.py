"""A process that serves an emulator on loopback and says which port it got."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from unittest.mock import patch

from tests.proof.libraries.kcl.process import LineProcess

START_SECONDS = 60
ACCOUNT = "123456789012"
REGION = "us-east-1"
SHARD_LIMIT = 3000
CREATE_MS, DELETE_MS, RESHARD_MS = 300, 500, 500
"""How long a change takes: long enough to ask something meanwhile where a scene does."""


@contextmanager
def listening(
    command: list[str], settings: Mapping[str, str], log: Path, sign: str = "LISTENING "
) -> Iterator[str]:
    """The URL of a server that lives as long as the context.

    It prints a line of `sign` and its port, and ends with its standard input.
    """
    ports: Queue[int] = Queue()
    with patch.dict(os.environ, settings):
        process = LineProcess(command, log, _hear(sign, ports))
    try:
        yield f"http://127.0.0.1:{_port(ports, log)}"
    finally:
        process.close()


def _port(ports: Queue[int], log: Path) -> int:
    try:
        return ports.get(timeout=START_SECONDS)
    except Empty:
        said = log.read_text(encoding="utf-8")[-2000:]
        raise RuntimeError(f"the emulator did not start: {said}") from None


def _hear(sign: str, ports: Queue[int]) -> Callable[[str], None]:
    """Whatever else it prints is of no interest."""

    def hear(line: str) -> None:
        if line.startswith(sign):
            ports.put(int(line.removeprefix(sign)))

    return hear
