"""Signs that a KCL application runs.

An owner renews its leases every third of failoverTimeMillis, finished ones too (runs on 2.7.2 and
3.5.1); 3.x also updates the leader's lock and its workers' statistics.
"""

from __future__ import annotations

from collections.abc import Iterable

from reshardctl.consumers.base import ShardOwner
from reshardctl.consumers.kcl.rows import LeaseTable
from reshardctl.model import Image, ShardId

RENEWALS = 3
"""Renewals in one failover time."""


def signs_of_life(images: Iterable[Image]) -> dict[str, str]:
    """Row → what its owner changes; an owner's name alone proves nothing, it stays after a stop."""
    signs = {}
    for image in images:
        item = image.attributes
        if "leaseOwner" in item:
            owner = item["leaseOwner"].get("S", "?")
            signs[image.key] = f"{owner} {item.get('leaseCounter', {}).get('N')}"
        for mark in ("recordVersionNumber", "lut"):
            if mark in item:
                signs[image.key] = str(item[mark])
    return signs


def holds(table: LeaseTable) -> dict[ShardId, ShardOwner]:
    """Owner, leaseCounter and checkpoint of every lease."""
    return {
        shard: ShardOwner(row.owner or "", str(row.counter), f"{row.position}/{row.sub}", row.ended)
        for shard, row in table.rows.items()
    }


def excluded_by(seconds: float) -> str:
    """What a watch of `seconds` without a renewal rules out."""
    longest = seconds * RENEWALS
    return f"{seconds:g} s without a renewal rules out failover times up to {longest:g} s"
