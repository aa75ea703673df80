"""The lineage of a long listing against JSON, boto3's parser and networkx, from the same pages.

Processor time, the least of a few runs; peak memory above that after the imports. Reading the file
is left out everywhere. Pages are dropped once they were used.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
from botocore.parsers import create_parser
from botocore.session import get_session

from reshardctl.kinesis.transport import shards_of
from reshardctl.lineage import Lineage
from reshardctl.model import Stream, shard_id
from scripts.bench.measured import Cost, Lines, cost_of, growth
from scripts.bench.pages import write_pages
from scripts.bench.targets import record

SIZES = ((2_000, 5), (20_000, 5))
"""Shards, runs of each stage. 20,000 open ones are the largest quota that AWS gives unasked."""
OPEN = 1_000


def run(scale: int, folder: Path) -> None:
    """Print a table for each size and how our cost grew."""
    totals: list[float] = []
    for full, runs in SIZES:
        shards = full // scale
        path = folder / f"{shards}.jsonl"
        write_pages(path, shards, OPEN // scale)
        totals.append(_table(path, shards, OPEN // scale, runs))
    exponent = growth(totals[0], totals[1], SIZES[1][0] / SIZES[0][0])
    print(f"growth of answers → lineage with the number of shards: n^{exponent:.2f} (aim ≤ n^1.1)")


def _table(path: Path, shards: int, opened: int, runs: int) -> float:
    print(
        f"lineage of {shards:,} shards, {opened:,} open, {path.stat().st_size / shards:.0f} B each"
    )
    print(f"  {'':44}{'CPU s':>8}{'× JSON':>8}{'peak MB':>9}")
    parse = cost_of(parse_json, str(path), runs=runs)
    _line("JSON parse of the pages alone", parse, parse)
    ours = cost_of(answers_to_lineage, str(path), runs=runs)
    _line("reshardctl: answers → lineage", ours, parse)
    _line(
        "reshardctl: parsed pages → lineage", cost_of(pages_to_lineage, str(path), runs=runs), parse
    )
    _line("reshardctl: the same, then breaches()", cost_of(breaches, str(path)), parse)
    boto = cost_of(parse_boto3, str(path))
    _line("boto3's parser alone", boto, parse)
    _line("networkx.DiGraph from parsed pages", cost_of(build_networkx, str(path)), parse)
    print(f"  answers → lineage is {ours.cpu / boto.cpu:.2f} × boto3's parser (aim ≤ 1)\n")
    record(f"answers to lineage, {shards:,} shards, CPU", ours.cpu, "s", 1,
           rival="boto3's parser", theirs=boto.cpu)  # fmt: skip
    return ours.cpu


def _line(what: str, cost: Cost, unit: Cost) -> None:
    print(f"  {what:44}{cost.cpu:8.2f}{cost.cpu / unit.cpu:8.2f}{cost.peak:9.0f}", flush=True)


def parse_json(path: str) -> float:
    lines, began = Lines(path), time.process_time()
    for line in lines:
        json.loads(line)
    return time.process_time() - began - lines.spent


def answers_to_lineage(path: str) -> float:
    lines, began = Lines(path), time.process_time()
    lineage = Lineage(_stream(), (shard for line in lines for shard in shards_of(line)[0] or ()))
    spent = time.process_time() - began - lines.spent
    _expect(bool(lineage.children(shard_id(0))))
    return spent


def pages_to_lineage(path: str) -> float:
    """Without the parse: its time is taken page by page and left out."""
    _, spent = _from_pages(path)
    return spent


def breaches(path: str) -> float:
    lineage, spent = _from_pages(path)
    began = time.process_time()
    _expect(not lineage.breaches())
    return spent + time.process_time() - began


def _from_pages(path: str) -> tuple[Lineage, float]:
    lines, parsing = Lines(path), [0.0]

    def pages() -> Iterator[Any]:
        for line in lines:
            began = time.process_time()
            page = json.loads(line)["Shards"]
            parsing[0] += time.process_time() - began
            yield page

    began = time.process_time()
    lineage = Lineage.from_pages(_stream(), pages())
    return lineage, time.process_time() - began - lines.spent - parsing[0]


def parse_boto3(path: str) -> float:
    shape = get_session().get_service_model("kinesis").operation_model("ListShards").output_shape
    parser = create_parser("json")
    lines, began = Lines(path), time.process_time()
    for line in lines:
        parser.parse({"status_code": 200, "headers": {}, "body": line.encode()}, shape)
    return time.process_time() - began - lines.spent


def build_networkx(path: str) -> float:
    """Nodes with nothing but their ids: less than a lineage holds."""
    graph, lines, spent = nx.DiGraph(), Lines(path), 0.0
    for line in lines:
        page = json.loads(line)["Shards"]
        began = time.process_time()
        graph.add_nodes_from(shard["ShardId"] for shard in page)
        for parent in ("ParentShardId", "AdjacentParentShardId"):
            graph.add_edges_from((s[parent], s["ShardId"]) for s in page if parent in s)
        spent += time.process_time() - began
    return spent


def _expect(true: bool) -> None:
    if not true:
        raise RuntimeError("the lineage is not what was written")


def _stream() -> Stream:
    arn = "arn:aws:kinesis:us-east-1:123456789012:stream/bench"
    return Stream(arn, "bench", 1_700_000_000, 86400, "ACTIVE")
