"""When a stream was last resharded."""

from __future__ import annotations

from reshardctl.lineage import Lineage


def resharded(lineage: Lineage) -> float | None:
    """Unix second of the last split or merge: when the youngest open child opened."""
    born = (lineage.opened_at(s) for s in lineage.open_shards() if lineage[s].parents)
    return max((moment for moment in born if moment is not None), default=None)
