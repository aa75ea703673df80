"""The frame of every HTML page: its head, and the keys of a legend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reshardctl.render.graph.style import PAGE
from reshardctl.render.graph.xml import ascii_markup, safe

KEY = '<svg class="reshard" width="26" height="14">{}</svg>'
"""The sample of a legend's key."""


def html_page(title: str, body: Iterable[str], style: str = PAGE) -> str:
    """A whole page in ASCII, whose policy forbids loading anything from elsewhere.

    title: not escaped yet. body: lines of markup.
    """
    lines = [
        "<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        '<meta http-equiv="Content-Security-Policy" '
        'content="default-src \'none\'; style-src \'unsafe-inline\'">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{safe(title)}</title>", f"<style>{style}</style>", "</head>", "<body>",
        *body, "</body>", "</html>",
    ]
    return ascii_markup("\n".join(lines)) + "\n"


def legend(keys: Iterable[tuple[str, str]], first: Iterable[str] = ()) -> list[str]:
    """A list of samples and their meanings, both markup. first: items above them."""
    items = [f"<li>{KEY.format(sample)}{meaning}</li>" for sample, meaning in keys]
    return ['<ul class="legend">', *first, *items, "</ul>"]


def table_head(heads: Iterable[str]) -> Iterator[str]:
    """The beginning of a table that can be scrolled; its rows and end follow. heads: markup."""
    cells = "".join(f"<th>{head}</th>" for head in heads)
    yield from ('<div class="scroll"><table>', f"<thead><tr>{cells}</tr></thead>", "<tbody>")
