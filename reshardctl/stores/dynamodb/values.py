"""Attribute values between boto3 and Images: bytes as base64 text, sets in order."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from reshardctl.model import Attributes, AttributeValue, Image, TableShape, canonical

REPLICATION = "aws:rep:"
"""The head of attributes that DynamoDB itself adds to every item of a global table, version
2017.11.29 (aws:rep:deleting, aws:rep:updatetime, aws:rep:updateregion), at every write: they are no
part of a row, and nobody else may write them. Later versions hide them."""


def image_of(item: Mapping[str, Any], shape: TableShape) -> Image:
    """The image of an item as boto3's client returns it."""
    attributes = {
        name: _read(value) for name, value in item.items() if not name.startswith(REPLICATION)
    }
    key = shape.image_key(*(item[name]["S"] for name in shape.names))
    return Image(key, canonical(attributes))


def key_of(shape: TableShape, image_key: str) -> dict[str, dict[str, Any]]:
    """The key of a row as boto3's client takes it. ValueError for an image of another table."""
    return {name: {"S": value} for name, value in shape.parts(image_key).items()}


def item_of(attributes: Attributes) -> dict[str, dict[str, Any]]:
    """Attributes as boto3's client takes them."""
    return {name: sent(value) for name, value in attributes.items()}


def _read(value: AttributeValue) -> dict[str, Any]:
    ((kind, body),) = value.items()
    match kind:
        case "B":
            return {kind: base64.b64encode(body).decode()}
        case "BS":
            return {kind: sorted(base64.b64encode(member).decode() for member in body)}
        case "SS" | "NS":
            return {kind: sorted(body)}
        case "L":
            return {kind: [_read(member) for member in body]}
        case "M":
            return {kind: {name: _read(body[name]) for name in sorted(body)}}
        case _:
            return {kind: body}


def sent(value: AttributeValue) -> dict[str, Any]:
    """One attribute value as boto3's client takes it."""
    ((kind, body),) = value.items()
    match kind:
        case "B":
            return {kind: base64.b64decode(body, validate=True)}
        case "BS":
            return {kind: [base64.b64decode(member, validate=True) for member in body]}
        case "L":
            return {kind: [sent(member) for member in body]}
        case "M":
            return {kind: {name: sent(member) for name, member in body.items()}}
        case _:
            return {kind: body}
