"""Which shards the batches after the newest one name.

The next batch leaves ended shards out (awslabs) or does not read them, so that its log does not
name them (Qubole). The batch after that takes an open one of them for new, with its ancestors up to
one that is still named.

Sources: ShardSyncer.getLatestShardInfo, KinesisSource.getOffset and getBatch of Qubole;
ShardSyncer.getLatestShardInfo and KinesisV2MicrobatchStream.latestOffset of awslabs; runs of
Qubole's jar and of awslabs 1.4.2 in November 2026.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from reshardctl.consumers.spark.app import App
from reshardctl.consumers.spark.positions import SHARD_END
from reshardctl.consumers.spark.resumed import Resumed
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId


@dataclass(frozen=True, slots=True)
class Following:
    """The shards of the next two batches.

    Attributes:
        added: Shards without a position, which the next batch names.
        forgotten: Shards that the next batch leaves out, and the one after it takes for new.
        reads: Whether the next batch reads any shard.
        changes: Whether the next batch names other shards than the newest one, or ended ones.
    """

    added: frozenset[ShardId]
    forgotten: frozenset[ShardId]
    reads: bool
    changes: bool


def following(lineage: Lineage, held: Mapping[ShardId, Resumed], app: App) -> Following:
    """What the next two batches name, where the newest one leaves these shards."""
    added = frozenset(_additions(lineage, held))
    left = {shard for shard in held if not _ends(lineage, shard, held[shard], app)}
    forgotten = frozenset(_additions(lineage, left | added))
    if app.traits.drops_closed:
        forgotten = frozenset(filter(lineage.is_open, forgotten))
    read = left or any(_is_read(lineage, shard, app) for shard in added)
    return Following(added, forgotten, bool(read), bool(added) or len(left) < len(held))


def _additions(lineage: Lineage, placed: Collection[ShardId]) -> Iterator[ShardId]:
    """Open shards without a position, and their ancestors up to one that has a position."""
    known: set[ShardId] = set()
    todo = [s for s in lineage.open_shards() if s not in placed]
    while todo:
        shard = todo.pop()
        if shard in known or shard in placed:
            continue
        known.add(shard)
        todo += lineage.parents(shard)
        yield shard


def _ends(lineage: Lineage, shard: ShardId, held: Resumed, app: App) -> bool:
    """Whether the next batch does not read a shard: ended, expired, or read to its end before."""
    if held.at.kind == SHARD_END or shard not in lineage:
        return True
    to_its_end = app.traits.drops_closed or (held.runs and held.until is None)
    return to_its_end and not lineage.is_open(shard)


def _is_read(lineage: Lineage, shard: ShardId, app: App) -> bool:
    """Whether a new shard is read: a closed one may be dropped, and one may be named as ended."""
    if app.traits.drops_closed and not lineage.is_open(shard):
        return False
    named = (app.named or {}).get(shard)
    return named is None or named.kind != SHARD_END
