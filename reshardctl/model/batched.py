"""A sequence in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def batched(items: Sequence[Item], size: int) -> Iterator[tuple[Item, ...]]:
    """As `itertools.batched`, which Python has from 3.12 on."""
    return (tuple(items[at : at + size]) for at in range(0, len(items), size))
