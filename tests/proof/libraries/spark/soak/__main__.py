"""Soaks, one after the other: scripts/test soak."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.proof.libraries.spark.soak.dry import Dry
from tests.proof.libraries.spark.soak.scenes import Scene, Source, drawn
from tests.proof.libraries.spark.soak.small import SMALL
from tests.proof.libraries.spark.soak.soaking import Soak


def main() -> int:
    """Run the seeds; 1 at the first complaint."""
    parser = argparse.ArgumentParser(prog="scripts/test soak", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="how many (10)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--release", choices=("4.0", "4"), default="4", help="of PySpark (4)")
    parser.add_argument("--lives", type=int, default=5, help="of the query in each (5)")
    parser.add_argument("--small", action="store_true", help="the tests' own small source")
    parser.add_argument("--dry", action="store_true", help="without Spark, five seeds a second")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    if given.dry:
        return _dry(seeds)
    source = SMALL if given.small else Source()
    return _soaked(drawn(seed, given.release, source, given.lives) for seed in seeds)


def _soaked(scenes: Iterable[Scene]) -> int:
    """With Spark; the folder of a scene that failed is kept."""
    total: Counter[str] = Counter()
    for scene in scenes:
        folder = Path(tempfile.mkdtemp(prefix=f"soak-{scene.seed}-"))
        soaked = Soak(scene, folder).run()
        print(soaked, flush=True)
        if soaked.complaints:
            print(f"  kept in {folder}")
            return 1
        shutil.rmtree(folder)
        total += soaked.counts
    print("in all: " + " ".join(f"{name}={count}" for name, count in sorted(total.items())))
    return 0


def _dry(seeds: Iterable[int]) -> int:
    total: Counter[str] = Counter()
    for seed in seeds:
        dry = Dry(seed)
        found = dry.complaints()
        total += dry.moving.counts
        total["batches"] += dry.query.commits
        total["batches again"] += len(dry.query.attempts) - dry.query.commits
        if found:
            print(f"seed {seed}", *found, sep="\n  ! ")
            return 1
    print("in all: " + " ".join(f"{name}={count}" for name, count in sorted(total.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
