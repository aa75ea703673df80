"""The losses as lines of text below a picture that no page surrounds, each a link to its box."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.render.escape import cut
from reshardctl.render.graph import labels
from reshardctl.render.graph.layout import LEFT
from reshardctl.render.graph.losses import ListedLoss
from reshardctl.render.graph.xml import px, safe
from reshardctl.render.words import count

ROW = 17.0
"""Pixels of a line."""
MOST_LISTED = 100
"""Losses that are listed; the box of each has its words as a tooltip anyway."""

Entries = list[tuple[str, ListedLoss]]
"""Losses, each after the name of its consumer, "" where there is one consumer."""


def height(entries: Entries) -> float:
    """Pixels that the list needs."""
    lines = min(len(entries), MOST_LISTED) + (len(entries) > MOST_LISTED)
    return ROW * lines + 8 if lines else 0.0


def loss_list(entries: Entries, top: float) -> Iterator[str]:
    """The lines, from these pixels on."""
    for row, (name, one) in enumerate(entries[:MOST_LISTED]):
        yield f'<a href="#{one.anchor}">{_text(row, top, _words(name, one))}</a>'
    if (more := len(entries) - MOST_LISTED) > 0:
        yield _text(MOST_LISTED, top, f"and {count(more, 'more loss', 'more losses')}")


def _words(name: str, one: ListedLoss) -> str:
    shard = f"shard {labels.name(one.box.shard)}"
    parts = [labels.loss(one.position), labels.stored(one.position), *one.position.codes]
    owner = f"{cut(name, 40)}: " if name else ""
    return f"{owner}{shard}   {', '.join(parts)}"


def _text(row: int, top: float, words: str) -> str:
    place = f'x="{px(LEFT)}" y="{px(top + ROW * (row + 1))}"'
    return f'<text class="bad listed" {place}>{safe(words)}</text>'
