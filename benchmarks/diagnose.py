"""Diagnosis and plan of one consumer: seconds, growth, and the ratio to networkx's toposort.

A stream that was merged and split by turns, one lease an open shard, one lease in a hundred lost.
"""

from __future__ import annotations

import gc
import math
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.targets import record
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.lineage import Lineage
from reshardctl.model import HASH_SPACE, Image, Shard, Stream, canonical, shard_id
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import Case, Nothing, Plan, decide

CREATED = 1795219200
GENERATIONS = 12
SIZES = (1_250, 2_500, 5_000, 10_000)
LAST_INDEX = (1 << 63) - 1


def number(shard: int, index: int, second: int) -> str:
    """A version-2 sequence number whose epoch is its own second."""
    return str(
        2 << 184 | second << 148 | (shard & 15) << 144 | index << 80 | second << 36
        | shard << 4 | 2
    )


def history(open_shards: int) -> Iterator[tuple[int, int, int, tuple[int, ...], int, int | None]]:
    """index, low, high, parents, opened, closed: pairs merged, then all split, and so on."""
    width = HASH_SPACE // open_shards
    live: list[tuple[int, int, int, tuple[int, ...], int]] = [
        (i, i * width, (i + 1) * width - 1, (), CREATED) for i in range(open_shards)
    ]
    live[-1] = (*live[-1][:2], HASH_SPACE - 1, (), CREATED)
    index, now = open_shards, CREATED
    for generation in range(GENERATIONS):
        now += 60
        born: list[tuple[int, int, int, tuple[int, ...], int]] = []
        yield from ((*shard, now) for shard in live)
        if generation % 2 == 0:
            for a, b in zip(live[::2], live[1::2], strict=True):
                born.append((index, a[1], b[2], (a[0], b[0]), now + 1))
                index += 1
        else:
            for one in live:
                middle = (one[1] + one[2]) // 2
                born.append((index, one[1], middle, (one[0],), now + 1))
                born.append((index + 1, middle + 1, one[2], (one[0],), now + 1))
                index += 2
        live = born
    yield from ((*shard, None) for shard in live)


def situation(open_shards: int) -> Case:
    """A case of that size."""
    shards, rows = [], []
    chance = random.Random(1)  # noqa: S311
    for index, low, high, parents, opened, closed in history(open_shards):
        named = [shard_id(p) for p in parents] + [None, None]
        end = None if closed is None else number(index, LAST_INDEX, closed)
        start = number(index, 0, opened)
        shards.append(Shard(shard_id(index), named[0], named[1], low, high, start, end))
        if closed is None and chance.random() > 0.01:
            rows.append(lease(index, low, high, parents, number(index, 3, opened + 5)))
    arn = "arn:aws:kinesis:us-east-1:123456789012:stream/bench"
    lineage = Lineage(Stream(arn, "bench", CREATED + 3, 86400, "ACTIVE"), shards)
    kcl = CONSUMERS["kcl"]
    candidates = kcl.candidates(kcl.parse(rows), {"initial": "LATEST", "release": "3.5"})
    return Case(kcl, StreamState(lineage, CREATED + 2000), rows, candidates)


def lease(index: int, low: int, high: int, parents: tuple[int, ...], position: str) -> Image:
    """A row as KCL writes it."""
    item: dict[str, Any] = {
        "leaseKey": {"S": shard_id(index)},
        "checkpoint": {"S": position},
        "checkpointSubSequenceNumber": {"N": "0"},
        "leaseCounter": {"N": "5"},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "startingHashKey": {"S": str(low)},
        "endingHashKey": {"S": str(high)},
    }
    if parents:
        item["parentShardId"] = {"SS": [shard_id(p) for p in parents]}
    return Image(shard_id(index), canonical(item))


def toposort(lineage: Lineage) -> float:
    """CPU seconds that networkx takes to build the same graph and to sort it."""
    import networkx as nx

    began = time.process_time()
    graph = nx.DiGraph()
    for shard in lineage:
        graph.add_node(shard)
        graph.add_edges_from((parent, shard) for parent in lineage.parents(shard))
    list(nx.topological_sort(graph))
    return time.process_time() - began


def run(scale: int, _folder: Path) -> None:
    """Print one line a size, and the exponent of growth."""
    import networkx  # noqa: F401 - its import is nobody's cost here

    seen = []
    for size in SIZES:
        case = situation(max(4, size // scale // 4 * 4))
        gc.collect()
        began = time.process_time()
        decision = decide(case)
        seconds = time.process_time() - began
        if not isinstance(decision, Plan | Nothing):
            raise AssertionError(f"neither a plan nor nothing to do: {decision}")
        listed = len(case.state.lineage)
        seen.append((listed, seconds))
        print(
            f"diagnose + plan, {size // scale} open, {listed} listed, {len(case.images)} leases: "
            f"{seconds:.2f} s CPU, {seconds / toposort(case.state.lineage):.1f} x networkx's "
            "graph and sort of the same shards"
        )
    (small, first), (large, last) = seen[0], seen[-1]
    record(f"diagnosis and plan of {large:,} listed shards, CPU", last, "s", 2)
    growth = math.log(last / first) / math.log(large / small)
    print(f"growth of the cost: n^{growth:.2f} (aim: n^1.1 at most)")
