"""For a terminal: the forks of the stream, with a column for each consumer."""

from __future__ import annotations

from string import ascii_lowercase

from reshardctl.model import ShardId
from reshardctl.render.escape import cut, escape
from reshardctl.render.graph import labels
from reshardctl.render.graph.several.svg import describe
from reshardctl.render.graph.several.together import Line, Together
from reshardctl.render.graph.text import fitted, forks


def draw(whole: Together, width: int | None = None) -> str:
    """Letters stand for the consumers, so that eight of them find room.

    width: columns of the terminal; `None` for lines as long as they need to be.
    """
    shown = whole.folded()
    letters = [_letter(index) for index in range(len(shown.lines))]
    cells = {
        box.shard: (labels.name(box.shard), labels.life(box, shown.base.now), *(
            _cell(letter, line, at) for letter, line in zip(letters, shown.lines, strict=True)
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


def _cell(letter: str, line: Line, at: int) -> str:
    return f"{letter} {labels.standing(line.chart.boxes[at])}"


def _kept(letter: str, line: Line, shard: ShardId) -> str:
    kept = (line.chart.positions or {}).get(shard)
    return "" if kept is None else f"{letter} {escape(cut(kept, labels.LONGEST))}"
