"""`reshardctl demo --serve`: what it prints is enough for any AWS client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest

LIMIT = 300
"""Seconds; a safety net, not a measurement."""

ASTRAY = {
    "AWS_PROFILE": "nobody",
    "AWS_ACCESS_KEY_ID": "real",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
}
"""Settings of an operator that would lead anywhere but to the demo."""

CLIENT = """
import boto3, json
shards = boto3.client("kinesis").list_shards(StreamName="orders")["Shards"]
rows = boto3.client("dynamodb").scan(TableName="orders-reader", ConsistentRead=True)["Items"]
print(json.dumps([[s["ShardId"] for s in shards], [row["leaseKey"]["S"] for row in rows]]))
"""


@contextmanager
def serving(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and everything that it has printed once it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-m", "reshardctl", "demo", "--serve"],
        env=os.environ | ASTRAY, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    limit = Timer(LIMIT, process.kill)
    limit.start()
    try:
        assert process.stdout is not None
        printed = ""
        for line in process.stdout:
            printed += line
            if "Ctrl-C" in line:
                break
        yield process, printed
    finally:
        limit.cancel()
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_any_client_sees_the_stream_and_the_table(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path) as (process, printed):
        script = f'{printed}\nexec "$0" -c "$1"'
        client = subprocess.run(
            ["/bin/sh", "-c", script, sys.executable, CLIENT],
            env=os.environ | ASTRAY, cwd=tmp_path, capture_output=True,
            text=True, timeout=LIMIT, check=False,
        )  # fmt: skip
        assert client.returncode == 0, client.stderr
        shards, keys = json.loads(client.stdout)
        process.send_signal(number)
        assert process.wait(LIMIT) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert shards == [f"shardId-{i:012d}" for i in range(7)]
    leases = [f"shardId-{i:012d}" for i in range(4)]
    assert sorted(keys) == sorted([*leases, "Leader", "Migration3.0", "w1"])
