"""Anomalies of a row when its shard and number are compared with the stream's listing."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.consumers.sequence_numbers import (
    ELSEWHERE,
    Origin,
    earlier_incarnation,
    origin,
    unborn,
)
from reshardctl.lineage import Lineage
from reshardctl.model import Anomaly, AnomalyKind, ShardId


def against_listing(
    lineage: Lineage, shard: ShardId, key: str, raw: str, *, number: str | None = None,
    never_read: bool = False, older: str = "",
    unlisted: str = "the shard is not listed any more",
) -> Iterator[Anomaly]:
    """Yields anomalies of a row: a shard not created yet or no longer listed, a number too old.

    Args:
        lineage: The stream's shards.
        shard: The row's shard.
        key: The row's key.
        raw: Its position as stored.
        number: The sequence number in `raw`, where `raw` holds more than that.
        never_read: Whether a row of a shard not created yet holds no position: counts as unlisted.
        unlisted: Why a row of an unlisted shard is an anomaly.
        older: Why the row is of an earlier stream, where that is known by other means.
    """
    if unborn(lineage, shard) and not never_read:
        whose = origin(lineage, raw if number is None else number)
        elsewhere = whose in (Origin.EARLIER, Origin.ELSEWHERE)
        why = ELSEWHERE if elsewhere else "the stream has no such shard yet"
        yield Anomaly(AnomalyKind.UNBORN, key, raw, why, shard)
    elif shard not in lineage:
        yield Anomaly(AnomalyKind.GONE, key, raw, unlisted, shard)
    if older or earlier_incarnation(lineage, raw if number is None else number):
        why = older or "its number is older than the stream"
        yield Anomaly(AnomalyKind.EARLIER_INCARNATION, key, raw, why, shard)
