"""What a Quickwit source has published: every position at its word, and nothing else.

Quickwit never deletes an entry, so a shard without one was never published from.
"""

from __future__ import annotations

from reshardctl.consumers.quickwit.positions import place_of
from reshardctl.consumers.quickwit.rows import Checkpoint
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, Basis, Line, ShardId, Span, exactly

_OVER = exactly(DONE, Basis.INFERRED, "the shard is not listed any more: nothing reads it again")


def settled(lineage: Lineage, checkpoint: Checkpoint) -> Line:
    """A span for every listed shard and every entry."""
    rows = checkpoint.rows
    line: dict[ShardId, Span] = {s: _OVER for s in rows if s not in lineage}
    for shard in lineage:
        row = rows.get(shard)
        line[shard] = place_of(lineage, shard, row.text if row else None).span
    return line
