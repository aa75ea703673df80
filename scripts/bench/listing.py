"""Listing a stream over HTTP on the loopback: ours, checks included, against boto3's loop.

Processor time of the client alone; the server has a process of its own. One call went before,
so that both have loaded what they need.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import boto3

from reshardctl.kinesis import Kinesis
from scripts.bench.measured import cost_of
from scripts.bench.pages import write_pages
from scripts.bench.targets import record

SHARDS, OPEN, RUNS = 20_000, 2_000, 3


def run(scale: int, folder: Path) -> None:
    """Print both costs a page and their ratio."""
    path, shards = folder / "pages.jsonl", SHARDS // scale
    write_pages(path, shards, OPEN // scale)
    server = subprocess.Popen(  # noqa: S603 - this program's own
        [sys.executable, "-m", "scripts.bench.server", str(path), str(_open(path))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{int(server.stdout.readline() if server.stdout else 0)}"
        ours = cost_of(ours_over_http, url, runs=RUNS)
        boto = cost_of(boto3_over_http, url, runs=RUNS)
    finally:
        server.communicate()
    pages = max(1, shards // 1000)
    print(f"listing {shards:,} shards over HTTP, {pages} pages, the client's CPU")
    for what, cost in (("boto3: list_shards, answers dropped", boto),
                       ("reshardctl: Kinesis.lineage, checked", ours)):  # fmt: skip
        print(f"  {what:40}{cost.cpu:7.2f} s{1000 * cost.cpu / pages:7.1f} ms a page"
              f"{cost.peak:7.0f} MB")  # fmt: skip
    print(f"  {ours.cpu / boto.cpu:.2f} × boto3 (aim ≤ 1)")
    record(f"listing of {shards:,} shards over HTTP, CPU", ours.cpu, "s", 1, rival="boto3",
           theirs=boto.cpu)  # fmt: skip


def ours_over_http(url: str) -> float:
    kinesis = Kinesis(_session(), endpoint_url=url)
    kinesis.summary("bench")
    began = time.process_time()
    kinesis.lineage("bench")
    return time.process_time() - began


def boto3_over_http(url: str) -> float:
    client = _session().client("kinesis", endpoint_url=url)
    client.describe_stream_summary(StreamName="bench")
    began = time.process_time()
    words = {"StreamName": "bench", "MaxResults": 1000}
    while words:
        answer = client.list_shards(**words)
        words = {"NextToken": answer["NextToken"]} if "NextToken" in answer else {}
    return time.process_time() - began


def _session() -> boto3.Session:
    return boto3.Session("made-up", "made-up", region_name="us-east-1")


def _open(path: Path) -> int:
    rows = (row for line in path.open() for row in json.loads(line)["Shards"])
    return sum("EndingSequenceNumber" not in row["SequenceNumberRange"] for row in rows)
