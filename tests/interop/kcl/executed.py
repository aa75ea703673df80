"""Counts the situations that were really run against the checked-in list.

The tests note each run in ``target/executed.txt``, or in the file that RESHARDCTL_EXECUTED names;
``python -m tests.interop.kcl.executed`` then
compares the two and fails (exit 1) when one of the list was not run.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.interop.kcl.built import TARGET
from tests.interop.kcl.situations import LISTED, listed

NOTED = Path(os.environ.get("RESHARDCTL_EXECUTED", TARGET / "executed.txt"))


def begin() -> None:
    """Forget an earlier session."""
    TARGET.mkdir(parents=True, exist_ok=True)
    NOTED.write_text("", encoding="utf-8")


def note(name: str) -> None:
    """Say that the real library was run in this situation, whatever it then did."""
    with NOTED.open("a", encoding="utf-8") as file:
        file.write(name + "\n")


def main() -> int:
    ran = set(NOTED.read_text(encoding="utf-8").split()) if NOTED.exists() else set()
    wanted = listed()
    for name in sorted(wanted - ran):
        print(f"not executed: {name}", file=sys.stderr)
    for name in sorted(ran - wanted):
        print(f"executed, but not in {LISTED.name}: {name}", file=sys.stderr)
    print(f"{len(wanted & ran)} of {len(wanted)} listed situations were executed")
    return 0 if wanted == ran else 1


if __name__ == "__main__":
    sys.exit(main())
