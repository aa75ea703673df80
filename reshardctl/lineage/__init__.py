"""The DAG of a stream's shards: parents, children, frontier, coverage of the hash space."""

from reshardctl.lineage.breaches import Breach, uncovered
from reshardctl.lineage.columns import Fields, RawShard, fields_of
from reshardctl.lineage.dag import Lineage

__all__ = ["Breach", "Fields", "Lineage", "RawShard", "fields_of", "uncovered"]
