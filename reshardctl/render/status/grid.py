"""Rows of cells as lines: columns side by side where nothing is cut for it, else blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from reshardctl.render.columns import side_by_side
from reshardctl.render.escape import ascii_only, escape

WRAPS = frozenset({"owner", "rule"})
"""Columns whose cells may go on in the next line, after one of the signs of `_PIECE`."""
RIGHT = frozenset({"lag", "records", "bytes"})
"""Columns of numbers, flushed right."""
LABEL = 10
"""Columns of a name in a block, with the space after it."""
INDENT = 2

_PIECE = re.compile(r"[^-:/@., ]*[-:/@., ]+|[^-:/@., ]+")


@dataclass(frozen=True, slots=True)
class Grid:
    """Heads and rows whose cells are harmless for a terminal.

    sizes: the widest cell of each column. widths, gap: as laid out, empty before.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sizes: tuple[int, ...]
    widths: tuple[int, ...] = ()
    gap: int = 1

    @classmethod
    def of(cls, heads: Sequence[str], rows: Sequence[Sequence[str]], ascii_: bool) -> Grid:
        """Escapes every cell. ascii_: nothing beyond ASCII is written."""
        tame = tuple(
            tuple(ascii_only(escape(cell)) if ascii_ else escape(cell) for cell in row)
            for row in rows
        )
        columns = zip(heads, *tame, strict=True)
        return cls(tuple(heads), tame, tuple(max(map(_size, cells)) for cells in columns))

    def least(self) -> list[int]:
        """How narrow each column may be: no word in it is ever cut."""
        least = list(self.sizes)
        for index, head in enumerate(self.heads):
            if head in WRAPS:
                pieces = (p for row in self.rows for p in _PIECE.findall(row[index]))
                longest = max((_size(piece.rstrip()) for piece in pieces), default=0)
                least[index] = min(least[index], max(longest, _size(head)))
        return least

    def lines(self) -> Iterator[str]:
        """The line of heads, and one text for each row; a text may have several lines."""
        yield self._line(self.heads)
        for row in self.rows:
            yield self._row(row)

    def _row(self, row: Sequence[str]) -> str:
        if all(_size(cell) <= width for cell, width in zip(row, self.widths, strict=True)):
            return self._line(row)
        wrapped = [_folded(cell, width) for cell, width in zip(row, self.widths, strict=True)]
        deep = max(map(len, wrapped))
        return "\n".join(
            self._line([part[index] if index < len(part) else "" for part in wrapped])
            for index in range(deep)
        )

    def _line(self, cells: Sequence[str]) -> str:
        padded = [
            _padded(cell, width, head in RIGHT)
            for cell, width, head in zip(cells, self.widths, self.heads, strict=True)
        ]
        return (" " * self.gap).join(padded).rstrip()


def fitting(grids: Sequence[Grid], width: int) -> Grid | None:
    """The first grid that fits without a wrapped cell, else the last one if it fits with some."""
    for grid in grids:
        if (fit := side_by_side(grid.sizes, grid.sizes, width)) is not None:
            return replace(grid, widths=tuple(fit[0]), gap=fit[1])
    if (fit := side_by_side(grids[-1].sizes, grids[-1].least(), width)) is not None:
        return replace(grids[-1], widths=tuple(fit[0]), gap=fit[1])
    return None


def blocks(grid: Grid, width: int) -> Iterator[str]:
    """A text for each row: its shard, and below it a line for each cell.

    A cell that has no room beside its name stands below it, whole.
    """
    for row in grid.rows:
        lines = [f"{grid.heads[0]} {row[0]}"]
        for head, cell in list(zip(grid.heads, row, strict=True))[1:]:
            if INDENT + LABEL + _size(cell) <= width:
                lines.append(f"{' ' * INDENT}{head:<{LABEL}}{cell}")
            else:
                lines += [f"{' ' * INDENT}{head}", f"{' ' * 2 * INDENT}{cell}"]
        yield "\n".join(lines)


def _folded(cell: str, width: int) -> list[str]:
    """The cell on lines of at most `width`, broken after signs."""
    if _size(cell) <= width:
        return [cell]
    lines = [""]
    for piece in _PIECE.findall(cell):
        if lines[-1] and _size(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _padded(cell: str, width: int, right: bool) -> str:
    blank = " " * (width - _size(cell))
    return blank + cell if right else cell + blank


def _size(text: str) -> int:
    """Columns of a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
