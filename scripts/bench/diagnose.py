"""The report of each consumer, which is diagnosis and plan: seconds, memory, growth.

A stream that was merged and split by turns, and the rows that each consumer stores of it. Seconds
are compared with those of a loop in the same run: the target is one of a machine on which the loop
takes `LOOP_SECONDS`.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from reshardctl.cli import collect_seldom
from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.lineage import Lineage
from reshardctl.model import HASH_SPACE, Shard, Stream, shard_id
from reshardctl.planning.decision import Nothing, Plan
from reshardctl.report.report import RepairOptions, make
from scripts.bench.measured import cost_of, growth
from scripts.bench.stored import CONSUMED, CREATED, LAST_INDEX, STREAM, Read, number, rows
from scripts.bench.targets import record

GENERATIONS = 12
SIZES = ((200, 5), (2_000, 5), (10_000, 1))
"""Open shards, ten times as many are listed; runs. 20,000 open ones are the largest quota that AWS
gives unasked. The figures of the last size have no target."""
AIMED = 1
"""The size that the targets are for; growth is from the one before it."""
LOOP = 3_000_000
LOOP_SECONDS = 0.155
"""0.12 to 0.19 s on the machine for which the targets were set."""


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


def lineage_of(open_shards: int, generations: int = GENERATIONS) -> Lineage:
    """The lineage of that size."""
    arn = f"arn:aws:kinesis:us-east-1:123456789012:stream/{STREAM}"
    stream = Stream(arn, STREAM, CREATED + 3, 86400, "ACTIVE")
    return Lineage(stream, map(_listed, history(open_shards, generations)))


def snapshot_of(name: str, open_shards: int, generations: int = GENERATIONS) -> Snapshot:
    """A stream of that size, with the rows of a consumer of `CONSUMED`."""
    consumed = CONSUMED[name]
    library, medium = consumed.library, consumed.medium
    locator = Locator(f"{library}://{name}", library, medium, name, consumed.options)
    images = tuple(rows(name, history(open_shards, generations)))
    return Snapshot(locator, lineage_of(open_shards, generations), images, {}, CREATED + 2000)


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


def reported(name: str, open_shards: int, generations: int) -> float:
    """CPU seconds of one report in a process that collects garbage as a command does."""
    collect_seldom()
    snapshot = snapshot_of(name, open_shards, generations)
    gc.collect()
    began = time.process_time()
    report = make(snapshot, RepairOptions())
    seconds = time.process_time() - began
    if not isinstance(report.decision, Plan | Nothing):
        raise AssertionError(f"{name}: neither a plan nor nothing to do: {report.decision}")
    return seconds


def loop() -> float:
    """CPU seconds of a fixed loop, which show how fast the machine is, and how busy."""
    began, total = time.process_time(), 0
    for n in range(LOOP):
        total += n * n % 7
    return time.process_time() - began


def run(scale: int, _folder: Path, consumers: Sequence[str] = ()) -> None:
    """Print one line for each consumer and size, and keep the figures."""
    import networkx  # noqa: F401 - its import is nobody's cost here

    sizes = [(max(4, size // scale // 4 * 4), runs if scale == 1 else 1) for size, runs in SIZES]
    lineages = [lineage_of(size) for size, _ in sizes]
    for name in consumers or CONSUMED:
        seen: list[tuple[int, float]] = []
        for place, ((size, runs), lineage) in enumerate(zip(sizes, lineages, strict=True)):
            sorting, looped, aimed = toposort(lineage), loop(), place == AIMED
            cost = cost_of(reported, name, size, GENERATIONS, runs=runs)
            looped, listed = min(looped, loop()), len(lineage)
            print(
                f"{name}: diagnosis and plan, {size:,} open, {listed:,} listed: {cost.cpu:.2f} s "
                f"CPU, {cost.cpu / looped:.1f} x a loop ({looped:.2f} s), "
                f"{cost.cpu / sorting:.1f} x networkx's graph and sort of the same shards; "
                f"{cost.peak:.0f} MB above the imports",
                flush=True,
            )
            what = f"{name}, diagnosis and plan of {listed:,} listed shards"
            record(f"{what}, CPU", cost.cpu, "s", 1 / LOOP_SECONDS if aimed else None,
                   rival="a loop", theirs=looped)  # fmt: skip
            record(f"{what}, memory above the imports", cost.peak, "MB", 150 if aimed else None)
            if seen:
                fewer, before = seen[-1]
                power = growth(before, cost.cpu, listed / fewer)
                record(f"{what}, growth from {fewer:,}: the n in shards ^ n", power, "",
                       1.1 if aimed else None)  # fmt: skip
            seen.append((listed, cost.cpu))
