"""For a terminal: every split and merge as a fork, parents left and children right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reshardctl.model import ShardId
from reshardctl.render.escape import cut, escape
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box, Chart
from reshardctl.render.graph.folding import folded
from reshardctl.render.graph.losses import losses_of
from reshardctl.render.words import count

Cells = tuple[str, ...]
MOST_LISTED = 12
"""Shards that the header lists of each kind of loss."""


def draw(whole: Chart) -> str:
    """A line a shard and fork, elder families first; what has neither parent nor child alone."""
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
    lines += ["", *forks(chart, cells)]
    if chart.folded:
        lines += ["", labels.folding(chart)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _losses(chart: Chart) -> Iterator[str]:
    """How many losses there are, and of which shards: `✗ 2 losses: 4, 5`."""
    losses = losses_of(chart)
    for mark, certain, one, many in (
        ("✗", True, "loss", "losses"), ("!", False, "possible loss", "possible losses"),
    ):
        names = [labels.name(found.box.shard) for found in losses if found.loss.certain is certain]
        more = [f"and {len(names) - MOST_LISTED} more"] if len(names) > MOST_LISTED else []
        if names:
            shown = ", ".join([*names[:MOST_LISTED], *more])
            yield f"{mark} {count(len(names), one, many)}: {shown}"
    if hidden := labels.hidden_losses(chart):
        yield f"! {hidden}"


def forks(chart: Chart, cells: Mapping[ShardId, Cells]) -> Iterator[str]:
    """cells: of every drawn shard and expired parent; as many of each, which stand in columns."""
    families: dict[tuple[ShardId, ...], list[ShardId]] = {}
    for box in chart.boxes:
        shown = tuple(parent for parent in box.parents if parent in cells)
        families.setdefault(shown, []).append(box.shard)
    alone = families.pop((), [])
    named = {parent for parents in families for parent in parents}
    heads = _table({shard: cells[shard] for shard in sorted(named)})
    tails = _table({box.shard: cells[box.shard] for box in chart.boxes})
    for parents, children in families.items():
        yield from _fork([heads[parent] for parent in parents], [tails[c] for c in children])
    yield from (tails[shard] for shard in alone if shard not in named)


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


def _cells(chart: Chart, box: Box | None, shard: ShardId) -> Cells:
    name = labels.name(shard)
    if box is None:
        kept = (chart.positions or {}).get(shard)
        return name, "expired", "" if kept is None else escape(cut(kept, labels.LONGEST)), "", ""
    life = labels.life(box, chart.now)
    if box.position is None:
        return name, life, "", "", ""
    return name, life, labels.stored(box.position), labels.unread(box), labels.loss(box.position)


def _table(rows: Mapping[ShardId, Cells]) -> dict[ShardId, str]:
    """Cells padded to columns; empty columns left out."""
    columns = zip(*rows.values(), strict=True)
    widths = [max(map(len, column)) for column in columns]
    return {
        shard: "   ".join(c.ljust(w) for c, w in zip(row, widths, strict=True) if w)
        for shard, row in rows.items()
    }
