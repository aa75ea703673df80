"""`metadata`: the query's id.

StreamMetadata: `{"id":"<uuid>"}`. Without the file, releases up to 4.1 give the query a new id, and
4.2 and later refuse to start (STREAMING_CHECKPOINT_MISSING_METADATA_FILE; runs, November 2026). A
file without a UUID keeps every release from starting (14 texts on Spark 3.5.9, 4.0.5 and 4.3.0).
"""

from __future__ import annotations

import re
from hashlib import sha256

from reshardctl.consumers.spark.contents import is_orphan, text_of
from reshardctl.consumers.spark.json4s import member, members_of
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.model import Image

_UUID = re.compile(r"[0-9a-f]{1,8}(?:-[0-9a-f]{1,4}){3}-[0-9a-f]{1,12}", re.IGNORECASE)
"""A UUID as java.util.UUID.fromString takes it."""


def query_id(image: Image | None) -> tuple[str, str]:
    """The query's id and "", or "" and what is wrong: "absent" for no file at all."""
    if image is None or is_orphan(image):
        return "", "absent"
    try:
        query = member(members_of(text_of(image), "it"), "id")
    except Malformed as error:
        return "", str(error)
    if not isinstance(query, str) or not _UUID.fullmatch(query):
        return "", "it holds no id"
    return query, ""


def metadata_of(image: Image | None, like: Image) -> str:
    """A readable `metadata` file: with the id of the unreadable one, else with a new id.

    The new id is always the same for the same checkpoint. like: its newest offset log.
    """
    text = "" if image is None else str(image.attributes.get("text", {}).get("S", ""))
    kept = _UUID.search(text)
    return f'{{"id":"{kept[0] if kept else _new_id(like)}"}}'


def _new_id(like: Image) -> str:
    digits = sha256(f"{like.key} {like.attributes}".encode()).hexdigest()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))
