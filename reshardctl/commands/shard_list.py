"""Reads the shards of an option: `4,5`, `7-9`, or ids."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reshardctl.errors import UsageError
from reshardctl.model import ShardId, shard_id, shard_named

_RANGE = re.compile(r"(\d{1,12})-(\d{1,12})\Z", re.ASCII)
MOST = 1_000_000
"""Shards that a range may name: more is a slip of the finger."""


def shards_named(texts: Sequence[str], option: str = "--shards") -> tuple[ShardId, ...]:
    """The shards that the texts name, each once, in order. Raises UsageError."""
    named: dict[ShardId, None] = {}
    for text in texts:
        for part in text.split(","):
            if not part.strip():
                raise UsageError(
                    f"{option} {text!r} has an empty part", f"write it as {option} 4,5 or 7-9"
                )
            named |= dict.fromkeys(_part(part.strip(), option))
    return tuple(named)


def _part(text: str, option: str) -> Sequence[ShardId]:
    match = _RANGE.match(text)
    if match is None:
        return (shard_named(text),)
    first, last = int(match[1]), int(match[2])
    if last < first or last - first >= MOST:
        raise UsageError(
            f"{option} {text}: no range of shards", f"write the lower number first: {option} 7-9"
        )
    return [shard_id(index) for index in range(first, last + 1)]
