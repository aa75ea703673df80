"""What is odd about a row of a shard, against the stream's listing."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.consumers.sequence_numbers import (
    ELSEWHERE,
    earlier_incarnation,
    of_a_shard_elsewhere,
    unborn,
)
from reshardctl.lineage import Lineage
from reshardctl.model import Anomaly, AnomalyKind, ShardId


def against_listing(
    lineage: Lineage, shard: ShardId, key: str, raw: str, *, number: str | None = None,
    may_be_elsewhere: bool = False, never_read: bool = False, older: str = "",
    unlisted: str = "the shard is not listed any more",
) -> Iterator[Anomaly]:
    """The oddities of one row: its shard is still to come, or gone; its number is too old.

    Args:
        lineage: The stream's shards.
        shard: The row's.
        key: The row's.
        raw: Its position as stored.
        number: The number in it, where that is not all of it.
        may_be_elsewhere: Whether a row of a shard to come is left to the stream that has the shard.
        never_read: Whether a row of a shard to come holds nothing, and is taken for one that is
            gone.
        unlisted: Why a row of a shard that is gone is odd.
        older: Why the row is of an earlier stream, where that is known by other means.
    """
    if unborn(lineage, shard) and not never_read:
        elsewhere = may_be_elsewhere and of_a_shard_elsewhere(lineage, shard, raw)
        why = ELSEWHERE if elsewhere else "the stream has no such shard yet"
        yield Anomaly(AnomalyKind.UNBORN, key, raw, why, shard)
    elif shard not in lineage:
        yield Anomaly(AnomalyKind.GONE, key, raw, unlisted, shard)
    if older or earlier_incarnation(lineage, raw if number is None else number):
        why = older or "its number is older than the stream"
        yield Anomaly(AnomalyKind.EARLIER_INCARNATION, key, raw, why, shard)
