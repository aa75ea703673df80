"""Pictures as texts, in the format that a test names."""

from __future__ import annotations

from typing import Any

from reshardctl.render.formats import Format
from reshardctl.render.graph.drawings import drawing, drawing_of_several


def draw(form: str, *given: Any, **more: Any) -> str:
    """The picture of a stream, with one consumer at most."""
    return Format(form).write(drawing(*given, **more))


def draw_several(form: str, *given: Any, **more: Any) -> str:
    """The picture of several consumers."""
    return Format(form).write(drawing_of_several(*given, **more))
