"""Signs that a kinsumer application runs: its clients' rows and its leader's.

A client refreshes its row every shardCheckFrequency and the leader its own every
leaderActionFrequency, a minute each by default; a stop deletes the former and removes ID from the
latter. A checkpoint's LastUpdate is no sign: the original leaves it alone while a shard is quiet
(run on 9a48088, Nov 2026).
"""

from __future__ import annotations

from collections.abc import Iterable

from reshardctl.consumers.base import ShardOwner
from reshardctl.consumers.kinsumer.rows import NOT_BEGUN, Tables
from reshardctl.consumers.kinsumer.stamps import NANOS
from reshardctl.consumers.kinsumer.tables import CLIENTS, LEADER
from reshardctl.model import Image, ShardId

LATEST_TIME = 253402300800
"""Unix seconds of the year 10000: what lies beyond it is no time that can be shown."""


def signs_of_life(images: Iterable[Image]) -> dict[str, str]:
    """Row → what its owner changes."""
    return {
        image.key: f"{image.attributes.get('ID')} {image.attributes.get('LastUpdate')}"
        for image in images
        if image.key.startswith(CLIENTS) or (image.key == LEADER and "ID" in image.attributes)
    }


def holds(tables: Tables) -> dict[ShardId, ShardOwner]:
    """Owner, LastUpdate, position and finished mark of every checkpoint."""
    return {
        shard: ShardOwner(
            row.owner or "", str(row.updated), row.number or NOT_BEGUN,
            row.finished is not None,
        )
        for shard, row in tables.rows.items()
    }


def saved_at(tables: Tables) -> dict[ShardId, float]:
    """LastUpdate of every checkpoint: the last save, or the last change of its owner."""
    return {
        shard: row.updated / NANOS for shard, row in tables.rows.items()
        if 0 < row.updated < LATEST_TIME * NANOS
    }


def excluded_by(seconds: float) -> str:
    """What a watch of `seconds` without a renewal rules out."""
    return (
        f"{seconds:g} s without a client's or leader's renewal rules out a shardCheckFrequency of "
        f"up to {seconds:g} s (its default is 60 s)"
    )
