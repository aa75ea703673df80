"""The labels of shards: a number on each box, and beside an open one its position and its lag.

No two labels beside the boxes overlap. Those of losses are placed first; a loss whose box is too
small for a label has one as soon as there is room beside it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence

from reshardctl.render.graph import labels
from reshardctl.render.graph.chart import Box
from reshardctl.render.graph.layout import LEFT, WIDTH, Layout
from reshardctl.render.graph.xml import px, safe

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
