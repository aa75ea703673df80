"""`metadata`: the query's id.

StreamMetadata: `{"id":"<uuid>"}`. Without the file, releases up to 4.1 give the query a new id, and
4.2 and later refuse to start (STREAMING_CHECKPOINT_MISSING_METADATA_FILE; runs, November 2026).
"""

from __future__ import annotations

from reshardctl.consumers.spark.contents import is_orphan, text_of
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.errors import UsageError
from reshardctl.model import Image
from reshardctl.strict import Place, parse


def query_id(image: Image | None) -> tuple[str, str]:
    """The query's id and "", or "" and what is wrong: "absent" for no file at all."""
    if image is None or is_orphan(image):
        return "", "absent"
    try:
        value = parse(text_of(image), Place("metadata"))
    except Malformed as error:
        return "", str(error)
    except UsageError as error:
        return "", error.what
    found = value.get("id") if isinstance(value, dict) else None
    if not isinstance(found, str) or not found:
        return "", "it holds no id"
    return found, ""
