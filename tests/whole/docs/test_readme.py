"""README is short: a sentence, a picture, a screen of `inspect`, and tables that stay small."""

from __future__ import annotations

import re

from tests.whole.docs.pages import ROOT, Block, blocks

PAGE = ROOT / "README.md"
README = PAGE.read_text(encoding="utf-8")
TWO_LINES = 100
"""Characters of a cell that fit into two lines where the table has two or three columns."""
SCREEN = 24
WIDE = 80


def shown(cell: str) -> str:
    """A cell as a reader sees it: links as their text."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell).replace("`", "").strip()


def test_it_begins_with_one_sentence_and_one_picture():
    _, first, picture, *_ = README.split("\n\n")
    assert len(re.findall(r"[.!?](?=\s|$)", first)) == 1
    assert picture.startswith("![") and README.count("![") == 1
    target = re.findall(r"\]\(([^)]+)\)", picture)[0]
    assert (ROOT / target).is_file()


def test_the_report_fits_on_a_screen():
    first: Block = next(block for block in blocks(PAGE) if block.language == "text")
    lines = first.text.splitlines()
    assert len(lines) <= SCREEN and max(map(len, lines)) <= WIDE
    assert "RSH203" in first.text


def test_no_cell_of_a_table_is_longer_than_two_lines():
    rows = [line for line in README.splitlines() if line.startswith("|")]
    cells = [shown(cell) for row in rows for cell in row.strip("|").split("|")]
    assert len(cells) > 60
    assert [cell for cell in cells if len(cell) > TWO_LINES] == []


def test_every_heading_of_the_order_is_there():
    headings = re.findall(r"^## (.*)$", README, re.MULTILINE)
    wanted = ["Try it", "Install it", "Use it", "Supported systems", "What it never does"]
    assert headings[: len(wanted)] == wanted
