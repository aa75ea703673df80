"""The content of a file, read from its image."""

from __future__ import annotations

import base64
import binascii

from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.model import Image
from reshardctl.model.files import AlikeText, AlikeValue


def was_read(image: Image) -> bool:
    """Whether the file was read, or can never be read."""
    attributes = image.attributes
    return "text" in attributes or "bytes" in attributes or "unread" in attributes


def is_orphan(image: Image) -> bool:
    """Whether only the file's checksum exists."""
    attributes = image.attributes
    return "crc" in attributes and "size" not in attributes and not was_read(image)


def text_of(image: Image) -> str:
    """The file's text; raises Malformed where it has none."""
    return str(kept_text_of(image))


def kept_text_of(image: Image) -> str | AlikeText:
    """The file's text as it is kept, for a file that may be long; raises Malformed as `text_of`."""
    if (value := image.attributes.get("text")) is not None:
        return value.text if isinstance(value, AlikeValue) else str(value["S"])
    if "unread" in image.attributes:
        raise Malformed(f"it cannot be read: {image.attributes['unread']['S']}")
    raise Malformed("it is no UTF-8 text" if "bytes" in image.attributes else "it was not read")


def bytes_of(image: Image) -> bytes | None:
    """The file's content, `None` where it was not read."""
    if "text" in image.attributes:
        return str(image.attributes["text"]["S"]).encode()
    return _binary(image, "bytes")


def crc_of(image: Image) -> bytes | None:
    """The bytes of the checksum file, `None` where there is none."""
    return _binary(image, "crc")


def _binary(image: Image, name: str) -> bytes | None:
    value = image.attributes.get(name, {}).get("B")
    if value is None:
        return None
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError, TypeError):
        return b""
