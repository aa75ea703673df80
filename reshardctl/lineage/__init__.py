"""The DAG of a stream's shards: parents, children, open edge, coverage of the hash space.

Other rooms import what this file names. Read `dag` first.
"""

from reshardctl.lineage.dag import Breach, Fields, Lineage, RawShard, fields_of, uncovered
from reshardctl.lineage.reshards import Foreseen, Reshard, foresee, parse_reshard

__all__ = [
    "Breach",
    "Fields",
    "Foreseen",
    "Lineage",
    "RawShard",
    "Reshard",
    "fields_of",
    "foresee",
    "parse_reshard",
    "uncovered",
]
