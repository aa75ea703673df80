"""What the image of a file holds."""

from __future__ import annotations

import base64
import binascii

from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.model import Image


def was_read(image: Image) -> bool:
    """Whether it was read, or never can be."""
    return not {"text", "bytes", "unread"}.isdisjoint(image.attributes)


def is_orphan(image: Image) -> bool:
    """Whether only its checksum is there."""
    return "crc" in image.attributes and not was_read(image) and "size" not in image.attributes


def text_of(image: Image) -> str:
    """Its content. Raises Malformed where there is none that is text."""
    if "text" in image.attributes:
        return str(image.attributes["text"]["S"])
    if "unread" in image.attributes:
        raise Malformed(f"it cannot be read: {image.attributes['unread']['S']}")
    raise Malformed("it is no UTF-8 text" if "bytes" in image.attributes else "it was not read")


def bytes_of(image: Image) -> bytes | None:
    """Its content, `None` where it was not read."""
    if "text" in image.attributes:
        return str(image.attributes["text"]["S"]).encode()
    return _binary(image, "bytes")


def crc_of(image: Image) -> bytes | None:
    """The bytes of its checksum file, `None` where there is none."""
    return _binary(image, "crc")


def _binary(image: Image, name: str) -> bytes | None:
    value = image.attributes.get(name, {}).get("B")
    if value is None:
        return None
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError, TypeError):
        return b""
