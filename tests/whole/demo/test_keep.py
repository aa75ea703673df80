"""`reshardctl demo --serve`: one line of what it prints points any AWS client at the demo."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest

from tests.whole.demo.surroundings import ASTRAY

LIMIT = 300
"""Seconds; a safety net, not a measurement."""

CLIENT = """
import boto3, json
shards = boto3.client("kinesis").list_shards(StreamName="orders")["Shards"]
rows = boto3.client("dynamodb").scan(TableName="orders-reader", ConsistentRead=True)["Items"]
print(json.dumps([[s["ShardId"] for s in shards], [row["leaseKey"]["S"] for row in rows]]))
"""


def surroundings(tmp_path: Path) -> dict[str, str]:
    return os.environ | ASTRAY | {"RESHARDCTL_STATE_DIR": str(tmp_path / "state")}


@contextmanager
def serving(tmp_path: Path) -> Iterator[tuple[int, str]]:
    """The process at a terminal, and everything that it has printed once it is ready."""
    process, terminal = pty.fork()
    if process == 0:  # pragma: no cover - the child
        os.chdir(tmp_path)
        command = [sys.executable, "-m", "reshardctl", "demo", "--serve"]
        os.execve(sys.executable, command, surroundings(tmp_path))  # noqa: S606
    limit = Timer(LIMIT, os.kill, (process, signal.SIGKILL))
    limit.start()
    printed = b""
    try:
        while b"dynamodb scan" not in printed:
            printed += os.read(terminal, 65536)
        yield process, printed.decode()
    finally:
        limit.cancel()
        os.close(terminal)


def typed(printed: str) -> list[str]:
    """The lines as they stand on the terminal, when what was erased is gone."""
    return [line.rpartition("\x1b[K")[2].rstrip() for line in printed.split("\n")]


@pytest.mark.parametrize("number", [
    signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long),
])  # fmt: skip
def test_any_client_sees_the_stream_and_the_table(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path) as (process, printed):
        (line,) = [line for line in typed(printed) if "eval" in line]
        assert typed(printed)[0].startswith("A demo is up on 127.0.0.1, ")
        line = line.replace("reshardctl", f"{shlex.quote(sys.executable)} -m reshardctl")
        client = subprocess.run(
            ["/bin/sh", "-c", f'{line}\nexec "$0" -c "$1"', sys.executable, CLIENT],
            env=surroundings(tmp_path), cwd=tmp_path, capture_output=True,
            text=True, timeout=LIMIT, check=False,
        )  # fmt: skip
        assert client.returncode == 0, client.stderr
        assert client.stderr == ""
        shards, keys = json.loads(client.stdout)
        os.kill(process, number)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert shards == [f"shardId-{i:012d}" for i in range(7)]
    leases = [f"shardId-{i:012d}" for i in range(4)]
    assert sorted(keys) == sorted([*leases, "Leader", "Migration3.0", "w1"])
    assert list((tmp_path / "state").iterdir()) == []


def test_without_a_demo_it_is_said_how_to_start_one(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    for left in ("", '["http://127.0.0.1:9", "http://127.0.0.1:9"]', "7"):
        if left:
            (tmp_path / "state" / "demo.json").write_text(left)
        told = subprocess.run(
            [sys.executable, "-m", "reshardctl", "demo", "--env"], env=surroundings(tmp_path),
            capture_output=True, text=True, timeout=LIMIT, check=False,
        )
        assert told.returncode == 2
        assert told.stdout == ""
        assert told.stderr.endswith("reshardctl demo --serve\n")
