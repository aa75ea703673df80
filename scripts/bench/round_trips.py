"""How often a command calls AWS, how many calls wait for one another, and how long it takes.

Kinesis and DynamoDB are servers on loopback, and what is sent to them arrives 50 ms later. The
rival asks for the listing and then for the rows, as `aws kinesis list-shards` and `aws dynamodb
scan` would one after the other. Times run from the first call to the end of the command: neither's
start counts.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import boto3

from scripts.bench.apply import _server as moto_server
from scripts.bench.pages import write_pages
from scripts.bench.targets import record

DELAY = 0.05
"""Seconds that each request needs to arrive."""
SHARDS = (7, 1_000, 10_000)
"""Listed shards; every tenth is open, of seven four."""
RUNS = 5
VERBS = (("inspect", 1.0), ("status", 1.2), ("fix --dry-run", 1.2))
"""Commands, and how many times the rival's time they may take."""
TABLE = "orders-app"
TABLES, DEPTH = 100, 12
"""Tables of the account that `discover` looks at, and how deep its calls may be."""
PROBED = 1_000
"""Open shards with ten records each. All but one start at LATEST, and `--probe` reads what they
skip."""


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one command. depth: the most of them that had to wait for one another."""

    number: int
    depth: int
    seconds: float


def run(scale: int, folder: Path) -> None:
    """Print a line for each command and size: calls, depth, seconds, and those of the rival."""
    print(f"round trips, {1000 * DELAY:.0f} ms each; median of {RUNS if scale == 1 else 1} runs")
    for shards in SHARDS if scale == 1 else SHARDS[:1]:
        with _servers(shards, folder) as urls, _environment(urls, folder):
            runs = range(RUNS if scale == 1 else 1)
            theirs = median(_rival(urls) for _ in runs)
            print(f"  {shards:>6,} shards: list-shards and scan{theirs:29.3f} s")
            for verb, most in VERBS:
                ours = [_measured(verb, folder / "calls.jsonl") for _ in (0, *runs)][1:]
                one, seconds = ours[-1], median(each.seconds for each in ours)
                print(f"  {'':15}{verb:15}{one.number:4} calls, {one.depth:2} deep{seconds:22.3f} s"
                      f"{seconds / theirs:7.2f} x", flush=True)  # fmt: skip
                record(f"`{verb}`, {shards:,} shards, {1000 * DELAY:.0f} ms a call", seconds, "s",
                       most, rival="list-shards, then scan", theirs=theirs)  # fmt: skip
    tables = max(TABLES // scale, 2)
    with _servers(SHARDS[0], folder, tables) as urls, _environment(urls, folder):
        one = _called(["discover", "bench"], folder / "calls.jsonl")
        print(f"  {'discover':15}{tables:4} tables{one.number:7} calls, {one.depth:2} deep"
              f"{one.seconds:22.3f} s")  # fmt: skip
        record(f"`discover` of {tables} tables, calls one after the other", one.depth, "", DEPTH)
    shards = max(PROBED // scale, 2)
    with _with_records(shards) as urls, _environment(urls, folder):
        words = ["inspect", f"kcl://{TABLE}?initial=LATEST&release=3.5.1", "--stream", "bench"]
        bare = _called(words, folder / "calls.jsonl")
        one = _called([*words, "--probe"], folder / "calls.jsonl")
        print(f"  {shards:>6,} open shards: inspect --probe{one.number:6} calls, {one.depth:2} deep"
              f"{one.seconds:15.3f} s, without --probe {bare.seconds:.3f} s")  # fmt: skip
        record(f"`--probe` of {shards:,} open shards, {1000 * DELAY:.0f} ms a call",
               one.seconds - bare.seconds, "s", None)  # fmt: skip


def _measured(verb: str, log: Path) -> Calls:
    words = verb.split()
    if words[0] == "fix":
        words += ["--format", "concise"]
    consumer = f"kcl://{TABLE}?initial=TRIM_HORIZON&release=3.5.1"
    return _called([words[0], consumer, "--stream", "bench", *words[1:]], log)


def _called(words: Sequence[str], log: Path) -> Calls:
    from reshardctl.cli.app import run as command

    with redirect_stdout(io.StringIO()):
        code = command(["--debug", str(log), *words])
    ended = time.time()
    if code not in (0, 1):
        raise AssertionError(f"{words[0]} ended {code}")
    spans = sorted(_spans(log))
    return Calls(len(spans), _depth(spans), ended - spans[0][0])


def _spans(log: Path) -> Iterator[tuple[float, float]]:
    """Begin and end of each call (Unix seconds)."""
    for line in log.read_text(encoding="utf-8").splitlines():
        call = json.loads(line)
        if "operation" in call:
            began = datetime.fromisoformat(call["time"]).timestamp()
            yield began, began + call["seconds"]


def _depth(spans: Sequence[tuple[float, float]]) -> int:
    """The most calls of which each began when the one before had ended.

    spans: in the order of their beginnings.
    """
    chains: list[tuple[float, int]] = []
    for began, ended in spans:
        before = max((length for end, length in chains if end <= began + 0.002), default=0)
        chains.append((ended, before + 1))
    return max(length for _, length in chains)


def _rival(urls: Mapping[str, str]) -> float:
    session = boto3.Session("made-up", "made-up", region_name="us-east-1")
    kinesis = session.client("kinesis", endpoint_url=urls["kinesis"])
    dynamodb = session.client("dynamodb", endpoint_url=urls["dynamodb"])
    began = time.monotonic()
    asked: dict[str, Any] = {"StreamName": "bench", "MaxResults": 1000}
    while asked:
        answer = kinesis.list_shards(**asked)
        asked = {"NextToken": answer["NextToken"]} if "NextToken" in answer else {}
    asked = {"TableName": TABLE, "ConsistentRead": True}
    while asked:
        answer = dynamodb.scan(**asked)
        start = answer.get("LastEvaluatedKey")
        asked = asked | {"ExclusiveStartKey": start} if start else {}
    return time.monotonic() - began


@contextmanager
def _environment(urls: Mapping[str, str], folder: Path) -> Iterator[None]:
    settings = {f"AWS_ENDPOINT_URL_{name.upper()}": url for name, url in urls.items()}
    settings |= {"AWS_ACCESS_KEY_ID": "made-up", "AWS_SECRET_ACCESS_KEY": "made-up",
                 "AWS_DEFAULT_REGION": "us-east-1", "XDG_STATE_HOME": str(folder)}  # fmt: skip
    with patch.dict(os.environ, settings):
        yield


@contextmanager
def _servers(shards: int, folder: Path, tables: int = 1) -> Iterator[dict[str, str]]:
    """The delayed endpoint of each service. Each table has a lease for each open shard."""
    pages = folder / f"{shards}.jsonl"
    write_pages(pages, shards, max(shards // 10, 4))
    leases = list(_leases(pages))
    with ExitStack() as stack:
        kinesis = _kinesis(stack, "server", pages, len(leases))
        names = [f"{TABLE}-{number}" if number else TABLE for number in range(tables)]
        yield _delayed(stack, kinesis, dict.fromkeys(names, leases))


@contextmanager
def _with_records(shards: int) -> Iterator[dict[str, str]]:
    """As `_servers`, of open shards with records. The first alone has a lease."""
    with ExitStack() as stack:
        kinesis = _kinesis(stack, "records_server", 10 * shards, shards, 100)
        session = boto3.Session("made-up", "made-up", region_name="us-east-1")
        client = session.client("kinesis", endpoint_url=f"http://127.0.0.1:{kinesis}")
        first = client.list_shards(StreamName="bench")["Shards"][0]
        yield _delayed(stack, kinesis, {TABLE: [_lease(first)]})


def _kinesis(stack: ExitStack, module: str, *words: object) -> int:
    """Starts one of the servers beside this file, and returns its port."""
    process = subprocess.Popen(  # noqa: S603 - this program's own
        [sys.executable, "-m", f"scripts.bench.{module}", *map(str, words)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    stack.callback(process.communicate)
    return int(process.stdout.readline()) if process.stdout else 0


def _delayed(
    stack: ExitStack, kinesis: int, tables: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, str]:
    """Fills the tables, and delays the way to them and to Kinesis's port."""
    moto = stack.enter_context(moto_server())
    for name, leases in tables.items():
        _fill(moto, name, leases)
    delayed = stack.enter_context(closing(Delayed()))
    return {
        "kinesis": delayed.before(kinesis),
        "dynamodb": delayed.before(int(moto.rpartition(":")[2])),
    }


