"""Names in a message, the first few of many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from reshardctl.model.shards import ShardId, short

Item = TypeVar("Item")


def listed(items: Sequence[Item], most: int, name: Callable[[Item], str] = str) -> str:
    """The names `a, b, c`; of more than `most` items `a, b and 7 more`."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(map(name, items[:most])) + more


def listed_shards(shards: Sequence[ShardId], most: int) -> str:
    """`shard 4`, `shards 4, 5 and 7 more`."""
    return f"shard{'' if len(shards) == 1 else 's'} {listed(shards, most, short)}"
