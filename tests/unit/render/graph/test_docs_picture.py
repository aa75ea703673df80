"""docs/status.md shows what the tool prints, and docs/graph.svg what it draws."""

from __future__ import annotations

from reshardctl.render.graph.text import draw
from tests.unit.render.graph.docs_picture import PAGE, PICTURE, chart, picture

AGAIN = "run: python -m tests.unit.render.graph.docs_picture"


def test_the_picture_is_up_to_date():
    assert PICTURE.read_text(encoding="utf-8") == picture(), AGAIN


def test_the_text_is_what_is_printed():
    assert draw(chart()) in PAGE.read_text(encoding="utf-8")
