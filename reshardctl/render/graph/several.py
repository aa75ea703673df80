"""Pictures of several consumers of one stream: a line for each, and red where one of them loses.

Where positions coincide, lines are drawn with decreasing width, so each stays visible, also through
the red. Nothing else is shaded, because what one has not read another has. At a terminal each has a
column, on a page the places are a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_lowercase

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.render.escape import cut, escape
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import (
    EVERY_SHARD,
    Box,
    Chart,
    DrawnPosition,
    DrawnShards,
    Loss,
    chart_of,
    finished,
    select,
    without,
)
from reshardctl.render.graph.html import OVERVIEW, SAMPLE, SHARDS, ZOOM
from reshardctl.render.graph.layout import LEFT, Layout, layout_of, open_edge
from reshardctl.render.graph.losses import (
    LossList,
    anchor,
    kind_of,
    loss_box,
    loss_rows,
    losses_of,
    shard_labels,
)
from reshardctl.render.graph.svg import (
    HEIGHT,
    axes,
    framed,
    is_tall,
    link_to,
    part_anchors,
    processed,
    rect,
)
from reshardctl.render.graph.text import fitted, forks
from reshardctl.render.markup import (
    KEY,
    PATTERNS,
    STYLE,
    ascii_markup,
    html_page,
    legend,
    lines,
    px,
    safe,
    table_head,
)
from reshardctl.report.report import Report


class Line(Struct, frozen=True):
    """One consumer. chart: of the stream, with this consumer's places in the boxes of all."""

    name: str
    chart: Chart


class Together(Struct, frozen=True):
    """base: the stream alone. lines: the consumers, in their order."""

    base: Chart
    lines: tuple[Line, ...]

    def layout(self) -> Layout:
        """One axis for all: it begins before the first unread record of any consumer."""
        return layout_of(self.slowest())

    def slowest(self) -> Chart:
        """The stream with what not every consumer has processed of each shard."""
        boxes = tuple(
            replace(box, position=_earliest([line.chart.boxes[at].position for line in self.lines]))
            for at, box in enumerate(self.base.boxes)
        )
        return replace(self.base, boxes=boxes)

    def folded(self) -> Together:
        """Without the shards that every consumer has finished, where there are many."""
        if not self.lines:
            return self
        left_out = finished([line.chart for line in self.lines])
        lines = (Line(line.name, without(line.chart, left_out)) for line in self.lines)
        return Together(without(self.base, left_out), tuple(lines))

    def lost(self) -> dict[Box, list[Loss]]:
        """What of each shard one of them will not read, or may not; other shards are left out.

        The certain losses come last, to be drawn above the others.
        """
        losses_of: dict[Box, list[Loss]] = {}
        for at, box in enumerate(self.base.boxes):
            for line in self.lines:
                if loss := line.chart.boxes[at].loss:
                    losses_of.setdefault(box, []).append(loss)
        certain = {box: all(loss.certain for loss in losses) for box, losses in losses_of.items()}
        return {box: losses_of[box] for box in sorted(losses_of, key=lambda box: certain[box])}


def together(
    lineage: Lineage, now: float, reports: Sequence[tuple[str, Report]],
    selection: DrawnShards = EVERY_SHARD,
) -> Together:
    """The consumers' reports on this lineage, each with its name. now: Unix seconds."""
    charts = [chart_of(lineage, now), *(chart_of(lineage, now, report) for _, report in reports)]
    base, *rest = select(charts, selection)
    names = [name for name, _ in reports]
    return Together(base, tuple(map(Line, names, rest)))


def _earliest(places: Sequence[DrawnPosition | None]) -> DrawnPosition | None:
    owing = [position for position in places if position is not None and position.since is not None]
    return min(owing, key=lambda position: position.since or 0.0, default=None)


COLORS = (
    ("#0b3d91", "#9ec5ff"), ("#b34700", "#ffb27a"), ("#00695c", "#6fe0cf"), ("#7b1fa2", "#e0a8f5"),
    ("#616100", "#e6e07a"), ("#ad1457", "#ff9ac4"),
)
"""Light and dark. With more consumers they come again, dashed."""
THINNEST, STEP, THICKEST = 2.2, 2.2, 12.0
"""Pixels: the uppermost line, by how much each below it is thicker, and at most."""
ROW = 18.0
"""Pixels of a line of the legend."""


def draw_svg(shown: Together) -> str:
    """A document of its own; ASCII."""
    return ascii_markup('<?xml version="1.0" encoding="UTF-8"?>\n' + picture(shown))


