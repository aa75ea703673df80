"""Times in the tables: those that lie in the future, by another clock or unit, and those to write.

By LastUpdate a client decides who is alive, who owns a shard, who leads, and when to list the
stream again. A time in the future holds until it has passed, and then for the usual time (capture
in checkpoints.go, getClients in clients.go, registerLeadership and performLeaderActions in
leader.go of both libraries; that no client captures such a row was run on v1.7.0 and 9a48088,
November 2026).

Times to write are taken from the stream and from rows, because this room has no clock. The library
uses only an owned row's LastUpdate, and no row that is written here has an owner (capture in
checkpoints.go).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from math import inf

from msgspec import Struct, field

from reshardctl.consumers.kinsumer.rows import MistypedError, Row, Tables, integer
from reshardctl.consumers.kinsumer.spec import CACHE, CLIENTS, LEADER
from reshardctl.lineage import Lineage
from reshardctl.model import Image, ShardId

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


AHEAD = 300.0
"""Seconds; AWS refuses the requests of a machine whose clock is further ahead."""
MAX_AGE = 300.0
"""maxAgeForClientRecord and maxAgeForLeaderRecord, five times shardCheckFrequency by default."""
ROUND = 60.0
"""shardCheckFrequency, which the fork adds for clients, and leaderActionFrequency."""


class Clocks(Struct, frozen=True):
    """Until when (Unix seconds) each row from the future holds.

    owners: rows of owned shards. clients: rows of clients, by key. leader, cache: `None` where
    their time has passed.
    """

    owners: Mapping[ShardId, float] = field(default_factory=dict)
    clients: Mapping[str, float] = field(default_factory=dict)
    leader: float | None = None
    cache: float | None = None

    @property
    def blind(self) -> float | None:
        """Until when no client compares the ShardCache with the stream."""
        held = [time for time in (self.leader, self.cache) if time is not None]
        return max(held, default=None)


def clocks(lineage: Lineage, tables: Tables) -> Clocks:
    """Every time after the listing of the stream; none where the time of listing is unknown."""
    now = lineage.stream.as_of
    if now == inf:
        return Clocks()
    rows = {image.key: image for image in tables.others}
    leader = rows.get(LEADER)
    led = leader is not None and "ID" in leader.attributes
    cache = tables.cache.image if tables.cache is not None and tables.cache.shards else None
    return Clocks(
        dict(_owners(tables, now)), dict(_clients(rows, now)),
        _held(leader, now, MAX_AGE) if led else None, _held(cache, now, ROUND),
    )


def _owners(tables: Tables, now: float) -> Iterator[tuple[ShardId, float]]:
    for shard, row in tables.rows.items():
        if row.owner is not None and not row.mistyped and row.updated / NANOS > now + AHEAD:
            yield shard, row.updated / NANOS + MAX_AGE


def _clients(rows: Mapping[str, Image], now: float) -> Iterator[tuple[str, float]]:
    for key, image in rows.items():
        until = _held(image, now, MAX_AGE + ROUND) if key.startswith(CLIENTS) else None
        if until is not None:
            yield key, until


def _held(image: Image | None, now: float, age: float) -> float | None:
    if image is None:
        return None
    try:
        stamp = integer(image.attributes, "LastUpdate") or 0
    except MistypedError:
        return None
    return stamp / NANOS + age if stamp / NANOS > now + AHEAD else None


def named(key: str) -> str:
    """The name of a row of the tables, for messages."""
    if key == CACHE:
        return "the ShardCache"
    return "the Leader row" if key == LEADER else f"the row of client {key.removeprefix(CLIENTS)}"
