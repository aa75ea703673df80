"""A process killed for real (SIGKILL) with its journal on S3; another one ends it either way."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.lease_server import LeaseTable, lease_server
from tests.support.plans import counters, plan_of, settled
from tests.unit.journal.bucket import Bucket, go_back, go_on

CHILD = """
import os, signal, sys, time
sys.path[:0] = sys.argv[1:2]
import boto3
from tests.support.plans import apply, checked, header, plan_of
from reshardctl.journal import Journal, S3Object
from reshardctl.journal.s3 import S3Log
from reshardctl.stores.dynamodb import DynamoDb

_, _, table, url, bucket, key, what, at, when = sys.argv
left = int(at)

def watched(call, name):
    def run(*arguments, **named):
        global left
        here = name == what and left == 0
        left -= name == what
        if here and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = call(*arguments, **named)
        if here:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return run

session = boto3.Session("x", "y", region_name="us-east-1")
medium = DynamoDb(session, table, endpoint_url=url, clock=time.monotonic, sleep=time.sleep)
medium.write = watched(medium.write, "row")
boto = session.client("s3", endpoint_url=url)
boto.put_object = watched(boto.put_object, "put")
plan = plan_of([1, 2, 1])
log = S3Log(boto, S3Object(bucket, key), time.sleep, "child")
with Journal.create(log, header(plan, medium)) as journal:
    apply(plan.steps, medium, journal, check=checked(plan))
    journal.verified()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with lease_server() as url:
        yield url


@pytest.mark.parametrize(("what", "at", "when", "landed"), [
    ("put", 0, "before", None), ("row", 0, "after", 1), ("put", 1, "before", 3),
    *(pytest.param(*one, marks=pytest.mark.long) for one in (
        ("put", 0, "after", 0), ("row", 2, "before", 2), ("put", 1, "after", 3),
    )),
])  # fmt: skip
def test_killed(server: str, what: str, at: int, when: str, landed: int | None) -> None:
    """What is left is finished, and, put back as it was, taken back. landed: steps in place
    then; None: not even a journal."""
    plan, table, bucket = plan_of([1, 2, 1]), LeaseTable(server), Bucket(server)
    for image in plan.rows:
        table.plant(image)
    root = Path(__file__).resolve().parents[3]
    words = [str(root), table.name, server, bucket.name, bucket.where.key]
    child = subprocess.run(
        [sys.executable, "-c", CHILD, *words, what, str(at), when],
        timeout=120, capture_output=True, check=False,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()
    medium = table.medium()
    rows, content = medium.read(), bucket.content()
    assert rows == plan.after(landed or 0)
    if landed is None:
        assert content is None
        return
    assert content is not None
    left = counters(rows)
    go_on(medium, bucket.log())
    assert medium.read() == plan.after()

    for image in medium.read():
        table.pull(image.key)
    for image in rows:
        table.plant(image)
    bucket.boto.put_object(Bucket=bucket.name, Key=bucket.where.key, Body=content)
    assert medium.read() == rows
    go_back(medium, bucket)
    assert settled(medium.read()) == settled(sorted(plan.rows, key=lambda image: image.key))
    assert all(count >= left.get(key, 0) for key, count in counters(medium.read()).items())
