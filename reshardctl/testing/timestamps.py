"""Timestamps as clients send them."""

from __future__ import annotations

from datetime import datetime

from reshardctl.testing.errors import ApiError

_MILLISECONDS_FROM = 1e11
"""Seconds reach this in the year 5138; SDK v1 without CBOR sends milliseconds."""


def seconds(value: object) -> float:
    """Epoch seconds from a datetime, from seconds, or from milliseconds."""
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float):
        message = f"{type(value).__name__} can not be converted to milliseconds since epoch"
        raise ApiError("SerializationException", message)
    return value / 1000 if abs(value) >= _MILLISECONDS_FROM else float(value)
