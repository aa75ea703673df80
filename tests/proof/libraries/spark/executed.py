"""Counts what the real Spark was started on against the checked-in list.

The tests note each start in ``target/executed.txt``, or in the file that RESHARDCTL_SPARK_EXECUTED
names; ``python -m tests.proof.libraries.spark.executed`` then compares the two and fails (exit 1)
when one of the list was not run, or one was run that is not in it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.proof.libraries.spark.built import HERE, TARGET

LISTED = HERE / "executed.txt"
NOTED = Path(os.environ.get("RESHARDCTL_SPARK_EXECUTED", TARGET / "executed.txt"))


def note(name: str) -> None:
    """Say that Spark was really started in this situation, whatever it then did."""
    TARGET.mkdir(parents=True, exist_ok=True)
    with NOTED.open("a", encoding="utf-8") as file:
        file.write(f"{name}\n")


def _names(path: Path) -> set[str]:
    return set(path.read_text(encoding="utf-8").splitlines()) if path.exists() else set()


def main() -> int:
    ran, wanted = _names(NOTED), _names(LISTED)
    for name in sorted(wanted - ran):
        print(f"not executed: {name}", file=sys.stderr)
    for name in sorted(ran - wanted):
        print(f"executed, but not in {LISTED.name}: {name}", file=sys.stderr)
    print(f"{len(wanted & ran)} of {len(wanted)} listed starts of Spark were executed")
    return 0 if wanted == ran else 1


if __name__ == "__main__":
    sys.exit(main())
