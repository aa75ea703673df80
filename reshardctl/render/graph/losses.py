"""The losses of a chart, in order, and the labels of shards that stand beside them.

A box is never smaller than `LEAST`: a shard with one hash key, or a loss of one second, is seen.
Below a picture that no page surrounds, losses are lines of text, each a link to its box.

A shard has a number on its box and, if it is open, its position and its lag beside it. No two
labels beside the boxes overlap. Those of losses are placed first; a loss whose box is too small for
a label has one as soon as there is room beside it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from textwrap import wrap

from msgspec import Struct

from reshardctl.model import ShardId, index_of
from reshardctl.render.escape import cut
from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box, Chart, DrawnPosition, Loss
from reshardctl.render.graph.layout import LEFT, TOP, WIDTH, Layout
from reshardctl.render.markup import lines, px, safe

LEAST = (8.0, 4.0)
"""Pixels of a loss's box at least: its width and its height."""
APART = 2.0
"""Pixels by which the tops of two boxes of the least height differ, so that both are seen."""
STEP = 6.0
"""Pixels from one spread box to the next; the paper is seen between their outlines."""
MOST_SPREAD = 64
"""Neighbours that are spread; more would be drawn too far from their place."""


class ListedLoss(Struct, frozen=True):
    """A shard and its loss. anchor: the id of the box in a picture, to link to."""

    box: Box
    position: DrawnPosition
    loss: Loss
    anchor: str


def losses_of(chart: Chart) -> list[ListedLoss]:
    """Every loss, the certain ones first, the longest first among them."""
    losses = [
        ListedLoss(box, box.position, box.position.loss, anchor(box.shard))
        for box in chart.boxes
        if box.position is not None and box.position.loss is not None
    ]
    return sorted(losses, key=lambda listed: (
        not listed.loss.certain, listed.loss.since - listed.loss.until
    ))


def kind_of(losses: Iterable[Loss]) -> str:
    """The class of a box: solid where each loss in it is certain, else hatched."""
    return "lost" if all(loss.certain for loss in losses) else "may"


def anchor(shard: ShardId) -> str:
    """The id of a shard's loss: with its number, or with a digest of an id of another form."""
    index = index_of(shard)
    return f"loss-{sha256(shard.encode()).hexdigest()[:16] if index is None else index}"


def loss_boxes(chart: Chart, layout: Layout) -> Iterator[str]:
    """The box of every loss, to be drawn above the line; the certain ones are drawn last."""
    losses = losses_of(chart)
    across = loss_rows([listed.box for listed in losses], layout)
    for listed in reversed(losses):
        names = (kind_of([listed.loss]), listed.anchor)
        yield loss_box(listed.box, [listed.loss], layout, across, names, labels.numbers(listed.box))


Rows = Mapping[ShardId, tuple[float, float]]
"""For each shard with a loss: pixels from the top, and of height."""


def loss_rows(boxes: Iterable[Box], layout: Layout) -> Rows:
    """Where the boxes of these shards' losses lie in the hash space.

    Neighbours that would hide each other, such as shards with one hash key each, are spread evenly
    around their place, between the losses of larger shards above and below where there is room;
    more than `MOST_SPREAD` of them stay where they are.
    """
    rows_of: dict[ShardId, tuple[float, float]] = {}
    groups: list[list[ShardId]] = [[]]
    inside = (TOP, TOP + layout.height)
    for box in sorted(boxes, key=lambda box: (box.low, box.high)):
        top, height = _at_least((layout.y(box.low), layout.y(box.high + 1)), LEAST[1], inside)
        group = groups[-1]
        if group and (height > LEAST[1] or top - rows_of[group[-1]][0] >= APART):
            groups.append([])
        rows_of[box.shard] = top, height
        if height <= LEAST[1]:
            groups[-1].append(box.shard)
    large = [place for place in rows_of.values() if place[1] > LEAST[1]]
    for group in groups:
        if 1 < len(group) <= MOST_SPREAD:
            rows_of |= _spread(group, rows_of, large, inside)
    return rows_of


def _spread(
    group: list[ShardId], rows_of: Rows, large: Iterable[tuple[float, float]],
    inside: tuple[float, float],
) -> dict[ShardId, tuple[float, float]]:
    """A group one below the other, around its middle. large: what it should not cover."""
    first, last = rows_of[group[0]][0], rows_of[group[-1]][0] + LEAST[1]
    above = [top + height for top, height in large if top + height / 2 <= first]
    below = [top for top, height in large if top + height / 2 >= last]
    between = (max(above, default=inside[0]), min(below, default=inside[1]))
    if between[1] - between[0] >= len(group) * LEAST[1]:
        inside = between
    step = min(STEP, (inside[1] - inside[0]) / len(group))
    height = step * len(group)
    top = min(max((first + last) / 2 - height / 2, inside[0]), inside[1] - height)
    return {shard: (top + step * at, LEAST[1]) for at, shard in enumerate(group)}


def loss_box(
    box: Box, losses: Iterable[Loss], layout: Layout, across: Rows, kind: tuple[str, str],
    told: list[str],
) -> str:
    """One box from the first loss to the end of the last.

    across: where it lies in the hash space. kind: its class and its id. told: the lines of its
    tooltip.
    """
    losses = list(losses)
    since = min(max(min(loss.since for loss in losses), box.opened), box.closed)
    until = max(since, min(max(loss.until for loss in losses), box.closed))
    left, width = _at_least(
        (layout.x(since), layout.x(until)), LEAST[0], (LEFT, LEFT + WIDTH)
    )
    top, height = across[box.shard]
    return (
        f'<rect id="{kind[1]}" class="{kind[0]}" data-loss="{safe(box.shard)}" x="{px(left)}" '
        f'y="{px(top)}" width="{px(width)}" height="{px(height)}">'
        f"<title>{lines(told)}</title></rect>"
    )


