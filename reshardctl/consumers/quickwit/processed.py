"""What a Quickwit source has published, by its stored positions only.

Quickwit never deletes an entry, so a shard without one was never published from, unless a reset
removed the source's key with all of its entries.
"""

from __future__ import annotations

from reshardctl.consumers.quickwit.app import App
from reshardctl.consumers.quickwit.positions import position_of
from reshardctl.consumers.quickwit.rows import Checkpoint
from reshardctl.consumers.sequence_numbers import furthest
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, Basis, Frontier, ShardId, Span, exactly

_OVER = exactly(DONE, Basis.INFERRED, "the shard is not listed any more: nothing reads it again")


_NO_KEY = "the source's key is gone: what was published is not known"


def processed(lineage: Lineage, checkpoint: Checkpoint, app: App) -> Frontier:
    """A span for every listed shard and every entry; a missing key may mean nothing published."""
    if app.traits.needs_key and not checkpoint.known:
        return {s: Span(START, furthest(lineage, s), Basis.INFERRED, _NO_KEY) for s in lineage}
    frontier: dict[ShardId, Span] = {s: _OVER for s in checkpoint.rows if s not in lineage}
    for shard in lineage:
        frontier[shard] = position_of(lineage, shard, checkpoint.text(shard)).span
    return frontier
