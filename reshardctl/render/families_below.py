"""Shards as lines of text with the children below their parents, for narrow terminals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap

from reshardctl.model import ShardId

Cells = tuple[str, ...]
"""What is said of a shard, its name first; an empty cell is left out."""
GAP = 2
"""Blanks between two cells of a line that may be wrapped."""


def below(
    families: Mapping[tuple[ShardId, ...], Sequence[ShardId]], single: Iterable[ShardId],
    cells: Mapping[ShardId, Cells], width: int,
) -> Iterator[str]:
    """Parents, and their children below them: `7` over `├─ 12` over `└─ 13`.

    A parent that stands among the children of another has its name alone. families: children by
    their parents. single: shards without either. width: columns that a line may have.
    """
    children = {child for each in families.values() for child in each}
    for parents, family in families.items():
        for parent in parents:
            row = cells[parent][:1] if parent in children else cells[parent]
            yield from _row(row, width, ("", ""))
        for child in family:
            before = ("└─ ", "   ") if child == family[-1] else ("├─ ", "│  ")
            yield from _row(cells[child], width, before)
    for shard in single:
        yield from _row(cells[shard], width, ("", ""))


def _row(row: Cells, width: int, before: tuple[str, str]) -> Iterator[str]:
    """One shard: as many cells as fit a line, the rest below.

    before: what stands before the first line, and before the others.
    """
    first, rest = before
    line = ""
    indent = f"{rest}  "
    room = max(width - len(indent), 1)
    for cell in filter(None, row):
        joined = f"{line}{' ' * GAP}{cell}" if line else cell
        if line and len(joined) > room:
            yield f"{first}{line}"
            first, joined = indent, cell
        fits = len(joined) <= room
        *full, line = [joined] if fits else wrap(joined, room, break_on_hyphens=False)
        for part in full:
            yield f"{first}{part}"
            first = indent
    yield f"{first}{line}"
