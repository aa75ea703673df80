"""Counts the situations that were really run against the checked-in list.

The tests note each run in ``target/executed.txt``; ``python -m tests.interop.kcl.executed`` then
compares the two and fails (exit 1) when one of the list was not run.
"""

from __future__ import annotations

import sys

from tests.interop.kcl.built import TARGET
from tests.interop.kcl.situations import LISTED, listed

NOTED = TARGET / "executed.txt"


def begin() -> None:
    """Forget an earlier session."""
    TARGET.mkdir(parents=True, exist_ok=True)
    NOTED.write_text("", encoding="utf-8")


def note(id: str) -> None:
    """Say that the real library was run in this situation, whatever it then did."""
    with NOTED.open("a", encoding="utf-8") as file:
        file.write(id + "\n")


def main() -> int:
    ran = set(NOTED.read_text(encoding="utf-8").split()) if NOTED.exists() else set()
    wanted = listed()
    for id in sorted(wanted - ran):
        print(f"not executed: {id}", file=sys.stderr)
    for id in sorted(ran - wanted):
        print(f"executed, but not in {LISTED.name}: {id}", file=sys.stderr)
    print(f"{len(wanted & ran)} of {len(wanted)} listed situations were executed")
    return 0 if wanted == ran else 1


if __name__ == "__main__":
    sys.exit(main())
