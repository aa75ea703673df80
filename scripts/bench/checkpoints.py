"""Inspecting a Spark checkpoint of many shards and batches, in a directory and on S3.

In the directory against a script that parses every offset log's last line as JSON, and the log of
the newest batch, and asks nothing; on S3 (moto's, in a process of its own) against a boto3 loop
that lists the same folders and gets the same objects. Both rivals know beforehand what to read.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3

from reshardctl.cli import collect_seldom
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.consumers.spark import sources
from reshardctl.consumers.spark.planned_batch import LINES
from reshardctl.consumers.spark.positions import AFTER_SEQUENCE_NUMBER, SHARD_END, Position
from reshardctl.lineage import Lineage
from reshardctl.model import HASH_SPACE, Shard, ShardId, Stream, shard_id
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import Case, Nothing, decide
from reshardctl.stores.files.local import Local
from reshardctl.stores.files.s3 import S3
from reshardctl.stores.files.tree import Tree
from scripts.bench.measured import cost_of
from scripts.bench.stored import LAST_INDEX, number
from scripts.bench.targets import record

SHARDS, BATCHES = 10_000, 100
CREATED = 1795219200
STREAM, BUCKET = "bench", "bench"
RELEASE, SCALA = "qubole-1.2.0_spark-3.0", "2.12"
LOG = "sources/0/shard-commit"
_METADATA = '{"batchWatermarkMs":0,"batchTimestampMs":1795219200000,"conf":{}}'

_SERVER = """
import logging, pathlib, sys
from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from moto.server import ThreadedMotoServer
bucket, root = sys.argv[1], pathlib.Path(sys.argv[2])
store = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
store.create_bucket(bucket, "us-east-1")
for path in root.rglob("*"):
    if path.is_file():
        store.put_object(bucket, f"checkpoint/{path.relative_to(root)}", path.read_bytes())
logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
server.stop()
"""


def run(scale: int, folder: Path) -> None:
    """Print both stores, each with its rival."""
    shards, batches = max(20, SHARDS // scale // 4 * 4), max(10, BATCHES // scale)
    root = folder / "checkpoint"
    plant(root, shards, batches)
    files = [path for path in root.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"inspect of {shards:,} shards x {batches} batches: {len(files):,} files, {size:.0f} MB")
    rival, ours = cost_of(parse_all, str(root)), cost_of(inspect_local, str(root), shards, batches)
    _print("directory, json.loads of every offset log", rival.cpu, rival.peak)
    _print("directory, read + diagnose + plan", ours.cpu, ours.peak)
    print(f"  {ours.cpu / rival.cpu:.1f} x the script's CPU")
    record(f"inspect of {size:,.0f} MB of Spark logs, CPU", ours.cpu, "s", 2,
           rival="`json.loads` of them", theirs=rival.cpu)  # fmt: skip
    record(f"inspect of {size:,.0f} MB of Spark logs, peak memory", ours.peak, "MB", 150)
    with _served(root) as url:
        loop = _timed(lambda: get_all(url, shards, batches))
        full = _timed(lambda: inspect_s3(url, shards, batches))
    _print("S3, list + get of the same objects", *loop, unit="s wall")
    _print("S3, read + diagnose + plan", *full, unit="s wall")
    print(f"  {full[1] / loop[1]:.2f} x the loop, {full[0] / loop[0]:.2f} x its CPU")


def topology(shards: int, batches: int) -> tuple[list[Shard], int]:
    """Open roots, of which one in a hundred is split half way; and the batch that ends those."""
    turn, width = batches // 2, HASH_SPACE // shards
    split = {index: shards + 2 * n for n, index in enumerate(range(0, shards, 100))}
    found = []
    for index in range(shards):
        low = index * width
        high = HASH_SPACE - 1 if index == shards - 1 else low + width - 1
        end = number(index, LAST_INDEX, CREATED + turn) if index in split else None
        start = number(index, 0, CREATED)
        found.append(Shard(shard_id(index), None, None, low, high, start, end))
    for index, first in split.items():
        parent = found[index]
        middle = (parent.hash_start + parent.hash_end) // 2
        ranges = (parent.hash_start, middle), (middle + 1, parent.hash_end)
        for child, (low, high) in zip((first, first + 1), ranges, strict=True):
            start = number(child, 0, CREATED + turn + 1)
            found.append(Shard(shard_id(child), parent.id, None, low, high, start, None))
    return found, turn


def ends(shards: list[Shard], turn: int, batch: int) -> dict[ShardId, Position]:
    """Where a batch leaves every shard that it reads."""
    found = {}
    for index, shard in enumerate(shards):
        if shard.end is not None and batch == turn:
            found[shard.id] = Position(SHARD_END)
        elif (shard.end is None or batch < turn) and (shard.parent is None or batch > turn):
            place = number(index, batch + 1, CREATED + batch + (1 if shard.parent else 0))
            found[shard.id] = Position(AFTER_SEQUENCE_NUMBER, place)
    return found


def plant(root: Path, count: int, batches: int) -> None:
    """The checkpoint. Of the connector's log only the newest batch's: no reader looks further."""
    shards, turn = topology(count, batches)
    for name in ("offsets", "commits", f"{LOG}/{batches - 1}"):
        (root / name).mkdir(parents=True)
    (root / "metadata").write_text('{"id":"69880f2a-f006-496b-9513-9120bf42d838"}')
    starts = {shard.id: Position("TRIM_HORIZON") for shard in shards if shard.parent is None}
    for batch in range(batches):
        line = LINES["qubole"](STREAM, batch, starts, SCALA)
        (root / f"offsets/{batch}").write_text(f"v1\n{_METADATA}\n{line}")
        (root / f"commits/{batch}").write_text('v1\n{"nextBatchWatermarkMs":0}')
        starts = ends(shards, turn, batch)
    for shard, position in starts.items():
        entry = {
            "shardId": shard,
            "iteratorType": position.kind,
            "iteratorPosition": position.value,
        }
        (root / f"{LOG}/{batches - 1}/{shard}").write_text(json.dumps(entry, separators=(",", ":")))


def parse_all(root: str) -> None:
    """The rival: what a script in a hurry reads."""
    for path in Path(root, "offsets").iterdir():
        json.loads(path.read_text().split("\n")[2])
    for path in Path(root, LOG).rglob("shardId-*"):
        json.loads(path.read_text())


def inspect_local(root: str, count: int, batches: int) -> None:
    """Everything that `inspect` does after ListShards, but for the printing."""
    collect_seldom()  # in a process of its own, as a command is
    _decide(Tree(Local(root), sources.select("")), count, batches)


def inspect_s3(url: str, count: int, batches: int) -> None:
    """The same of a bucket."""
    blobs = S3(_session(), BUCKET, "checkpoint", endpoint_url=url, sleep=time.sleep)
    _decide(Tree(blobs, sources.select("")), count, batches)


def get_all(url: str, _count: int, batches: int) -> None:
    """The rival: two listings and a get each, and nothing is made of them."""
    client = _session().client("s3", endpoint_url=url)
    for folder in ("offsets", f"{LOG}/{batches - 1}"):
        pages = client.get_paginator("list_objects_v2").paginate(
            Bucket=BUCKET, Prefix=f"checkpoint/{folder}/"
        )
        for entry in (entry for page in pages for entry in page["Contents"]):
            client.get_object(Bucket=BUCKET, Key=entry["Key"])["Body"].read()


def _decide(tree: Tree, count: int, batches: int) -> None:
    shards, _ = topology(count, batches)
    arn = f"arn:aws:kinesis:us-east-1:123456789012:stream/{STREAM}"
    lineage = Lineage(Stream(arn, STREAM, CREATED + 3, 86400, "ACTIVE"), shards)
    spark, images = CONSUMERS["spark"], tree.read()
    options = {"release": RELEASE, "startingPosition": "TRIM_HORIZON", "failOnDataLoss": "true"}
    candidates = spark.candidates(spark.parse(images), options)
    decision = decide(Case(spark, StreamState(lineage, CREATED + 2000), images, candidates))
    if not isinstance(decision, Nothing):
        raise AssertionError(f"a healthy checkpoint, but: {decision}")


@contextmanager
def _served(root: Path) -> Iterator[str]:
    """The URL of a moto whose bucket holds the checkpoint; put there beside its API, in one go."""
    server = subprocess.Popen(  # noqa: S603 - this program's own
        [sys.executable, "-c", _SERVER, BUCKET, str(root)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        lines = server.stdout or ()
        yield f"http://127.0.0.1:{next(int(line) for line in lines if line.strip().isdigit())}"
    finally:
        server.communicate()


def _session() -> boto3.Session:
    return boto3.Session(
        aws_access_key_id="bench", aws_secret_access_key="bench", region_name="us-east-1"
    )


def _timed(stage: Callable[[], None]) -> tuple[float, float]:
    """Seconds of this process's CPU, and of the wall."""
    cpu, wall = time.process_time(), time.monotonic()
    stage()
    return time.process_time() - cpu, time.monotonic() - wall


def _print(what: str, cpu: float, other: float, unit: str = "MB") -> None:
    print(f"  {what:44}{cpu:8.2f} s CPU{other:9.1f} {unit}")