def picture(whole: Together, legend: bool = True) -> str:
    """The svg element. legend: below the picture with the losses, where no page has them."""
    shown = whole.folded()
    layout = shown.layout()
    width, height = layout.size
    losses = LossList([
        (line.name, loss) for line in shown.lines for loss in losses_of(line.chart)
    ] if legend else [], layout)  # fmt: skip
    below = height + (ROW * len(shown.lines) + 8 if legend else 0)
    tall = below + losses.height
    headline = safe(labels.headline(whole.base))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="reshard" role="img" '
        f'width="{px(width)}" height="{px(tall)}" viewBox="0 0 {px(width)} {px(tall)}" '
        f'data-since="{px(layout.since)}" data-until="{px(layout.until)}">',
        f"<title>{headline}</title>", f"<style>{STYLE}{style(len(shown.lines))}</style>",
        PATTERNS.rstrip(), f'<text class="title" x="{px(LEFT)}" y="20">{headline}</text>',
        *axes(shown.base, layout), *(part_anchors(layout) if is_tall(layout) else ()),
    ]
    for at in range(len(shown.base.boxes)):
        parts += _shard(at, shown, layout)
    for index, line in enumerate(shown.lines):
        parts.append(_line(line, index, len(shown.lines), layout))
    parts += _drawn_losses(shown, layout)
    parts += shard_labels(shown.base.boxes, layout)
    if legend:
        parts += [*_legend(shown, height), *losses.draw(below)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def style(number: int) -> str:
    """The colours of so many lines."""
    rules = [".reshard polyline~.lost{fill-opacity:.55}"]
    for index in range(number):
        light, dark = COLORS[index % len(COLORS)]
        dashes = ";stroke-dasharray:9 4" if index >= len(COLORS) else ""
        rules.append(f".reshard .c{index}{{--line:{light}{dashes}}}")
        rules.append(
            f"@media (prefers-color-scheme:dark){{.reshard .c{index}{{--line:{dark}}}}}"
        )
    return "\n" + "\n".join(rules) + "\n"


def thickness(index: int, number: int) -> float:
    """Pixels of a line; the last is drawn last and is the thinnest."""
    return min(THINNEST + STEP * (number - 1 - index), THICKEST)


def describe(line: Line) -> str:
    """A consumer in one line: its name, its locator, its losses, and whether it crashes."""
    parts = [cut(line.name, 80)]
    if line.chart.consumer not in ("", line.name):
        parts.append(cut(line.chart.consumer, 120))
    if counted := labels.loss_count(line.chart):
        parts.append(counted)
    if line.chart.crash:
        parts.append(cut(line.chart.crash, 160))
    return "   ".join(parts)


def _shard(at: int, shown: Together, layout: Layout) -> Iterator[str]:
    box = shown.base.boxes[at]
    top, height = layout.y(box.low), layout.y(box.high + 1) - layout.y(box.low)
    kind = ("open" if box.open else "closed") + (" thin" if height < 8 else "")
    told = [*labels.numbers(box), *_standings(at, shown)]
    yield f'<g class="shard {kind}"><title>{lines(told)}</title>'
    name = f'class="life" data-shard="{safe(box.shard)}" '
    yield rect(layout, name, (box.opened, box.closed), (top, height))
    yield "</g>"


def _drawn_losses(shown: Together, layout: Layout) -> Iterator[str]:
    lost = shown.lost()
    across = loss_rows(lost, layout)
    places = {box.shard: at for at, box in enumerate(shown.base.boxes)}
    for box, losses in lost.items():
        told = [*labels.numbers(box), *_standings(places[box.shard], shown)]
        yield loss_box(box, losses, layout, across, (kind_of(losses), anchor(box.shard)), told)


def _standings(at: int, shown: Together) -> Iterator[str]:
    for line in shown.lines:
        if standing := labels.standing(line.chart.boxes[at]):
            yield f"{cut(line.name, 40)}: {standing}"


def _line(line: Line, index: int, number: int, layout: Layout) -> str:
    points: list[str] = []
    for low, end, moment in open_edge(line.chart, layout.until):
        x = px(layout.x(moment))
        points += [f"{x},{px(layout.y(low))}", f"{x},{px(layout.y(end))}"]
    width = px(thickness(index, number))
    return (
        f'<polyline class="line c{index}" data-consumer="{safe(line.name)}" '
        f'style="stroke-width:{width}px" points="{" ".join(points)}">'
        f"<title>{safe(describe(line))}</title></polyline>"
    )


def _legend(shown: Together, height: float) -> Iterator[str]:
    for index, line in enumerate(shown.lines):
        y = height + ROW * index + 6
        width = px(thickness(index, len(shown.lines)))
        yield (
            f'<line class="line c{index}" style="stroke-width:{width}px" x1="{px(LEFT)}" '
            f'y1="{px(y)}" x2="{px(LEFT + 28)}" y2="{px(y)}"/>'
        )
        yield f'<text x="{px(LEFT + 38)}" y="{px(y + 4)}">{safe(describe(line))}</text>'


def overview(shown: Together) -> str:
    """The svg element."""
    layout = replace(shown.layout(), height=HEIGHT)
    drawn = [*processed(shown.slowest(), layout), *_overview_losses(shown, layout)]
    return framed(layout, labels.headline(shown.base), drawn)


def _overview_losses(shown: Together, layout: Layout) -> Iterator[str]:
    lost = shown.lost()
    across = loss_rows(lost, layout)
    for box, losses in lost.items():
        target = anchor(box.shard)
        told = [f"shard {labels.name(box.shard)}"]
        names = (kind_of(losses), f"overview-{target}")
        yield link_to(target, loss_box(box, losses, layout, across, names, told))


def draw_text(whole: Together, width: int | None = None) -> str:
    """Letters stand for the consumers, so that eight of them find room.

    width: columns of the terminal; `None` for lines as long as they need to be.
    """
    shown = whole.folded()
    letters = [_letter(index) for index in range(len(shown.lines))]
    cells = {
        box.shard: (labels.name(box.shard), labels.life(box, shown.base.now), *(
            _text_cell(letter, line, at) for letter, line in zip(letters, shown.lines, strict=True)
        ))
        for at, box in enumerate(shown.base.boxes)
    }  # fmt: skip
    for shard in shown.base.expired:
        kept = [
            _kept(letter, line, shard) for letter, line in zip(letters, shown.lines, strict=True)
        ]
        cells[shard] = (labels.name(shard), "expired", *kept)
    lines = [labels.headline(whole.base, "   ")]
    lines += [
        f"{letter}  {escape(describe(line))}"
        for letter, line in zip(letters, shown.lines, strict=True)
    ]
    lines = [*fitted(lines, width), "", *forks(shown.base, cells, width)]
    if shown.base.folded:
        lines += ["", *fitted([labels.folding(shown.base)], width)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _letter(index: int) -> str:
    first, last = divmod(index, len(ascii_lowercase))
    return (ascii_lowercase[first - 1] if first else "") + ascii_lowercase[last]


def _text_cell(letter: str, line: Line, at: int) -> str:
    return f"{letter} {labels.standing(line.chart.boxes[at])}"


def _kept(letter: str, line: Line, shard: ShardId) -> str:
    kept = (line.chart.positions or {}).get(shard)
    return "" if kept is None else f"{letter} {escape(cut(kept, labels.LONGEST))}"


_LINE = '<line class="line c{}" style="stroke-width:{}px" x1="0" y1="7" x2="26" y2="7"/>'
_LOSSES = (
    (SAMPLE.format("lost"), "a consumer will not read it"),
    (SAMPLE.format("may"), "a consumer may not read it"),
)


def draw_page(shown: Together) -> str:
    """The page of a stream and its consumers, ASCII."""
    keys = (*SHARDS, *_LOSSES)
    return html_page(labels.headline(shown.base), [
        f"<h1>{safe(shown.base.stream.name)}</h1>", *_listed_losses(shown),
        *legend(keys, _consumers(shown)),
        *_overview(shown), *ZOOM, '<div class="picture scroll">',
        picture(shown, legend=False).rstrip(), "</div>", *_table(shown),
    ])


def _consumers(shown: Together) -> Iterator[str]:
    for index, line in enumerate(shown.lines):
        width = min(thickness(index, len(shown.lines)), 10.0)
        crash = ' class="crash"' if line.chart.crash else ""
        sample = KEY.format(_LINE.format(index, width))
        yield f"<li{crash}>{sample}{safe(describe(line))}</li>"


def _overview(whole: Together) -> Iterator[str]:
    shown = whole.folded()
    if is_tall(shown.layout()):
        yield from (f"<h2>{OVERVIEW}</h2>", overview(shown))


def _listed_losses(shown: Together) -> Iterator[str]:
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
        yield f"<tr>{row}{''.join(_table_cell(line, at) for line in shown.lines)}</tr>"
    yield "</tbody></table></div>"


def _table_cell(line: Line, at: int) -> str:
    """Boxes stand in the same order in every chart of a stream."""
    box: Box = line.chart.boxes[at]
    if box.position is None:
        return "<td></td>"
    kind = ' class="bad"' if box.surely_loses else ""
    return f"<td{kind}>{safe(labels.standing(box))}</td>"
