"""`reshardctl demo`."""

from __future__ import annotations


def demo() -> None:
    """Not here yet."""
