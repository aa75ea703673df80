"""Texts and elements of SVG and HTML, with nothing in them that could become markup."""

from __future__ import annotations

from reshardctl.render.escape import escape

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_TABLE = str.maketrans(_ENTITIES)


def safe(text: str) -> str:
    """The text for an element or an attribute: marks as entities, unseen characters spelled."""
    return escape(text).translate(_TABLE)


def lines(texts: list[str]) -> str:
    """Several lines of one element's text."""
    return "\n".join(safe(text) for text in texts)


def px(value: float) -> str:
    """A length to a thousandth of a pixel, without idle zeros."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def ascii_markup(markup: str) -> str:
    """Other characters as numbers: right in whatever encoding it is stored."""
    return markup.encode("ascii", "xmlcharrefreplace").decode("ascii")
