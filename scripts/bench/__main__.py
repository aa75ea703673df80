"""`python -m scripts.bench [--small] [NAME ...]`: run benchmarks and print what they found."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from scripts.bench.stored import CONSUMED
from scripts.bench.targets import FIGURES, table

NAMES = (
    "lineage", "listing", "round_trips", "startup", "diagnose", "apply", "checkpoints", "metastore",
    "stores", "source", "audit",
)
"""Each is a module here with `run(scale, folder)`: scale divides its sizes, folder is scratch."""


def main() -> int:
    """Run what was asked for and print the table; 0 unless a benchmark raises."""
    parser = argparse.ArgumentParser(prog="scripts/bench/run", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--consumer", action="append", default=[], choices=tuple(CONSUMED),
                        help="of diagnose: this one alone, may be repeated")  # fmt: skip
    parser.add_argument("--small", action="store_true", help="a hundredth of the size")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(NAMES):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    _print_machine()
    for name in asked.names or NAMES:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="reshardctl-bench-") as folder:
            wanted = {"consumers": asked.consumer} if name == "diagnose" else {}
            importlib.import_module(f"scripts.bench.{name}").run(
                100 if asked.small else 1, Path(folder), **wanted
            )
        print(f"({name}: {time.monotonic() - began:.0f} s)\n", flush=True)
    if FIGURES:
        print(table(FIGURES))
    return 0


def _print_machine() -> None:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("botocore", "networkx"))
    print(
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, "
        f"load {os.getloadavg()[0]:.1f}; Python {platform.python_version()}, {libraries}\n"
    )


sys.exit(main())
