"""The order of a listing in which a child has a lower id than its parent, found by networkx.

Kinesis makes no such listing; emulators may. It stands alone because importing networkx takes half
a second, which no other listing has to wait for.
"""

from __future__ import annotations

from collections.abc import Mapping

import networkx

from reshardctl.errors import StreamUnsettled
from reshardctl.model import ShardId


def ordered(parents: Mapping[ShardId, tuple[ShardId, ...]]) -> list[ShardId]:
    """All shards, parents before children, else as they come. StreamUnsettled for a loop.

    parents: the listed parents of every listed shard.
    """
    place = {shard: at for at, shard in enumerate(parents)}
    graph = networkx.DiGraph()
    graph.add_nodes_from(parents)
    graph.add_edges_from((parent, shard) for shard, above in parents.items() for parent in above)
    try:
        return list(networkx.lexicographical_topological_sort(graph, key=place.__getitem__))
    except networkx.NetworkXUnfeasible:
        loop = [shard for shard, _ in networkx.find_cycle(graph)]
    raise StreamUnsettled(
        f"the listing makes {min(loop)} an ancestor of itself",
        "run this again later; an endpoint that is not AWS's may be defective",
    )
