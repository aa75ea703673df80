"""kinesis-local 0.6.2 (kinesis-mock, by others) on this machine: a second opinion on Kinesis."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from unittest.mock import patch

from tests.proof.libraries.kcl.process import LineProcess
from tests.proof.libraries.kinesis_local.built import HERE, PACKAGE

START_SECONDS = 60
ACCOUNT = "123456789012"
REGION = "us-east-1"
SHARD_LIMIT = 1000

_QUICK = ("CREATE_STREAM", "DELETE_STREAM", "MERGE_SHARDS", "UPDATE_SHARD_COUNT")
# Its README, "Service Configuration". The ports are names only: loopback.js takes free ones.
_SETTINGS = {
    "KINESIS_MOCK_TLS_PORT": "4567",
    "KINESIS_MOCK_PLAIN_PORT": "4568",
    "KINESIS_MOCK_CERT_PATH": str(PACKAGE / "server.json"),
    "AWS_ACCOUNT_ID": ACCOUNT,
    "AWS_REGION": REGION,
    "SHARD_LIMIT": str(SHARD_LIMIT),
    **{f"{change}_DURATION": "100ms" for change in _QUICK},
    # Long enough to ask something meanwhile.
    "SPLIT_SHARD_DURATION": "500ms",
}


@contextmanager
def kinesis_local(log: Path) -> Iterator[str]:
    """The URL of an emulator that lives as long as the context, on loopback only."""
    ports: Queue[int] = Queue()
    command = ["node", "--require", str(HERE / "loopback.js"), str(PACKAGE / "main.js")]
    with patch.dict(os.environ, _SETTINGS):
        process = LineProcess(command, log, _ready(ports))
    try:
        yield f"http://127.0.0.1:{_port(ports, log)}"
    finally:
        process.close()


def _port(ports: Queue[int], log: Path) -> int:
    try:
        return ports.get(timeout=START_SECONDS)
    except Empty:
        said = log.read_text(encoding="utf-8")[-2000:]
        raise RuntimeError(f"kinesis-local did not start: {said}") from None


def _ready(ports: Queue[int]) -> Callable[[str], None]:
    """Hears ``LISTENING <asked> <got>``; whatever else it prints is of no interest."""
    plain = f"LISTENING {_SETTINGS['KINESIS_MOCK_PLAIN_PORT']} "

    def hear(line: str) -> None:
        if line.startswith(plain):
            ports.put(int(line.removeprefix(plain)))

    return hear
