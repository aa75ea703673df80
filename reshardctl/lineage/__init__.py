"""The DAG of a stream's shards: parents, children, frontier, coverage of the hash space."""

from reshardctl.lineage.breaches import Breach, uncovered
from reshardctl.lineage.columns import RawShard
from reshardctl.lineage.dag import Lineage

__all__ = ["Breach", "Lineage", "RawShard", "uncovered"]
