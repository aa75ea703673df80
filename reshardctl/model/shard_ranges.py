"""Shards as an operator names several: `4,5`, `4-9`, or full ids."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from reshardctl.errors import UsageError
from reshardctl.model.shards import ShardId, index_of, shard_named

_RANGE = re.compile(r"(\d{1,12})-(\d{1,12})\Z", re.ASCII)
TAKES = "numbers, ranges and ids, joined by commas, as in 4,5 or 4-9 or shardId-000000000004"


def parts_of(texts: Iterable[str], option: str = "--shards") -> tuple[str, ...]:
    """The comma-separated parts of texts, each once. UsageError for one that names no shard."""
    parts: list[str] = []
    for text in texts:
        for part in text.split(","):
            bounds = _RANGE.match(part.strip())
            if not part.strip() or (bounds and int(bounds[1]) > int(bounds[2])):
                raise UsageError(f"{option} {text}: {part!r} names no shard", f"it takes {TAKES}")
            parts.append(part.strip())
    return tuple(dict.fromkeys(parts))


def shards_in(part: str, known: Collection[ShardId]) -> list[ShardId]:
    """The known shards that one part names, by number; none for an unknown shard."""
    if bounds := _RANGE.match(part):
        low, high = int(bounds[1]), int(bounds[2])
        numbers = {s: i for s in known if (i := index_of(s)) is not None and low <= i <= high}
        return sorted(numbers, key=lambda shard: numbers[shard])
    shard = shard_named(part)
    return [shard] if shard in known else []


def select(parts: Iterable[str], known: Collection[ShardId]) -> tuple[list[ShardId], list[str]]:
    """The known shards that parts name, each once and in order, and the parts that name none."""
    shards: dict[ShardId, None] = {}
    unknown: list[str] = []
    for part in parts:
        named = shards_in(part, known)
        shards |= dict.fromkeys(named)
        if not named:
            unknown.append(part)
    return list(shards), unknown
