"""A page of several consumers: the picture, whose line is whose, and the places as a table."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.render.escape import cut
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box
from reshardctl.render.graph.html import OVERVIEW, SAMPLE, SHARDS, ZOOM
from reshardctl.render.graph.losses import losses_of
from reshardctl.render.graph.several import svg
from reshardctl.render.graph.several.overview import overview
from reshardctl.render.graph.several.together import Line, Together
from reshardctl.render.graph.svg import is_tall
from reshardctl.render.markup import KEY, html_page, legend, safe, table_head

_LINE = '<line class="line c{}" style="stroke-width:{}px" x1="0" y1="7" x2="26" y2="7"/>'
_LOSSES = (
    (SAMPLE.format("lost"), "a consumer will not read it"),
    (SAMPLE.format("may"), "a consumer may not read it"),
)


def draw(shown: Together) -> str:
    """The page of a stream and its consumers, ASCII."""
    keys = (*SHARDS, *_LOSSES)
    return html_page(labels.headline(shown.base), [
        f"<h1>{safe(shown.base.stream.name)}</h1>", *_losses(shown),
        *legend(keys, _consumers(shown)),
        *_overview(shown), *ZOOM, '<div class="picture scroll">',
        svg.picture(shown, legend=False).rstrip(), "</div>", *_table(shown),
    ])


def _consumers(shown: Together) -> Iterator[str]:
    for index, line in enumerate(shown.lines):
        width = min(svg.thickness(index, len(shown.lines)), 10.0)
        crash = ' class="crash"' if line.chart.crash else ""
        sample = KEY.format(_LINE.format(index, width))
        yield f"<li{crash}>{sample}{safe(svg.describe(line))}</li>"


def _overview(whole: Together) -> Iterator[str]:
    shown = whole.folded()
    if is_tall(shown.layout()):
        yield from (f"<h2>{OVERVIEW}</h2>", overview(shown))


def _losses(shown: Together) -> Iterator[str]:
    """How many each consumer has, with links to their boxes."""
    for line in shown.lines:
        if losses := losses_of(line.chart):
            links = ", ".join(
                f'<a href="#{listed.anchor}">{safe(labels.name(listed.box.shard))}</a>'
                for listed in losses
            )
            counted = f"{cut(line.name, 80)}: {labels.loss_count(line.chart)}"
            yield f'<p class="losses"><b>{safe(counted)}</b>: {links}</p>'


def _table(shown: Together) -> Iterator[str]:
    heads = ["shard", "lived", *(safe(line.name) for line in shown.lines)]
    yield from table_head(heads)
    for at, box in enumerate(shown.base.boxes):
        cells = [labels.name(box.shard), labels.life(box, shown.base.now)]
        row = "".join(f"<td>{safe(cell)}</td>" for cell in cells)
        yield f"<tr>{row}{''.join(_cell(line, at) for line in shown.lines)}</tr>"
    yield "</tbody></table></div>"


def _cell(line: Line, at: int) -> str:
    """Boxes stand in the same order in every chart of a stream."""
    box: Box = line.chart.boxes[at]
    if box.position is None:
        return "<td></td>"
    kind = ' class="bad"' if box.surely_loses else ""
    return f"<td{kind}>{safe(labels.standing(box))}</td>"
