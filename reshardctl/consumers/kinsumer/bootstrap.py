"""First rows for an application that is declared new."""

from __future__ import annotations

from reshardctl.consumers.kinsumer.app import App
from reshardctl.consumers.kinsumer.encode import TRANSACTION, cache_row, new_row
from reshardctl.consumers.kinsumer.tables import key_of
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, Create, Step, TargetFrontier, Write
from reshardctl.model.batched import batched


def bootstrap(lineage: Lineage, want: TargetFrontier, app: App) -> list[Step]:
    """A row for each listed shard, with its start pinned, and a ShardCache of the unfinished ones.

    The ShardCache is written only if it would not be empty: the library takes an empty one for all
    shards.
    """
    why = "first checkpoint of a new application"
    writes = [
        Write(key_of(s), Create(new_row(lineage, s, want[s], pinned=True)), None, why)
        for s in lineage
    ]
    unread = [s for s in lineage if want[s] != DONE]
    if unread and len(unread) < len(writes):
        writes.append(cache_row(lineage, unread, app.cached, "leaves out what is finished"))
    return [Step("first checkpoints", part) for part in batched(writes, TRANSACTION)]