def _leases(pages: Path) -> Iterator[dict[str, Any]]:
    """A lease of each open shard."""
    for line in pages.read_text(encoding="ascii").splitlines():
        for row in json.loads(line)["Shards"]:
            if "EndingSequenceNumber" not in row["SequenceNumberRange"]:
                yield _lease(row)


def _lease(row: Mapping[str, Any]) -> dict[str, Any]:
    """Of a listed shard, at a number soon after its first."""
    lease = {
        "leaseKey": row["ShardId"], "checkpointSubSequenceNumber": 0, "leaseCounter": 5,
        "checkpoint": str(int(row["SequenceNumberRange"]["StartingSequenceNumber"]) + (5 << 80)),
        "ownerSwitchesSinceCheckpoint": 0,
        "startingHashKey": row["HashKeyRange"]["StartingHashKey"],
        "endingHashKey": row["HashKeyRange"]["EndingHashKey"],
    }  # fmt: skip
    parents = {row.get("ParentShardId"), row.get("AdjacentParentShardId")} - {None}
    return lease | ({"parentShardId": parents} if parents else {})


def _fill(url: str, name: str, leases: Sequence[Mapping[str, Any]]) -> None:
    session = boto3.Session("made-up", "made-up", region_name="us-east-1")
    table = session.resource("dynamodb", endpoint_url=url).create_table(
        TableName=name, BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "leaseKey", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "leaseKey", "AttributeType": "S"}],
    )
    with table.batch_writer() as batch:
        for lease in leases:
            batch.put_item(Item=lease)


class Delayed:
    """Ports of loopback that pass on what they get, DELAY seconds later; answers at once."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._connected = set[object]()  # the loop itself keeps no task from being collected
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def before(self, port: int) -> str:
        """The URL of a delayed port before this one."""

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._connected.add(asyncio.current_task())
            back, on = await asyncio.open_connection("127.0.0.1", port)
            with suppress(asyncio.CancelledError):
                await asyncio.gather(self._passed(reader, on, DELAY), self._passed(back, writer, 0))

        async def listening() -> int:
            server = await asyncio.start_server(connected, "127.0.0.1", 0)
            return int(server.sockets[0].getsockname()[1])

        found = asyncio.run_coroutine_threadsafe(listening(), self._loop).result(10)
        return f"http://127.0.0.1:{found}"

    async def _passed(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float
    ) -> None:
        with suppress(ConnectionError, asyncio.CancelledError):
            while data := await reader.read(1 << 16):
                if delay:
                    self._loop.call_later(delay, writer.write, data)
                else:
                    writer.write(data)
        self._loop.call_later(delay, writer.close)

    def close(self) -> None:
        """Stop."""

        async def stopped() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(stopped(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
