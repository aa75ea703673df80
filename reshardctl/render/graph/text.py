"""For a terminal: every split and merge as a fork, parents left of their children or above them.

Side by side where the lines fit the width, else one below the other with long lines wrapped.
Narrow terminals get the children below their parents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap

from reshardctl.model import ShardId
from reshardctl.render.escape import cut, escape
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box, Chart, folded

Cells = tuple[str, ...]
"""What is said of a shard, its name first; an empty cell is left out."""
GAP = 2
"""Blanks between two cells of a line that may be wrapped."""


def below(
    families: Mapping[tuple[ShardId, ...], Sequence[ShardId]], single: Iterable[ShardId],
    cells: Mapping[ShardId, Cells], width: int,
) -> Iterator[str]:
    """Parents, and their children below them: `7` over `├─ 12` over `└─ 13`.

    A parent that stands among the children of another has its name alone. Parents of a merge are
    joined: `7 ─┐` over `8 ─┘`. families: children by their parents. single: shards without either.
    width: columns that a line may have.
    """
    children = {child for each in families.values() for child in each}
    for parents, family in families.items():
        joints = [" ─┐"] * (len(parents) - 1) + [" ─┘"] if len(parents) > 1 else [""]
        for parent, joint in zip(parents, joints, strict=False):
            row = cells[parent][:1] if parent in children else cells[parent]
            first, *rest = _row(row, width - len(joint), ("", ""))
            yield from (f"{first}{joint}", *rest)
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


def forks(chart: Chart, cells: Mapping[ShardId, Cells], width: int | None) -> Iterator[str]:
    """Every family, elder ones first, then the shards without a parent or a child.

    cells: of every drawn shard and expired parent; as many of each, which stand in columns. width:
    columns that a line may have; `None` for as many as it needs.
    """
    families: dict[tuple[ShardId, ...], list[ShardId]] = {}
    for box in chart.boxes:
        shown = tuple(parent for parent in box.parents if parent in cells)
        families.setdefault(shown, []).append(box.shard)
    alone = families.pop((), [])
    named = {parent for parents in families for parent in parents}
    single = [shard for shard in alone if shard not in named]
    drawn = [box.shard for box in chart.boxes]
    wide = list(_side_by_side(families, single, drawn, cells))
    if width is None or all(len(line.rstrip()) <= width for line in wide):
        yield from wide
    else:
        yield from below(families, single, cells, width)


def fitted(lines: Iterable[str], width: int | None) -> Iterator[str]:
    """Lines of a heading, wrapped to the width."""
    for line in lines:
        yield from [line] if width is None or len(line) <= width else _wrapped(line, width)


def _wrapped(line: str, width: int) -> list[str]:
    """A break may stand at each blank; a word that is longer than a line is broken."""
    return wrap(line, width, subsequent_indent="  ", break_on_hyphens=False)


def _side_by_side(
    families: Mapping[tuple[ShardId, ...], Sequence[ShardId]], single: Iterable[ShardId],
    drawn: Iterable[ShardId], cells: Mapping[ShardId, Cells],
) -> Iterator[str]:
    named = {parent for parents in families for parent in parents}
    heads = _table({shard: cells[shard] for shard in sorted(named)})
    tails = _table({shard: cells[shard] for shard in drawn})
    for parents, family in families.items():
        yield from _fork([heads[parent] for parent in parents], [tails[c] for c in family])
    yield from (tails[shard] for shard in single)


def _fork(heads: list[str], tails: list[str]) -> Iterator[str]:
    """`7 ─┬─ 12` over `└─ 13`; two parents join above: `7 ─┐` over `8 ─┴─ 12`."""
    *upper, last = heads
    yield from (f"{head} ─┐" for head in upper)
    blank = " " * (len(last) + 2)
    for index, tail in enumerate(tails):
        if index:
            yield f"{blank}{'└' if index == len(tails) - 1 else '├'}─ {tail}"
        elif upper:
            yield f"{last} ─{'┴' if len(tails) == 1 else '┼'}─ {tail}"
        else:
            yield f"{last} ─{'─' if len(tails) == 1 else '┬'}─ {tail}"


def _table(rows: Mapping[ShardId, Cells]) -> dict[ShardId, str]:
    """Cells padded to columns; empty columns left out."""
    columns = zip(*rows.values(), strict=True)
    widths = [max(map(len, column)) for column in columns]
    return {
        shard: "   ".join(c.ljust(w) for c, w in zip(row, widths, strict=True) if w)
        for shard, row in rows.items()
    }


MOST_LISTED = 12
"""Shards that the header lists of each kind of loss."""


def draw(whole: Chart, width: int | None = None) -> str:
    """A line a shard and fork, elder families first; what has neither parent nor child alone.

    width: columns of the terminal; `None` for lines as long as they need to be.
    """
    chart = folded(whole)
    boxes = {box.shard: box for box in chart.boxes}
    every = dict.fromkeys([*boxes, *chart.expired])
    cells = {shard: _cells(chart, boxes.get(shard), shard) for shard in every}
    lines = [labels.headline(whole, "   ")]
    if chart.consumer:
        lines.append(escape(cut(chart.consumer, 200)))
    if chart.crash:
        lines.append(f"✗ {escape(cut(chart.crash, 300))}")
    lines += _losses(chart)
    lines = [*fitted(lines, width), "", *forks(chart, cells, width)]
    if chart.folded:
        lines += ["", *fitted([labels.folding(chart)], width)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _losses(chart: Chart) -> Iterator[str]:
    """How many losses of each kind there are, and of which shards: `✗ 2 never read: 4, 5`."""
    for certain, counted, those in labels.kinds_of_loss(chart.boxes):
        names = [labels.name(box.shard) for box in those]
        more = [f"and {len(names) - MOST_LISTED} more"] if len(names) > MOST_LISTED else []
        yield f"{'✗' if certain else '!'} {counted}: {', '.join([*names[:MOST_LISTED], *more])}"
    if hidden := labels.hidden_losses(chart):
        yield f"! {hidden}"


def _cells(chart: Chart, box: Box | None, shard: ShardId) -> Cells:
    name = labels.name(shard)
    if box is None:
        kept = (chart.positions or {}).get(shard)
        return name, "expired", "" if kept is None else labels.spelled(kept), "", ""
    life = labels.life(box, chart.now)
    if box.position is None:
        return name, life, "", "", ""
    return name, life, labels.stored(box.position), labels.unread(box), labels.loss(box.position)
