"""Writes of whole files, with the checksum that Hadoop keeps beside a local file."""

from __future__ import annotations

import base64

from reshardctl.consumers.spark.checksum import checksum
from reshardctl.consumers.spark.table_log import VALUE, is_row
from reshardctl.model import Attributes, Create, Delete, Image, Update, Write

GUARD = ("text", "bytes", "crc")
ROW_GUARD = (VALUE,)


def created(key: str, text: str, like: Image, why: str) -> Write:
    """Creates a file, with a checksum if `like` has one."""
    return Write(key, Create(_content(text, "crc" in like.attributes)), None, why)


def replaced(image: Image, text: str, why: str) -> Write:
    """Replaces a file's content."""
    other = ("bytes",) if "bytes" in image.attributes else ()  # it was no UTF-8 text
    return Write(
        image.key, Update(_content(text, "crc" in image.attributes), other), image, why, GUARD
    )


def removed(image: Image, why: str) -> Write:
    """Removes a file and its checksum, or a row of a log in a table."""
    return Write(image.key, Delete(), image, why, ROW_GUARD if is_row(image) else GUARD)


def _content(text: str, summed: bool) -> Attributes:
    content = {"text": {"S": text}}
    if summed:
        crc = checksum(text.encode())
        content["crc"] = {"B": base64.b64encode(crc).decode()}
    return content
