"""Splits and merges as lines of text, parents left of their children or above them.

Side by side where the lines fit the width, else one below the other with long lines wrapped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap

from reshardctl.model import ShardId
from reshardctl.render.families_below import Cells, below
from reshardctl.render.graph.chart import Chart


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
