"""For programs: one JSON document a call, in ASCII, so that nothing in it can steer a terminal."""

from __future__ import annotations

import json

from reshardctl.render.document import Document
from reshardctl.render.documents import Json
from reshardctl.render.json1 import version_1


def write(document: Document) -> str:
    """The document's data, indented."""
    return _text(document.data)


def write_version_1(document: Document) -> str:
    """The same in the words of version 1."""
    return _text(version_1(document.data))


def _text(data: Json) -> str:
    return json.dumps(data, indent=2, allow_nan=False, ensure_ascii=True) + "\n"
