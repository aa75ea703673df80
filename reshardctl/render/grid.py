"""Rows in columns, put together without rich: there may be tens of thousands of them.

The columns stand side by side if nothing is cut for it, else each row is a block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.render.escape import ascii_only, escape

GAPS = ((80, 3), (70, 2), (0, 1))
"""From which width on, how many blanks stand between two columns at most."""


def side_by_side(
    sizes: Sequence[int], least: Sequence[int], room: int
) -> tuple[list[int], int] | None:
    """The width of each column and the gap between two, or None where there is no room.

    sizes: the widest cell of each column. least: how far each may give way.
    """
    widest = next(gap for wide, gap in GAPS if room >= wide)
    for gap in range(widest, 0, -1):
        widths = _widths(sizes, least, room - gap * (len(sizes) - 1))
        if widths is not None:
            return widths, gap
    return None


def _widths(sizes: Sequence[int], least: Sequence[int], room: int) -> list[int] | None:
    """What can give way most gives way first."""
    widths = list(sizes)
    if sum(least) > room:
        return None
    for _ in range(sum(widths) - room):
        widths[max(range(len(widths)), key=lambda i: widths[i] - least[i])] -= 1
    return widths


WRAPS = frozenset({"owner", "rule"})
"""Columns whose cells may go on in the next line, after one of the signs of `_PIECE`."""
RIGHT = frozenset({"lag", "records", "bytes"})
"""Columns of numbers, flushed right."""
BLOCK_LABEL = 12
"""Columns of a name in a block, with the space after it."""
INDENT = 2

_PIECE = re.compile(r"[^-:/@., ]*[-:/@., ]+|[^-:/@., ]+")


class Grid(Struct, frozen=True):
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

    def stacked(self, columns: Sequence[Sequence[str]]) -> Grid:
        """The same cells on several lines for each row, those of a column below each other.

        columns: the heads of each column's cells, the uppermost first; "" for an empty one. Heads
        that the grid has not are empty, too.
        """
        at = {head: index for index, head in enumerate(self.heads)}

        def together(row: Sequence[str]) -> tuple[str, ...]:
            return tuple(
                "\n".join(row[at[head]] if head in at else "" for head in heads)
                for heads in columns
            )

        rows = tuple(map(together, self.rows))
        heads = together(self.heads)
        sizes = tuple(
            max(max(map(_size, cell.split("\n"))) for cell in cells)
            for cells in zip(heads, *rows, strict=True)
        )
        return Grid(heads, rows, sizes)

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
        yield self._row(self.heads)
        for row in self.rows:
            yield self._row(row)

    def _row(self, row: Sequence[str]) -> str:
        if all(
            _size(cell) <= width and "\n" not in cell
            for cell, width in zip(row, self.widths, strict=True)
        ):
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


def laid_out(grids: Iterable[Grid], width: int) -> Iterator[str]:
    """The lines of the first grid that fits without a wrapped cell, or a block for each row.

    The last grid is taken, too, if it fits with wrapped cells. Blocks are those of the first. A
    grid is made only if the one before it does not fit.
    """
    tried = []
    for grid in grids:
        if (fit := side_by_side(grid.sizes, grid.sizes, width)) is not None:
            return replace(grid, widths=tuple(fit[0]), gap=fit[1]).lines()
        tried.append(grid)
    if (fit := side_by_side(tried[-1].sizes, tried[-1].least(), width)) is not None:
        return replace(tried[-1], widths=tuple(fit[0]), gap=fit[1]).lines()
    return _blocks(tried[0], width)


def _blocks(grid: Grid, width: int) -> Iterator[str]:
    """A text for each row: its shard, and below it a line for each cell.

    A cell that has no room beside its name stands below it, whole.
    """
    for row in grid.rows:
        lines = [f"{grid.heads[0]} {row[0]}"]
        for head, cell in list(zip(grid.heads, row, strict=True))[1:]:
            if INDENT + BLOCK_LABEL + _size(cell) <= width:
                lines.append(f"{' ' * INDENT}{head:<{BLOCK_LABEL}}{cell}")
            else:
                lines += [f"{' ' * INDENT}{head}", f"{' ' * 2 * INDENT}{cell}"]
        yield "\n".join(lines)


def _folded(cell: str, width: int) -> list[str]:
    """The cell on lines of at most `width`, broken after signs."""
    if "\n" in cell:
        return [line for part in cell.split("\n") for line in _folded(part, width)]
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
