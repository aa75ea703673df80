"""User records of the aggregates that the Kinesis Producer Library makes."""

from __future__ import annotations

from typing import Any


def unpacked(*columns: Any) -> Any:
    return columns
