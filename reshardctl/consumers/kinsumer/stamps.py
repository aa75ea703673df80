"""Times to write, taken from the stream and from rows because this room has no clock.

The library uses only an owned row's LastUpdate, and no row that is written here has an owner
(capture in checkpoints.go).
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

from reshardctl.consumers.kinsumer.rows import Row
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId

NANOS = 1_000_000_000


def seen_at(lineage: Lineage, shard: ShardId) -> int:
    """Unix nanoseconds at which the shard was closed, or else opened."""
    closed = lineage.closed_at(shard) or lineage.opened_at(shard) or lineage.stream.created
    return int(closed * NANOS)


def finished_at(lineage: Lineage, row: Row) -> int:
    """Unix nanoseconds for Finished.

    After the shard's close, and after the row's own last change, which would look like a
    bootstrap's mark.
    """
    closed = seen_at(lineage, row.shard)
    return max(closed, row.updated + 1)


def rfc_of(nanos: int) -> str:
    """time.RFC1123Z in UTC, as in LastUpdateRFC and FinishedRFC."""
    return format_datetime(datetime.fromtimestamp(nanos // NANOS, UTC))
