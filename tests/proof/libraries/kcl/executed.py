"""Counts the situations that were run, now or as their records say, against the checked-in list.

The tests note each in ``target/executed.txt``, or in the file that RESHARDCTL_EXECUTED names;
``python -m tests.proof.libraries.kcl.executed`` then compares the two and fails (exit 1) when one
of the list was not judged, or one was judged that is not in it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from statistics import median

from tests.proof.libraries.kcl.built import TARGET
from tests.proof.libraries.kcl.situations import LISTED, listed

EXECUTED, RECORDED = "executed", "by the record of an earlier run"
NOTED = Path(os.environ.get("RESHARDCTL_EXECUTED", TARGET / "executed.txt"))


def begin() -> None:
    """Forget an earlier session."""
    TARGET.mkdir(parents=True, exist_ok=True)
    NOTED.write_text("", encoding="utf-8")


def note(name: str, seconds: float, *, recorded: bool) -> None:
    """Say that the real library was run in this situation, whatever it then did."""
    how = RECORDED if recorded else EXECUTED
    with NOTED.open("a", encoding="utf-8") as file:
        file.write(f"{name}\t{how}\t{seconds:.1f}\n")


def _noted() -> dict[str, tuple[str, float]]:
    lines = NOTED.read_text(encoding="utf-8").splitlines() if NOTED.exists() else []
    split = [line.split("\t") for line in lines]
    return {name: (how, float(seconds)) for name, how, seconds in split}


def main() -> int:
    noted = _noted()
    ran, wanted = set(noted), listed()
    for name in sorted(wanted - ran):
        print(f"not judged: {name}", file=sys.stderr)
    for name in sorted(ran - wanted):
        print(f"judged, but not in {LISTED.name}: {name}", file=sys.stderr)
    print(f"{len(wanted & ran)} of {len(wanted)} listed situations were judged:")
    for how in (EXECUTED, RECORDED):
        times = sorted(seconds for said, seconds in noted.values() if said == how)
        took = f"; seconds a run: median {median(times)}, most {times[-1]}" if times else ""
        print(f"  {len(times)} {how}{took}")
    return 0 if wanted == ran else 1


if __name__ == "__main__":
    sys.exit(main())
