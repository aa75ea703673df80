"""Applying many edits to a lease table, journal and all, against a plain boto3 loop.

The loop sends the same conditional updates and nothing else. Ours reads the table again, puts the
plan over it, keeps a journal on disk and sends. The table is moto's, in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import boto3

from reshardctl.execution.apply import apply, fresh_rows
from reshardctl.journal import Header, Journal
from reshardctl.model import Image, Step, TableShape, Update, Write
from reshardctl.planning.writes import rebase
from reshardctl.stores.dynamodb import DynamoDb
from reshardctl.stores.dynamodb.store import request
from scripts.bench.targets import record

EDITS = 10_000
MOVING = ("leaseCounter", "leaseOwner")
_SERVER = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
server.stop()
"""


def run(scale: int, folder: Path) -> None:
    """Print both times, a tenth of them first to show the growth."""
    with _server() as url:
        for edits in (max(1, EDITS // scale // 10), EDITS // scale):
            _table(url, f"loop-{edits}", edits)
            _table(url, f"ours-{edits}", edits)
            journal = folder / f"{edits}.jsonl"
            loop = _timed(partial(_loop, url, f"loop-{edits}", edits))
            ours = _timed(partial(_ours, url, f"ours-{edits}", edits, journal))
            size = journal.stat().st_size
            print(f"apply of {edits:,} edits, one request each; journal {size / edits:.0f} B each")
            for what, (wall, cpu) in (("plain boto3 loop", loop), ("reshardctl: apply", ours)):
                print(f"  {what:40}{wall:7.2f} s{cpu:7.2f} s CPU")
            print(f"  {ours[0] / loop[0]:.2f} × the loop, {ours[1] / loop[1]:.2f} × its CPU "
                  "(aim ≤ 1.20)")  # fmt: skip
            record(f"apply of {edits:,} edits, CPU", ours[1], "s", 1.2, rival="a plain loop",
                   theirs=loop[1])  # fmt: skip


@contextmanager
def _server() -> Iterator[str]:
    server = subprocess.Popen(  # noqa: S603 - this program's own
        [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        lines = server.stdout or ()
        port = next(int(line) for line in lines if line.strip().isdigit())
        yield f"http://127.0.0.1:{port}"
    finally:
        server.communicate()


def _session() -> boto3.Session:
    return boto3.Session(
        aws_access_key_id="bench", aws_secret_access_key="bench", region_name="us-east-1"
    )


def _table(url: str, name: str, rows: int) -> None:
    client = _session().client("dynamodb", endpoint_url=url)
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "leaseKey", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "leaseKey", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    items = [{"PutRequest": {"Item": dict(_lease(n).attributes)}} for n in range(rows)]
    for start in range(0, rows, 25):
        client.batch_write_item(RequestItems={name: items[start : start + 25]})


def _lease(number: int) -> Image:
    key = f"shardId-{number:012}"
    attributes: dict[str, Any] = {
        "checkpoint": {"S": "49680412033094866848527506851837432377108706273800486914"},
        "checkpointSubSequenceNumber": {"N": "0"},
        "endingHashKey": {"S": "170141183460469231731687303715884105727"},
        "leaseCounter": {"N": "15"},
        "leaseKey": {"S": key},
        "leaseOwner": {"S": "w1"},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "parentShardId": {"SS": ["shardId-000000000000"]},
        "startingHashKey": {"S": "0"},
    }
    return Image(key, attributes)


def _steps(rows: list[Image]) -> list[Step]:
    change = Update(
        set={"checkpoint": {"S": "TRIM_HORIZON"}, "ownerSwitchesSinceCheckpoint": {"N": "0"}},
        remove=("leaseOwner",),
        add={"leaseCounter": 1},
    )
    guard = ("checkpoint", "checkpointSubSequenceNumber", *MOVING)
    return [Step(row.key, (Write(row.key, change, row, "a benchmark", guard),)) for row in rows]


def _loop(url: str, table: str, edits: int) -> None:
    client = _session().client("dynamodb", endpoint_url=url)
    for step in _steps([_lease(n) for n in range(edits)]):
        client.update_item(**request(step.writes[0], TableShape(table))[1])


def _ours(url: str, table: str, edits: int, path: Path) -> None:
    steps = _steps([_lease(n) for n in range(edits)])
    medium = DynamoDb(
        _session(), table, endpoint_url=url, clock=time.monotonic, sleep=time.sleep
    )
    texts: dict[str, Any] = dict.fromkeys(("plan", "locator", "policy", "who", "when"), "bench")
    header = Header(identity=medium.identity(), stream={}, steps=tuple(steps), **texts)
    with Journal.create(path, header) as journal:
        fresh = rebase(steps, fresh_rows(medium), MOVING)
        done = apply(steps, fresh, medium, journal)
        journal.verified()
    if done.written != edits:
        raise AssertionError(f"{done.written} of {edits} written")


def _timed(work: Callable[[], None]) -> tuple[float, float]:
    """Wall and processor seconds of this process."""
    wall, cpu = time.monotonic(), time.process_time()
    work()
    return time.monotonic() - wall, time.process_time() - cpu
