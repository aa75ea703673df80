"""Reshards as an operator names them: `8`, `split=7`, `split=7@HASHKEY`, `merge=3,4`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reshardctl.errors import UsageError
from reshardctl.model import ShardId, shard_id, short

_COUNT = re.compile(r"\d{1,9}\Z", re.ASCII)
_SHARD = r"(shardId-\d{12,18}|\d{1,12})"
_SPLIT = re.compile(rf"split={_SHARD}(?:@(\d{{1,39}}))?\Z", re.ASCII)
_MERGE = re.compile(rf"merge={_SHARD},{_SHARD}\Z", re.ASCII)
HOW = "it takes a number of shards (8), split=SHARD, split=SHARD@HASHKEY or merge=LOWER,UPPER"


@dataclass(frozen=True, slots=True)
class Count:
    """UpdateShardCount to that many equal shards."""

    target: int

    def __str__(self) -> str:
        return str(self.target)


@dataclass(frozen=True, slots=True)
class Split:
    """SplitShard. at: the upper child's first hash key, `None` for the middle."""

    shard: ShardId
    at: int | None = None

    def __str__(self) -> str:
        return f"split={short(self.shard)}" + ("" if self.at is None else f"@{self.at}")


@dataclass(frozen=True, slots=True)
class Merge:
    """MergeShards. shard: ShardToMerge, the lower one; adjacent: AdjacentShardToMerge."""

    shard: ShardId
    adjacent: ShardId

    def __str__(self) -> str:
        return f"merge={short(self.shard)},{short(self.adjacent)}"


Reshard = Count | Split | Merge


def parse_reshard(text: str) -> Reshard:
    """Reads the value of --if-reshard. Raises UsageError if it names no reshard."""
    if _COUNT.match(text):
        return Count(int(text))
    if match := _SPLIT.match(text):
        return Split(_shard(match[1]), None if match[2] is None else int(match[2]))
    if match := _MERGE.match(text):
        return Merge(_shard(match[1]), _shard(match[2]))
    raise UsageError(f"--if-reshard {text}: no reshard", HOW)


def _shard(text: str) -> ShardId:
    return shard_id(int(text.rpartition("-")[2]))
