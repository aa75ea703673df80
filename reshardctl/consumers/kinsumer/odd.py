"""What is odd about rows, apart from where they stand."""

from __future__ import annotations

from reshardctl.consumers.kinsumer.rows import Store
from reshardctl.consumers.sequence_numbers import (
    ELSEWHERE,
    earlier_incarnation,
    of_a_shard_elsewhere,
    unborn,
)
from reshardctl.lineage import Lineage
from reshardctl.model import Odd, Oddity


def odd(lineage: Lineage, store: Store) -> list[Odd]:
    """Oddities of the rows themselves, and of rows against the lineage."""
    found = list(store.odd)
    for shard, row in store.rows.items():
        key, raw = row.image.key, row.number or ""
        said = row.finished is not None or row.number is not None
        if unborn(lineage, shard) and said:
            elsewhere = of_a_shard_elsewhere(lineage, shard, raw)
            why = ELSEWHERE if elsewhere else "the stream has no such shard yet"
            found.append(Odd(Oddity.UNBORN, key, raw, why, shard))
        elif shard not in lineage:
            why = "the shard is not listed; kinsumer never deletes a checkpoint"
            found.append(Odd(Oddity.GONE, key, raw, why, shard))
        if row.number is not None and earlier_incarnation(lineage, row.number):
            why = "its number is older than the stream"
            found.append(Odd(Oddity.EARLIER_INCARNATION, key, raw, why, shard))
    return found
