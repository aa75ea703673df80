"""Two races that no position prevents: the source fails and restarts, perhaps for ever.

Both were seen on the real source of 0.9.0 (runs of November 2026): a closed shard that leaves the
source's map before its own parent announces it is started once more, from a position that the batch
in flight has passed; the batch does not follow, and nothing of it is published.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.consumers.quickwit.announcing import announcing
from reshardctl.consumers.quickwit.positions import position_of
from reshardctl.consumers.quickwit.rows import Checkpoint
from reshardctl.lineage import Lineage
from reshardctl.model import Cause, Rank, Risk, ShardId, time_of

BEHIND = 300.0
"""Seconds of stream time before a shard's close: fewer are drained in one answer."""


def risks(lineage: Lineage, checkpoint: Checkpoint) -> tuple[Risk, ...]:
    """Risks of a source that does start."""
    parents = announcing(lineage, checkpoint)
    if checkpoint.backfill and parents:
        return (_backfill(parents),)
    loops = tuple(dict.fromkeys(_loops(lineage, checkpoint, parents)))
    return (_livelock(loops),) if loops else ()


def _backfill(parents: list[ShardId]) -> Risk:
    return Risk(
        Cause.BACKFILL, tuple(parents),
        "in backfill mode a child may come to its tip before its parent announces it: the source "
        "then fails (failed to record partition delta) and starts again, until the parent comes "
        "first",
        "turn enable_backfill_mode off until these shards are no longer listed",
    )


def _livelock(shards: tuple[ShardId, ...]) -> Risk:
    return Risk(
        Cause.LIVELOCK, shards,
        "closed shards with unread records have parents with unread records: if one drains before "
        "its parent does and before a commit, the batch is refused (does not follow indexer "
        "checkpoint) and the source starts again, perhaps for ever",
        "lower commit_timeout_secs below the time in which the parents drain; no position helps",
    )


def _loops(
    lineage: Lineage, checkpoint: Checkpoint, parents: list[ShardId]
) -> Iterator[ShardId]:
    """Closed children with unread records whose announcing parent has unread records too."""
    for parent in parents:
        if not _behind(lineage, checkpoint, parent):
            continue
        for child in lineage.children(parent):
            if lineage.first_parent(child) == parent and not lineage.is_open(child) and _behind(
                lineage, checkpoint, child
            ):
                yield child


def _behind(lineage: Lineage, checkpoint: Checkpoint, shard: ShardId) -> bool:
    at = position_of(lineage, shard, checkpoint.text(shard)).span.lo
    closed = lineage.closed_at(shard)
    if at.rank is Rank.START:
        return True
    read = time_of(at.number) if at.rank is Rank.INSIDE else None
    return read is not None and closed is not None and closed - read > BEHIND
