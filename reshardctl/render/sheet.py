"""A sheet of text: laid out by rich, which is imported only here and only when one is printed.

The columns of a table stand side by side if nothing is cut for it, else each row is a block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.render.context import Context
from reshardctl.render.escape import ascii_only, escape

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text


LEAST = 20
"""Columns that a cell of running text needs to be read."""
GAPS = ((80, 3), (70, 2), (0, 1))
"""From which width on, how many blanks stand between two columns at most."""
_NUMBER = re.compile(r"\d+")


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


def least_of(cells: Sequence[str], size: int) -> int:
    """How narrow a column of running text may be: none of its numbers is broken."""
    numbers = (len(number) for cell in cells for number in _NUMBER.findall(cell))
    return max(min(size, LEAST), *numbers, 0)


WIDEST = 100
NARROWEST = 40
LABEL = 9
"""Columns of a label (`fix`, `writes`) with the space after it."""

BLOCK = 4
"""Columns by which the cells of a row are indented that is a block of its own."""

ALONE = frozenset({"--dry-run", "--bootstrap", "--probe"})
"""Flags that take no value."""

Part = str | tuple[str, str]
"""Words, or words and rich's name of a style."""

_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)


class _Raw(str):
    """Lines to be written as they are."""


class Sheet:
    """Lines from top to bottom. All text that goes in is made harmless here, and nowhere else."""

    def __init__(self, context: Context) -> None:
        self.width = max(NARROWEST, min(context.width, WIDEST))
        self.context = context
        self._rows: list[tuple[RenderableType, bool]] = []
        """What to print, and whether its lines are to stay whole."""

    def text(self, *parts: Part) -> Text:
        """One rich Text, escaped, and in ASCII where that is asked for."""
        from rich.text import Text

        whole = Text()
        for part in parts:
            shown, style = (part, "") if isinstance(part, str) else part
            shown = escape(shown)
            whole.append(ascii_only(shown) if self.context.ascii else shown, style or None)
        return whole

    def blank(self) -> None:
        """An empty line, but never two, and none at the top."""
        if self._rows and self._rows[-1][0] != "":
            self._rows.append(("", False))

    def line(self, *parts: Part, indent: int = 0) -> None:
        """Running text, wrapped at the width."""
        from rich.padding import Padding

        self._rows.append((Padding(self.text(*parts), (0, 0, 0, indent)), False))

    def whole(self, word: Part, indent: int = 0) -> None:
        """One word to copy, as long as it is: a break inside of it would be copied, too."""
        self._rows.append((self.text(" " * indent, word), True))

    def raw(self, text: str) -> None:
        """Whole lines that are laid out and harmless already."""
        self._rows.append((_Raw(text), True))

    def fields(self, *parts: Part, gap: int = 3, indent: int = 0) -> None:
        """Words that stay whole, three spaces apart, on as many lines as they need."""
        rows: list[list[Part]] = [[]]
        used = indent
        for part in parts:
            size = self.text(part).cell_len
            if rows[-1] and used + gap + size > self.width:
                rows.append([])
                used = indent
            used += size + (gap if rows[-1] else 0)
            rows[-1] += [" " * gap, part] if rows[-1] else [part]
        for row in rows:
            self.line(*row, indent=indent)

    def spread(self, left: Sequence[Part], right: Part, indent: int = 0) -> None:
        """Words at both ends of a line; the right ones go below where there is no room."""
        first, last = self.text(*left), self.text(right)
        room = self.width - indent - first.cell_len - last.cell_len
        if room < 2:
            self.line(*left, indent=indent)
            if last.plain:
                self.line(right, indent=indent + 2)
            return
        self.line(*left, " " * room, right, indent=indent)

    def labelled(self, label: Part, *parts: Part, indent: int) -> None:
        """`fix   start 12 at …`: a label and text that wraps beside it."""
        self._beside(self.text(label), self.text(*parts), indent, LABEL)

    def drawing(self, lines: Iterable[str], indent: int) -> None:
        """Lines that are cut at the width, never wrapped."""
        for line in lines:
            text = self.text(" " * indent, line.rstrip())
            text.truncate(self.width, overflow="ellipsis")
            self._rows.append((text, True))

    def table(
        self, heads: Sequence[str], rows: Sequence[Sequence[Part]], right: int = 0,
        wraps: Sequence[str] = (), indent: int = 0,
    ) -> None:
        """Columns with one line of heads; the last `right` of them are flushed right.

        wraps: the heads of the columns that give way where there is no room, the widest first.
        Where that is not enough each row is a block of its own: no cell is ever cut.
        """
        from rich.padding import Padding
        from rich.table import Table

        cells = [[self.text(head) for head in heads], *([self.text(c) for c in r] for r in rows)]
        sizes = [max(row[index].cell_len for row in cells) for index in range(len(heads))]
        least = [
            least_of([row[index].plain for row in cells], sizes[index]) if head in wraps
            else sizes[index]
            for index, head in enumerate(heads)
        ]
        fitted = side_by_side(sizes, least, self.width - indent)
        if fitted is None:
            for row in cells[1:]:
                self._block(cells[0], row, indent)
            return
        widths, gap = fitted
        table = Table(
            box=None, show_edge=False, pad_edge=False, padding=(0, gap, 0, 0), header_style=""
        )
        for index, head in enumerate(cells[0]):
            flush = index >= len(heads) - right
            table.add_column(
                head, justify="right" if flush else "left", overflow="fold",
                no_wrap=heads[index] not in wraps, width=widths[index],
            )
        for row in cells[1:]:
            table.add_row(*row)
        self._rows.append((Padding(table, (0, 0, 0, indent)) if indent else table, False))

    def _block(self, heads: Sequence[Text], cells: Sequence[Text], indent: int) -> None:
        """A row whose cells stand below each other, each after its head; empty ones are left out.

        Cells without a head, and the first that has one, are the block's own first line.
        """
        from rich.text import Text

        first = next(index for index, head in enumerate(heads) if head.plain)
        named = [cell for index, cell in enumerate(cells) if index < first and cell.plain]
        title = Text(" ").join([*named, heads[first], cells[first]])
        self._rows.append((Text.assemble(" " * indent, title), True))
        label = max(head.cell_len for head in heads) + 2
        room = self.width - indent - BLOCK - label
        for head, cell in zip(heads[first + 1 :], cells[first + 1 :], strict=True):
            if not cell.plain:
                continue
            longest = max((len(word) for word in cell.plain.split()), default=0)
            if longest <= room:
                self._beside(head, cell, indent + BLOCK, label)
                continue
            below = Text.assemble(" " * (indent + BLOCK), head, "\n" if head.plain else "")
            self._rows.append((Text.assemble(below, " " * (indent + BLOCK + 2), cell), True))

    def _beside(self, left: Text, right: Text, indent: int, label: int) -> None:
        """Text that wraps, and what it is in front of it."""
        from rich.padding import Padding
        from rich.table import Table

        grid = Table.grid()
        grid.add_column(width=label)
        grid.add_column()
        grid.add_row(left, right)
        self._rows.append((Padding(grid, (0, 0, 0, indent)), False))

    def command(self, arguments: Sequence[str], comment: str = "", indent: int = 2) -> None:
        """A command to copy: broken between words with a backslash, never inside of one.

        comment: follows it after `# `, which a shell leaves out; above it where there is no room.
        """
        rows: list[list[str]] = [[]]
        used = indent
        for word in _with_values(arguments):
            size = self.text(word).cell_len + 1
            if rows[-1] and used + size + 2 > self.width:
                rows.append([])
                used = indent + 4
            rows[-1].append(word)
            used += size
        beside = f"   # {comment}" if comment else ""
        if used - 1 + len(beside) > self.width and comment:
            self.remark(comment, indent)
            beside = ""
        for index, row in enumerate(rows):
            more = " \\" if index < len(rows) - 1 else ""
            text = self.text(
                " " * (indent if index == 0 else indent + 4), (" ".join(row) + more, "bold"),
                ("" if more else beside, "dim"),
            )
            self._rows.append((text, True))

    def hanging(self, label: str, text: str, indent: int = 0, beside: int = 0) -> None:
        """Text that wraps at words beside its label, and never inside of a value to copy.

        beside: columns from the indent to the text.
        """
        first, rest = " " * indent + f"{label:<{beside}}", " " * (indent + beside)
        room, plain = max(self.width - len(rest), 1), self.text(text).plain
        for row in wrap(plain, room, break_long_words=False, break_on_hyphens=False) or [""]:
            self._rows.append((self.text(f"{first}{row}".rstrip()), True))
            first = rest

    def remark(self, text: str, indent: int = 2) -> None:
        """Words that a shell takes for a comment, on as many lines as they need."""
        room = max(self.width - indent - 2, 1)
        plain = self.text(text).plain
        for row in wrap(plain, room, break_long_words=False, break_on_hyphens=False):
            self._rows.append((self.text(" " * indent, (f"# {row}", "dim")), True))

    def render(self) -> str:
        """Everything as one text, with a line end after the last line."""
        out = StringIO()
        laid_out = all(isinstance(row, _Raw) for row, _ in self._rows)
        console = None if laid_out else self._console(out)
        for row, whole in self._rows:
            if console is None or isinstance(row, _Raw):
                out.write(str(row))
            elif whole:
                console.print(row, crop=False, no_wrap=True, overflow="ignore")
            else:
                console.print(row)
        return _TRAILING.sub("", out.getvalue())

    def _console(self, out: StringIO) -> Console:
        from rich.console import Console

        color = self.context.color
        return Console(
            file=out, width=self.width, force_terminal=color, no_color=not color,
            color_system="standard" if color else None, legacy_windows=False,
            markup=False, highlight=False, emoji=False, _environ={},
        )


def _with_values(arguments: Sequence[str]) -> list[str]:
    """A flag and the value after it as one."""
    joined: list[str] = []
    for word in arguments:
        last = joined[-1] if joined else ""
        if last.startswith("--") and last not in ALONE and " " not in last and word[:1] != "-":
            joined[-1] += f" {word}"
        else:
            joined.append(word)
    return joined


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
