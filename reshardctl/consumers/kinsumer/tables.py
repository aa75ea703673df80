"""The three tables of an application (CreateRequiredTables), which are one store.

None of their keys names the stream: only the application's name distinguishes them.
"""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.model import ShardId, TableShape

CHECKPOINTS, CLIENTS, METADATA = "checkpoints/", "clients/", "metadata/"
"""Prefixes of the keys of each table's rows."""

CACHE = METADATA + "ShardCache"
LEADER = METADATA + "Leader"


def tables(app: str, _options: Mapping[str, str] | None = None) -> tuple[TableShape, ...]:
    """The tables of an application, the one with the positions first."""
    return (
        TableShape(f"{app}_checkpoints", CHECKPOINTS, "Shard", holds="kinsumer checkpoints"),
        TableShape(f"{app}_clients", CLIENTS, "ID", holds="kinsumer clients"),
        TableShape(f"{app}_metadata", METADATA, "Key", holds="kinsumer metadata"),
    )


def key_of(shard: ShardId) -> str:
    """The key of a shard's row."""
    return CHECKPOINTS + shard
