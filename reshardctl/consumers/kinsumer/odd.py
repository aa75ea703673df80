"""What is odd about rows, apart from where they stand."""

from __future__ import annotations

from reshardctl.consumers.against_listing import against_listing
from reshardctl.consumers.kinsumer.rows import Store
from reshardctl.lineage import Lineage
from reshardctl.model import Odd


def odd(lineage: Lineage, store: Store) -> list[Odd]:
    """Oddities of the rows themselves, and of rows against the lineage."""
    odd = list(store.odd)
    for shard, row in store.rows.items():
        odd += against_listing(
            lineage, shard, row.image.key, row.number or "", may_be_elsewhere=True,
            unlisted="the shard is not listed; kinsumer never deletes a checkpoint",
            never_read=row.finished is None and row.number is None,
        )
    return odd
