"""Diagnosis and plan of each consumer: seconds, memory, growth, the ratio to networkx's toposort.

A stream that was merged and split by turns, and the rows that each consumer stores of it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from reshardctl.cli import collect_seldom
from reshardctl.lineage import Lineage
from reshardctl.model import HASH_SPACE, Shard, Stream, shard_id
from reshardctl.planning.effects import StreamState
from reshardctl.planning.plan import Case, Nothing, Plan, decide
from scripts.bench.measured import cost_of, growth
from scripts.bench.stored import CONSUMED, CREATED, LAST_INDEX, STREAM, Read, number, rows
from scripts.bench.targets import record

GENERATIONS = 12
SIZES = (1_000, 2_500, 10_000)
"""Open shards; ten times as many are listed."""
LOOP = 3_000_000


def history(open_shards: int, generations: int) -> Iterator[Read]:
    """All shards: pairs merged, then all split, and so on."""
    width = HASH_SPACE // open_shards
    live: list[tuple[int, int, int, tuple[int, ...], int]] = [
        (i, i * width, (i + 1) * width - 1, (), CREATED) for i in range(open_shards)
    ]
    live[-1] = (*live[-1][:2], HASH_SPACE - 1, (), CREATED)
    index, now = open_shards, CREATED
    for generation in range(generations):
        now += 60
        born: list[tuple[int, int, int, tuple[int, ...], int]] = []
        yield from (Read(*shard, now) for shard in live)
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
    yield from (Read(*shard, None) for shard in live)


def situation(name: str, open_shards: int, generations: int = GENERATIONS) -> Case:
    """A case of that size, of a consumer of `CONSUMED`."""
    arn = f"arn:aws:kinesis:us-east-1:123456789012:stream/{STREAM}"
    stream = Stream(arn, STREAM, CREATED + 3, 86400, "ACTIVE")
    lineage = Lineage(stream, map(_listed, history(open_shards, generations)))
    images, consumed = rows(name, history(open_shards, generations)), CONSUMED[name]
    consumer = consumed.consumer()
    candidates = consumer.candidates(consumer.parse(images, stream), consumed.options)
    if len(candidates) != 1:
        raise AssertionError(f"{name}: {len(candidates)} candidates")
    return Case(consumer, StreamState(lineage, CREATED + 2000), images, candidates)


def _listed(read: Read) -> Shard:
    named = [shard_id(p) for p in read.parents] + [None, None]
    end = None if read.closed is None else number(read.index, LAST_INDEX, read.closed)
    start = number(read.index, 0, read.opened)
    return Shard(read.shard, named[0], named[1], read.low, read.high, start, end)


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


def decided(name: str, open_shards: int, generations: int) -> float:
    """CPU seconds of one decision in a process that collects garbage as a command does."""
    collect_seldom()
    case = situation(name, open_shards, generations)
    gc.collect()
    began = time.process_time()
    decision = decide(case)
    seconds = time.process_time() - began
    if not isinstance(decision, Plan | Nothing):
        raise AssertionError(f"{name}: neither a plan nor nothing to do: {decision}")
    return seconds


def loop() -> float:
    """CPU seconds of a fixed loop, which show how busy the machine is."""
    began, total = time.process_time(), 0
    for n in range(LOOP):
        total += n * n % 7
    return time.process_time() - began


def run(scale: int, _folder: Path, consumers: Sequence[str] = ()) -> None:
    """Print one line for each consumer and size, and the exponent of growth."""
    import networkx  # noqa: F401 - its import is nobody's cost here

    sizes = [max(4, size // scale // 4 * 4) for size in SIZES]
    lineages = [situation("kcl", size).state.lineage for size in sizes]
    for name in consumers or CONSUMED:
        seen = []
        for size, lineage in zip(sizes, lineages, strict=True):
            sorting, looped = toposort(lineage), loop()
            cost = cost_of(decided, name, size, GENERATIONS)
            seen.append((len(lineage), cost))
            print(
                f"{name}: diagnose + plan, {size:,} open, {len(lineage):,} listed: "
                f"{cost.cpu:.2f} s CPU, {cost.cpu / sorting:.1f} x networkx's graph and sort of "
                f"the same shards, {cost.cpu / looped:.1f} x a loop; {cost.peak:.0f} MB above "
                "the imports",
                flush=True,
            )
        (small, first), (large, last) = seen[0], seen[-1]
        power = growth(first.cpu, last.cpu, large / small)
        what = f"{name}, diagnosis and plan of {large:,} listed shards"
        record(f"{what}, CPU", last.cpu, "s", 2)
        record(f"{what}, memory above the imports", last.peak, "MB", 300)
        record(f"{what}, exponent of growth from {small:,}", power, "", 1.05)
