"""docs/architecture.svg is drawn from the layers that import-linter keeps."""

from __future__ import annotations

from scripts.architecture_picture import PICTURE, PURE, layers, picture
from tests.whole.test_architecture import PURE as CHECKED


def test_the_picture_is_the_one_that_the_script_draws():
    drawn = PICTURE.read_text(encoding="utf-8")
    assert drawn == picture(), "run: python scripts/architecture_picture.py"
    assert all(f">{room}</text>" in drawn for row in layers() for room in row)


def test_the_rooms_shown_as_pure_are_those_that_are_checked():
    assert PURE == CHECKED
