"""docs/architecture.svg is drawn from the layers that import-linter keeps."""

from __future__ import annotations

from scripts.pages.architecture import PAGE, PURE, layers, page
from tests.whole.test_architecture import PURE as CHECKED


def test_the_picture_is_the_one_that_the_script_draws():
    drawn = PAGE.read_text(encoding="utf-8")
    assert drawn == page(), "run: python -m scripts.pages architecture"
    assert all(f">{room}</text>" in drawn for row in layers() for room in row)


def test_the_rooms_shown_as_pure_are_those_that_are_checked():
    assert PURE == CHECKED
