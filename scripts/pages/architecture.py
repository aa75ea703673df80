"""Draw docs/architecture.svg: the rooms of the package, in the layers that import-linter keeps.

    .venv/bin/python -m scripts.pages architecture
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.svg"
PURE = frozenset({
    "auditing", "codec", "consumers", "diagnosis", "errors", "exit", "given_secrets", "lineage",
    "model", "planning", "report",
})
"""Rooms without I/O, clock and randomness; tests/whole/test_architecture.py checks them."""
WRITES = frozenset({"execution"})
"""The only room that changes positions."""
LEFT, WIDTH, HEIGHT, GAP = 90, 460, 26, 8
STYLE = """
text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328; }
.small { font: 12px system-ui, sans-serif; fill: #59636e; }
rect { fill: #ffffff; stroke: #59636e; }
.pure { fill: #ddf4e4; }
.writes { stroke: #bc4c00; stroke-width: 2.5; }
path { stroke: #59636e; fill: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .small { fill: #9198a1; }
  rect { fill: #161b22; stroke: #9198a1; }
  .pure { fill: #12361f; }
  .writes { stroke: #f0883e; }
  path { stroke: #9198a1; }
}
"""


def layers() -> list[list[str]]:
    """The rooms, row by row, topmost first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = [
        contract for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    ]
    return [[room.strip() for room in row.split("|")] for row in contract["layers"]]


def page() -> str:
    """The whole drawing."""
    rows = layers()
    bottom = 40 + len(rows) * (HEIGHT + GAP)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {bottom + 52}" '
        'role="img" aria-label="The rooms of reshardctl, each importing only those below it">',
        f"<style>{STYLE}</style>",
        *_arrow(bottom),
        *(line for index, row in enumerate(rows) for line in _row(index, row)),
        *_legend(bottom + 8),
        "</svg>",
        "",
    ])


def _arrow(bottom: int) -> Iterator[str]:
    yield f'<text class="small" x="{LEFT - 10}" y="24" text-anchor="end">imports</text>'
    yield f'<path d="M{LEFT - 34} 34V{bottom - 8}m-5 -8l5 8l5 -8"/>'


def _row(index: int, rooms: Sequence[str]) -> Iterator[str]:
    """Rooms side by side know nothing of one another. index: counted from the topmost row."""
    top = 40 + index * (HEIGHT + GAP)
    width = (WIDTH - GAP * (len(rooms) - 1)) / len(rooms)
    for place, room in enumerate(rooms):
        left = LEFT + place * (width + GAP)
        yield _box(room, left, top, width)
        middle = left + width / 2
        yield f'<text x="{middle:g}" y="{top + 18}" text-anchor="middle">{room}</text>'


def _box(room: str, left: float, top: int, width: float) -> str:
    kinds = [name for name, rooms in (("pure", PURE), ("writes", WRITES)) if room in rooms]
    kind = f' class="{kinds[0]}"' if kinds else ""
    return f'<rect{kind} x="{left:g}" y="{top}" width="{width:g}" height="{HEIGHT}" rx="4"/>'


def _legend(top: int) -> Iterator[str]:
    words = (
        ("pure", "no I/O, clock or randomness"),
        ("writes", "the only code that writes positions"),
    )
    for index, (kind, text) in enumerate(words):
        y = top + index * 20
        yield f'<rect class="{kind}" x="{LEFT}" y="{y}" width="20" height="12" rx="3"/>'
        yield f'<text class="small" x="{LEFT + 28}" y="{y + 11}">{text}</text>'
