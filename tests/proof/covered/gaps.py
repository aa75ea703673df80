"""What no test runs, and which of it is excused.

An excuse is successive lines of a file and a reason; it stays true where the lines move, and is
wrong as soon as tests run all that it excuses.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Gap:
    """A line that no test runs; or one that some test runs, and after which none goes on to `to`.

    file: relative to the checkout. to: as coverage.py says it, below 0 for the end of the function.
    """

    file: str
    line: int
    to: int = 0
    text: str = ""

    def __str__(self) -> str:
        if not self.to:
            what = "is run by no test"
        elif self.to > 0:
            what = f"goes on to line {self.to} in no test"
        else:
            what = "ends its function in no test"
        return f"{self.file}:{self.line} {what}: {self.text}"


@dataclass(frozen=True, slots=True)
class Room:
    """What was measured of a room, or of a package of one: consumers/kcl."""

    name: str
    lines: int
    branches: int
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Excuse:
    """Successive lines of a file, without indentation, of which tests miss one, and the reason."""

    file: str
    lines: tuple[str, ...]
    why: str

    def covers(self, root: Path) -> frozenset[int]:
        """The numbers of these lines in the file, wherever they are; none where they are gone."""
        path = root / self.file
        found = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        stripped, size = tuple(text.strip() for text in found), len(self.lines)
        starts = [n for n in range(len(found)) if stripped[n : n + size] == self.lines]
        return frozenset(start + 1 + n for start in starts for n in range(size))


def excuses(path: Path, rooms: Collection[str]) -> Iterator[Excuse]:
    """Those of a file of excuses that are for these rooms.

    Raises:
        ValueError: An entry has no lines, or no reason.
    """
    for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("excused", []):
        lines = tuple(text.strip() for text in entry["lines"].strip().splitlines())
        if not lines or not entry["why"].strip():
            raise ValueError(f"{path}: an excuse in {entry['file']} has no lines or no reason")
        if any(Path(entry["file"]).is_relative_to(Path("reshardctl", room)) for room in rooms):
            yield Excuse(entry["file"], lines, entry["why"])


def possible(gap: Gap, source: str) -> bool:
    """Whether the program could go there. It never leaves a ``match`` by none of its cases: mypy's
    ``exhaustive-match`` holds for the whole package."""
    for node in ast.walk(ast.parse(source)) if gap.to else ():
        if isinstance(node, ast.Match):
            last = node.cases[-1]
            if last.pattern.lineno == gap.line and gap.to != last.body[0].lineno:
                return False
    return True


def judge(rooms: Sequence[Room], excused: Sequence[Excuse], root: Path) -> int:
    """Prints a line for each room, then each gap that is not excused and each excuse without a gap.

    Returns 1 where there is one of these, else 0.
    """
    gaps = {gap for room in rooms for gap in room.gaps}
    forgiven: set[Gap] = set()
    idle = []
    for excuse in excused:
        lines = excuse.covers(root)
        covered = {gap for gap in gaps if gap.file == excuse.file and gap.line in lines}
        forgiven |= covered
        if not covered:
            idle.append(excuse)
    print(f"{'room':<20}{'lines':>8}{'branches':>10}{'excused':>9}{'missing':>9}")
    for room in rooms:
        mine = len(forgiven.intersection(room.gaps))
        missing = len(room.gaps) - mine
        print(f"{room.name:<20}{room.lines:>8}{room.branches:>10}{mine:>9}{missing:>9}")
    for gap in sorted(gaps - forgiven):
        print(gap)
    for excuse in idle:
        print(f"{excuse.file}: an excuse is not needed, or its lines are gone:", *excuse.lines)
    return 1 if gaps - forgiven or idle else 0
