"""The DAG of a stream's shards: parents, children, open edge, coverage of the hash space.

Other rooms import what this file names. Read `dag` first.
"""

from reshardctl.lineage.dag import (
    Breach,
    Life,
    Lineage,
    RawShard,
    shard_of,
    shard_of_texts,
    uncovered,
)
from reshardctl.lineage.reshards import Foreseen, Reshard, foresee, parse_reshard

__all__ = [
    "Breach",
    "Foreseen",
    "Life",
    "Lineage",
    "RawShard",
    "Reshard",
    "foresee",
    "parse_reshard",
    "shard_of",
    "shard_of_texts",
    "uncovered",
]