def _at_least(
    ends: tuple[float, float], least: float, inside: tuple[float, float]
) -> tuple[float, float]:
    """Start and length, widened around the middle to `least` without leaving `inside`."""
    length = ends[1] - ends[0]
    if length >= least:
        return ends[0], length
    start = (ends[0] + ends[1] - least) / 2
    return min(max(start, inside[0]), inside[1] - least), least


LETTER = 0.62
"""Width of a letter, as a share of its height."""
SMALLEST, USUAL = 5.0, 12.0
"""Pixels of the letters on a shard."""
OF_A_LOSS = 9.0
"""Pixels of the letters beside a loss, at least."""
BESIDE, INSIDE = 7.0, 6.0
"""Pixels between a box and the label beside it, and between its left edge and the one on it."""


def shard_labels(boxes: Sequence[Box], layout: Layout) -> Iterator[str]:
    """The texts of all labels."""
    for box in boxes:
        yield from _on(box, layout)
    yield from _beside_all(boxes, layout)


def _on(box: Box, layout: Layout) -> Iterator[str]:
    """The shard's number on it where there is room."""
    left, right = layout.x(box.opened), layout.x(box.closed)
    middle, size = _middle(box, layout)
    name = labels.name(box.shard)
    if size >= SMALLEST and len(name) * size * LETTER + 8 <= right - left:
        kind = "name" + (" on-red" if _label(box)[1] else "")
        yield _text(kind, size, (left + INSIDE, middle), name)


def _beside_all(boxes: Iterable[Box], layout: Layout) -> Iterator[str]:
    """Losses first, the others from the top; one that would overlap is left out."""
    wanted = []
    for box in boxes:
        label, lost = _label(box)
        middle, size = _middle(box, layout)
        size = max(size, OF_A_LOSS) if lost else size
        if size >= SMALLEST and (box.open or lost):
            wanted.append((not lost, middle, size, label))
    taken: list[tuple[float, float]] = []
    room = layout.right - BESIDE
    for fine, middle, size, label in sorted(wanted):
        span = (middle - size / 2, middle + size / 2)
        at = bisect_left(taken, span)
        if (at and taken[at - 1][1] > span[0]) or (at < len(taken) and taken[at][0] < span[1]):
            continue
        insort(taken, span)
        shown = _short(label, int(room / (size * LETTER)))
        yield _text("axis" if fine else "bad", size, (LEFT + WIDTH + BESIDE, middle), shown)


def _middle(box: Box, layout: Layout) -> tuple[float, float]:
    """Pixels from the top of a label's middle, and of its letters."""
    top, height = layout.y(box.low), layout.y(box.high + 1) - layout.y(box.low)
    return top + height / 2, min(USUAL, height * 0.82)


def _text(kind: str, size: float, at: tuple[float, float], label: str) -> str:
    return (
        f'<text class="{kind}" style="font-size:{px(size)}px" x="{px(at[0])}" '
        f'y="{px(at[1] + size * 0.36)}">{safe(label)}</text>'
    )


def _short(label: str, most: int) -> str:
    return label if len(label) <= most else label[: most - 1].rstrip() + "…"


def _label(box: Box) -> tuple[str, bool]:
    """What is said beside a box, and whether it is a certain loss."""
    name = labels.name(box.shard)
    if box.position is None:
        return name, False
    if box.surely_loses:
        return f"{name} · {labels.loss(box.position)}", True
    parts = [f"{name} · {labels.stored(box.position)}", labels.unread(box)]
    return " · ".join(part for part in parts if part), False


ROW = 17.0
"""Pixels of a line."""
MOST_LISTED = 100
"""Losses that are listed; the box of each has its words as a tooltip anyway."""

Entries = list[tuple[str, ListedLoss]]
"""Losses, each after the name of its consumer, "" where there is one consumer."""


class LossList:
    """Lines no wider than the picture; what is longer goes on in the next."""

    def __init__(self, entries: Entries, layout: Layout) -> None:
        letters = int((layout.size[0] - LEFT) / (USUAL * LETTER))
        self._lines = [
            (loss.anchor, wrap(_words(name, loss), letters, subsequent_indent=" " * 4))
            for name, loss in entries[:MOST_LISTED]
        ]
        self._more = len(entries) - MOST_LISTED

    @property
    def height(self) -> float:
        """Pixels that the list needs."""
        rows = sum(len(lines) for _, lines in self._lines) + (self._more > 0)
        return ROW * rows + 8 if rows else 0.0

    def draw(self, top: float) -> Iterator[str]:
        """The lines, from these pixels on."""
        for anchor, told in self._lines:
            texts = []
            for words in told:
                top += ROW
                texts.append(_listed_text(top, words))
            yield f'<a href="#{anchor}">{"".join(texts)}</a>'
        if self._more > 0:
            yield _listed_text(top + ROW, f"and {self._more} more")


def _words(name: str, loss: ListedLoss) -> str:
    shard = f"shard {labels.name(loss.box.shard)}"
    parts = [labels.loss(loss.position), labels.stored(loss.position), *loss.position.codes]
    owner = f"{cut(name, 40)}: " if name else ""
    return f"{owner}{shard}   {', '.join(parts)}"


def _listed_text(bottom: float, words: str) -> str:
    indent = len(words) - len(words.lstrip())
    left = LEFT + indent * USUAL * LETTER
    place = f'x="{px(left)}" y="{px(bottom)}"'
    return f'<text class="bad listed" {place}>{safe(words.lstrip())}</text>'
