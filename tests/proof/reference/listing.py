"""What every model asks of the stream in the same way: all pages of its shards, and their parents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def listed(client: Any, stream: str, **ask: Any) -> list[dict[str, Any]]:
    """Every page of ListShards, closed shards too; a later page is asked for by its token alone."""
    found: list[dict[str, Any]] = []
    asked = {"StreamName": stream, **ask}
    while True:
        answer = client.list_shards(**asked)
        found += answer["Shards"]
        if not answer.get("NextToken"):
            return found
        asked = {"NextToken": answer["NextToken"]}


def parents_of(shard: Mapping[str, Any]) -> list[str]:
    """ParentShardId and AdjacentParentShardId, where they are given, listed or not."""
    both = (shard.get("ParentShardId"), shard.get("AdjacentParentShardId"))
    return [one for one in both if one]
