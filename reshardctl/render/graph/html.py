"""A page of its own: the picture, what its colours mean, and the numbers as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reshardctl.model.times import duration, instant
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box, Chart, folded
from reshardctl.render.graph.layout import layout_of
from reshardctl.render.graph.losses import losses_of
from reshardctl.render.graph.svg import is_tall, overview, picture
from reshardctl.render.markup import html_page, legend, safe, table_head
from reshardctl.render.words import count

SAMPLE = '<rect class="{}" x="1" y="1" width="24" height="12"/>'
SHARDS = (
    ('<g class="open">' + SAMPLE.format("life") + "</g>", "open shard"),
    ('<g class="closed">' + SAMPLE.format("life") + "</g>", "closed shard"),
)
EXPIRED = (
    '<line class="orphan" x1="13" y1="1" x2="13" y2="13"/>', "its parent has expired",
)
LINE = (
    ('<line class="tick" x1="13" y1="0" x2="13" y2="14"/>', "processed up to here"),
    (SAMPLE.format("unread"), "unread"),
    (SAMPLE.format("perhaps"), "unread or processed: unknown"),
    (SAMPLE.format("lost"), "will not be read"),
    (SAMPLE.format("may"), "may not be read"),
)
OVERVIEW = "Overview: select a part or a loss to go to it"
ZOOM = [
    '<input type="radio" name="zoom" id="fit" checked><label for="fit">fit the width</label>',
    '<input type="radio" name="zoom" id="full"><label for="full">full size</label>',
    '<input type="radio" name="zoom" id="twice"><label for="twice">twice the size</label>',
]
"""The sizes of the picture; style alone tells them apart, so no script is needed."""
FEW = 64
"""Shards whose table is shown at once; a longer one is opened by hand."""


def draw(chart: Chart) -> str:
    """The page of a stream and, where the chart has one, its consumer; ASCII."""
    crash = [f'<p class="crash">{safe(chart.crash)}</p>'] if chart.crash else []
    return html_page(
        labels.counted_headline(chart),
        [f"<h1>{safe(chart.stream.name)}</h1>", *crash, *drawn(chart, ZOOM)],
    )


def drawn(chart: Chart, zoom: Iterable[str] = ()) -> list[str]:
    """The losses, the legend, the picture and the table, as markup.

    zoom: the controls of its size, whose ids a document has once.
    """
    keys = [*SHARDS, *((EXPIRED,) if chart.expired else ()), *(LINE if chart.consumer else ())]
    shown = ['<div class="picture scroll">', picture(chart).rstrip(), "</div>"]
    return [
        *_losses(chart), *legend(keys), *_overview(chart), *zoom, *shown, *_table(chart),
    ]


def _overview(chart: Chart) -> Iterator[str]:
    shown = folded(chart)
    if chart.consumer and is_tall(layout_of(shown)):
        yield from (f"<h2>{OVERVIEW}</h2>", overview(shown))


def _losses(chart: Chart) -> Iterator[str]:
    """How many there are, and a line for each with a link to its box."""
    losses = losses_of(chart)
    if not losses:
        return
    yield f'<div class="losses"><h2>{safe(labels.loss_count(chart))}</h2><ol>'
    for listed in losses:
        shard = f'<a href="#{listed.anchor}">shard {safe(labels.name(listed.box.shard))}</a>'
        position = listed.position
        parts = [labels.loss(position), labels.stored(position), *position.codes]
        yield f"<li>{shard} {safe(', '.join(parts))}</li>"
    yield "</ol></div>"


def _table(chart: Chart) -> Iterator[str]:
    heads = ["shard", "opened", "closed", "lived", "hash space", "parents"]
    if chart.consumer:
        heads += ["position", "unread", "next start", "findings"]
    few = " open" if len(chart.boxes) <= FEW else ""
    yield f"<details{few}><summary>{count(len(chart.boxes), 'shard')}</summary>"
    yield from table_head(heads)
    for shard in chart.expired:
        cells = f"<td>{safe(labels.name(shard))}</td><td>expired</td>"
        yield f"<tr>{cells}{'<td></td>' * (len(heads) - 2)}</tr>"
    for box in chart.boxes:
        cells = "".join(f"<td>{safe(cell)}</td>" for cell in _cells(box))
        yield f'<tr class="bad">{cells}</tr>' if box.surely_loses else f"<tr>{cells}</tr>"
    yield "</tbody></table></div></details>"


def _cells(box: Box) -> list[str]:
    cells = [
        labels.name(box.shard), instant(box.opened), "open" if box.open else instant(box.closed),
        duration(box.closed - box.opened), labels.share(box),
        ", ".join(labels.name(parent) for parent in box.parents),
    ]
    if box.position is not None:
        cells += [
            labels.stored(box.position), labels.unread(box).removeprefix("unread "),
            labels.loss(box.position), ", ".join(box.position.codes),
        ]
    return cells
