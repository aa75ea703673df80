"""Draws stores, starts each library on them, and compares that with forecast and plan.

``python -m tests.proof.drawn FAMILY... --seeds 0-999 [--jobs N] [--seconds S] [--out DIR]
[--record]``.
Violations are printed with their seed and the smallest state that still shows them. The last thing
printed is a table: family, states, decisions, violations, seeds, time. Exit 1 with a violation, or
where a family's library or server is missing.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from tests.proof.drawn.casefile import document, told
from tests.proof.drawn.families import FAMILIES, Family
from tests.proof.drawn.seeds import one
from tests.proof.drawn.shrink import shrunk
from tests.proof.drawn.states import State
from tests.proof.drawn.trial import Judge, Verdict, examine
from tests.support.own_folders import RECORD_STARTS

SHRINKING = 150
"""How many smaller states are tried."""


@dataclass
class Tally:
    """What came of a family's seeds."""

    states: int = 0
    starts: int = 0
    uncertain: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[int] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, seed: int, verdict: Verdict) -> None:
        self.states += 1
        self.starts += verdict.starts
        self.uncertain += verdict.uncertain
        self.decisions[verdict.decision] += 1
        self.kinds.update({one.kind for one in verdict.violations})
        if verdict.violations:
            self.wrong.append(seed)


def run(
    family: Family, seeds: range, jobs: int, seconds: float, out: Path | None, tally: Tally
) -> None:
    """All seeds that there is time for."""
    began = time.monotonic()
    with family.judges(jobs) as judge, ThreadPoolExecutor(jobs) as pool:
        todo = iter(seeds)
        busy: dict[Future[tuple[State | str, Verdict]], int] = {}
        while True:
            while len(busy) < jobs and time.monotonic() - began < seconds:
                seed = next(todo, None)
                if seed is None:
                    break
                busy[pool.submit(one, family, seed, judge)] = seed
            if not busy:
                break
            done, _ = wait(busy, return_when=FIRST_COMPLETED)
            for future in done:
                seed = busy.pop(future)
                state, verdict = future.result()
                tally.add(seed, verdict)
                tally.seconds = time.monotonic() - began
                if verdict.violations:
                    report(family, state, verdict, judge, out)
                elif tally.states % 100 == 0:
                    sys.stderr.write(f"{family.name}: {tally.states} states\n")


def report(
    family: Family, state: State | str, verdict: Verdict, judge: Judge, out: Path | None
) -> None:
    """Print the violation and the smallest state with one of its kind.

    A real library's state is made smaller with its reference consumer, if that shows it too.
    """
    if isinstance(state, str):
        print(f"{family.name} {state}", *(f"  ! {one}" for one in verdict.violations), sep="\n")
        return
    kinds = {one.kind for one in verdict.violations}
    small, left, model = state, verdict.violations, family.model if family.real else judge

    def shows(smaller: State) -> bool:
        found = examine(smaller, model).violations if model is not None else []
        return bool(kinds & {one.kind for one in found})

    print(told(state, verdict.violations))
    if model is not None and shows(state):
        small = shrunk(state, family, shows, SHRINKING)
        left = examine(small, model).violations
        print("smallest:\n" + told(small, left), flush=True)
    elif model is not None:
        print("  the reference consumer does not show it", flush=True)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{state.name}.json").write_text(document(small, left), encoding="utf-8")


def table(tallies: dict[str, tuple[range, Tally]]) -> str:
    rows = [("family", "states", "starts", "decided", "violations", "seeds", "disturbed", "time")]
    for name, (seeds, tally) in tallies.items():
        decided = ", ".join(f"{k} {n}" for k, n in sorted(tally.decisions.items()))
        kinds = ", ".join(f"{k} {n}" for k, n in sorted(tally.kinds.items()))
        last = seeds.start + tally.states - 1
        rows.append((
            name, str(tally.states), str(tally.starts), decided,
            f"{len(tally.wrong)}" + (f" ({kinds})" if kinds else ""), f"{seeds.start}-{last}",
            str(tally.uncertain), f"{tally.seconds:.0f} s",
        ))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip()
                     for r in rows)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="differential", description=__doc__)
    parser.add_argument("family", nargs="*", choices=[[], *FAMILIES], metavar="FAMILY",
                        help=f"one or more of {', '.join(FAMILIES)}; all reference families")
    parser.add_argument("--seeds", default="0-99", help="from-to, both included")
    parser.add_argument("--jobs", type=int, default=0, help="starts at a time")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop drawing then")
    parser.add_argument("--out", type=Path, help="a folder for states that violate something")
    parser.add_argument("--record", action="store_true",
                        help="keep what real KCL starts showed, instead of starting it again")
    said = parser.parse_args(words)
    if said.record:
        os.environ[RECORD_STARTS] = "1"
    first, _, last = said.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    names = said.family or [name for name, family in FAMILIES.items() if not family.real]
    tallies: dict[str, tuple[range, Tally]] = {}
    missing = False
    try:
        for name in names:
            family, tally = FAMILIES[name], Tally()
            tallies[name] = (seeds, tally)
            try:
                run(family, seeds, said.jobs or family.jobs, said.seconds, said.out, tally)
            except RuntimeError as why:  # a server or a library is missing
                sys.stderr.write(f"{name}: not run: {why}\n")
                missing = True
    finally:
        print(table(tallies), flush=True)
    return int(missing or any(tally.wrong for _, tally in tallies.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
