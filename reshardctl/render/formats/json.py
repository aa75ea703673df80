"""For programs: one JSON document a call, in ASCII, so that nothing in it can steer a terminal."""

from __future__ import annotations

from reshardctl.render.document import Document
from reshardctl.render.escape import indented


def write(document: Document) -> str:
    """The document's data, indented."""
    return indented(document.data)
