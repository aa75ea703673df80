"""Counts the situations that were really run against the checked-in list.

The tests note each run in ``target/executed.txt``, or in the file that RESHARDCTL_EXECUTED names;
``python -m tests.interop.kcl.executed`` then compares the two and fails (exit 1) when one of the
list was not run, or one was run that is not in it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from statistics import median

from tests.interop.kcl.built import TARGET
from tests.interop.kcl.situations import LISTED, listed

NOTED = Path(os.environ.get("RESHARDCTL_EXECUTED", TARGET / "executed.txt"))


def begin() -> None:
    """Forget an earlier session."""
    TARGET.mkdir(parents=True, exist_ok=True)
    NOTED.write_text("", encoding="utf-8")


def note(name: str, seconds: float) -> None:
    """Say that the real library was run in this situation, whatever it then did."""
    with NOTED.open("a", encoding="utf-8") as file:
        file.write(f"{name}\t{seconds:.1f}\n")


def _noted() -> dict[str, float]:
    lines = NOTED.read_text(encoding="utf-8").splitlines() if NOTED.exists() else []
    return {name: float(seconds) for name, seconds in (line.split("\t") for line in lines)}


def main() -> int:
    seconds = _noted()
    ran, wanted = set(seconds), listed()
    for name in sorted(wanted - ran):
        print(f"not executed: {name}", file=sys.stderr)
    for name in sorted(ran - wanted):
        print(f"executed, but not in {LISTED.name}: {name}", file=sys.stderr)
    print(f"{len(wanted & ran)} of {len(wanted)} listed situations were executed")
    if seconds:
        times = sorted(seconds.values())
        print(f"seconds a run: median {median(times)}, from {times[0]} to {times[-1]}")
    return 0 if wanted == ran else 1


if __name__ == "__main__":
    sys.exit(main())
