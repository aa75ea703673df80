"""Chaos for a while: worlds by seed, one after another, and what was wrong in them. Their consumer
is KCL, kinesis-consumer or the project's own Spark source.

``python -m tests.proof.chaos [--seconds S] [--seed N] [--worlds W] [--jobs J] [--consumer KIND]
[--verbose]``.
A violation is printed with its seed, what happened until then, the command that repeats it, and the
folder that holds its journals and rows. Ends with a table; 1 with a violation, or where a library
or a server is missing. The same seed draws the same events; when a process is killed within them is
the machine's doing, too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from types import FrameType

from tests.proof.chaos.consumers import SYSTEMS, Laboratory
from tests.proof.chaos.play import Played, play
from tests.proof.chaos.spark_source import RELEASES
from tests.proof.libraries.go import built as go_built
from tests.proof.libraries.kcl import built as kcl_built
from tests.proof.libraries.spark import built as spark_built
from tests.support import servers
from tests.support.own_folders import CHECKOUT

KEPT = CHECKOUT / "build" / "chaos"


def main(words: list[str]) -> int:
    """0 if nothing was wrong."""
    parser = argparse.ArgumentParser(prog="scripts/prove chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600, help="begin no world after that")
    parser.add_argument("--seed", type=int, default=int(time.time()) // 3600 * 1000,
                        help="of the first world; the next has the next number")
    parser.add_argument("--worlds", type=int, default=sys.maxsize, help="at most so many")
    parser.add_argument("--jobs", type=int, default=6, help="worlds at a time; most of them wait")
    parser.add_argument("--verbose", action="store_true", help="print what happened in each world")
    parser.add_argument("--consumer", choices=sorted(SYSTEMS), default="")
    said = parser.parse_args(words)
    reasons = [kcl_built.missing(), go_built.missing("kinesis-consumer")]
    reasons += map(spark_built.missing, RELEASES)
    reasons += map(servers.missing, servers.PROGRAMS)
    if missing := [reason for reason in reasons if reason]:
        sys.stderr.write("".join(f"chaos: not run: {reason}\n" for reason in missing))
        return 1
    began, done = time.monotonic(), list[Played]()
    try:
        with ExitStack() as stack:
            signal.signal(signal.SIGTERM, partial(_ended, stack, done, began))
            laboratory = Laboratory.opened(stack)
            seeds = iter(range(said.seed, said.seed + said.worlds))
            ends = began + said.seconds
            for played in _worlds(laboratory, seeds, ends, said.jobs, said.consumer):
                done.append(played)
                report(played, said.consumer, said.verbose)
    finally:
        print(table(done, time.monotonic() - began), flush=True)
    return int(any(played.wrong for played in done))


def _ended(
    stack: ExitStack, done: list[Played], began: float, number: int, _frame: FrameType | None
) -> None:
    """No server outlives a run that is told to end, and no world is waited for."""
    stack.close()
    print(table(done, time.monotonic() - began), flush=True)
    os._exit(128 + number)


def _worlds(
    laboratory: Laboratory, seeds: Iterator[int], ends: float, jobs: int, consumer: str
) -> Iterator[Played]:
    """As they end."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        busy: set[Future[Played]] = set()
        while True:
            while len(busy) < jobs and time.monotonic() < ends:
                seed = next(seeds, None)
                if seed is None:
                    break
                folder = _fresh(KEPT / f"seed-{seed}")
                busy.add(pool.submit(play, seed, laboratory, folder, consumer))
            if not busy:
                return
            finished, busy = wait(busy, return_when=FIRST_COMPLETED)
            for future in finished:
                yield future.result()


def _fresh(folder: Path) -> Path:
    """A name that nothing has yet."""
    names = (folder.with_name(f"{folder.name}-{n}") if n else folder for n in count())
    return next(name for name in names if not name.exists())


def report(played: Played, consumer: str, verbose: bool) -> None:
    """A line; of a violation everything."""
    seconds, wrong = played.seconds, len(played.wrong)
    print(f"seed {played.seed} {played.name}: {seconds:.0f} s, {wrong} violations", flush=True)
    if wrong or verbose:
        print(*(f"  {line}" for line in played.told), sep="\n")
    if not wrong:
        shutil.rmtree(played.folder)
        return
    again = f"scripts/prove chaos --seed {played.seed} --worlds 1"
    again += f" --consumer {consumer}" if consumer else ""
    print(*(f"  ! {line}" for line in played.wrong), sep="\n")
    print(f"  kept in {played.folder}; again: {again}", flush=True)


def table(done: list[Played], seconds: float) -> str:
    """What was done, in all and by consumer."""
    names = sorted({played.name for played in done})
    counts = {name: Counter[str]() for name in names}
    for played in done:
        counts[played.name] += played.counts
        counts[played.name]["worlds"] += 1
        counts[played.name]["violations"] += len(played.wrong)
    rows = [["", "all", *names]]
    for what in sorted({what for found in counts.values() for what in found}):
        each = [counts[name][what] for name in names]
        rows.append([what, *map(str, (sum(each), *each))])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ("  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows)
    return "\n".join([*lines, f"{len(done)} worlds in {seconds:.0f} s"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
