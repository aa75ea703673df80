"""A sheet of text: laid out by rich, which is imported only here and only when one is printed.

The columns of a table stand side by side if nothing is cut for it, else each row is a block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING

from reshardctl.render.context import Context
from reshardctl.render.escape import ascii_only, escape
from reshardctl.render.grid import side_by_side

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text


LEAST = 20
"""Columns that a cell of running text needs to be read."""
_NUMBER = re.compile(r"\d+")


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

_TRAILING = re.compile(r"[ \t]+((?:\x1b\[[0-9;]*m)*)[ \t]*$", re.MULTILINE)
"""Blanks at the end of a line, also around the code that ends a colour."""


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
        return _TRAILING.sub(r"\1", out.getvalue())

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
