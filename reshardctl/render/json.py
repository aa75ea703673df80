"""For programs: one JSON document a call, in ASCII, so that nothing in it can steer a terminal."""

from __future__ import annotations

import json

from reshardctl.render.document import Document


def write(document: Document) -> str:
    """The document's data, indented."""
    return json.dumps(document.data, indent=2, allow_nan=False, ensure_ascii=True) + "\n"
