"""The losses as lines of text below a picture that no page surrounds, each a link to its box."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from reshardctl.render.escape import cut
from reshardctl.render.graph import labels
from reshardctl.render.graph.layout import LEFT, Layout
from reshardctl.render.graph.losses import ListedLoss
from reshardctl.render.graph.shard_labels import LETTER, USUAL
from reshardctl.render.graph.xml import px, safe
from reshardctl.render.words import count

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
        for anchor, lines in self._lines:
            texts = []
            for words in lines:
                top += ROW
                texts.append(_text(top, words))
            yield f'<a href="#{anchor}">{"".join(texts)}</a>'
        if self._more > 0:
            yield _text(top + ROW, f"and {count(self._more, 'more loss', 'more losses')}")


def _words(name: str, loss: ListedLoss) -> str:
    shard = f"shard {labels.name(loss.box.shard)}"
    parts = [labels.loss(loss.position), labels.stored(loss.position), *loss.position.codes]
    owner = f"{cut(name, 40)}: " if name else ""
    return f"{owner}{shard}   {', '.join(parts)}"


def _text(bottom: float, words: str) -> str:
    indent = len(words) - len(words.lstrip())
    left = LEFT + indent * USUAL * LETTER
    place = f'x="{px(left)}" y="{px(bottom)}"'
    return f'<text class="bad listed" {place}>{safe(words.lstrip())}</text>'
