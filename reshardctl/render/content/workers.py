"""A consumer's status, worker by worker: a row for each, as text, as values and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.consumers.base import Migration
from reshardctl.diagnosis.rules import Severity
from reshardctl.model.phrases import listed
from reshardctl.model.times import duration
from reshardctl.render.document import Json
from reshardctl.render.escape import time_json
from reshardctl.render.words import NOTHING, brief, count, lag_words, shards
from reshardctl.report.workers import Ownership, Room, WorkerStatus

NAMED = 5
"""Workers that a sentence names."""
TABLE = (
    "worker", "leader", "last_seen", "unfinished", "finished", "lag_seconds", "verdict", "rules",
    "shards", "room", "lock_seconds",
)
"""The heads of a table for spreadsheets; shards are separated by blanks, as rules are."""


def heads(room: Room | None) -> list[str]:
    """The heads of the rows. room: `None` if no option says how many leases a worker may hold."""
    more = ["room"] if room else []
    return ["worker", "shards", *more, "lag", "last seen", "finding", "which"]


def row(worker: WorkerStatus, now: float, room: Room | None, *, whole: bool) -> list[str]:
    """The cells below these heads. whole: every code and the full ids of its shards."""
    codes = worker.rules if whole else worker.rules[:1]
    more = len(worker.rules) - len(codes)
    found = [_verdict(worker), ", ".join(codes), f"+{more}" if more else ""]
    ids = [one.shard for one in worker.unfinished]
    return [
        (worker.name or NOTHING) + (" (leader)" if worker.leads else ""), str(len(ids)),
        *([] if room is None else [NOTHING if worker.room is None else str(worker.room)]),
        lag_words(worker.lag, duration if whole else brief),
        NOTHING if worker.seen is None else f"{brief(max(0.0, now - worker.seen))} ago",
        " ".join(filter(None, found)), shards(ids, whole) or NOTHING,
    ]


def table_row(worker: WorkerStatus) -> tuple[object, ...]:
    """A value for each head of the table."""
    fields = document(worker)
    lists = {name: " ".join(fields[name]) for name in ("rules", "shards")}
    return tuple((fields | lists)[head] for head in TABLE)


def document(worker: WorkerStatus) -> Json:
    """One worker. worker: null for nobody."""
    ids = [one.shard for one in worker.unfinished]
    return {
        "worker": worker.name or None,
        "leader": worker.leads,
        "last_seen": time_json(worker.seen),
        "unfinished": len(ids),
        "finished": len(worker.shards) - len(ids),
        "lag_seconds": worker.lag.seconds,
        "verdict": _verdict(worker),
        "rules": list(worker.rules),
        "shards": [one.shard for one in worker.shards],
        "room": worker.room,
        "lock_seconds": worker.lock,
    }


def room_document(room: Room | None) -> Json | None:
    """The room of all workers; null if no option says how many leases one may hold."""
    if room is None:
        return None
    return {
        "max_leases": room.most, "leases": room.leases, "held": room.held, "room": room.free,
        "without_room": room.without, "workers": room.workers, "workers_needed": room.needed,
        "over": list(room.over),
    }


def migration_document(migration: Migration) -> Json:
    """One migration. next: "" if it is over."""
    return {
        "migration": migration.name, "state": migration.state or None, "next": migration.next,
        "since": time_json(migration.since), "by": migration.by or None,
    }


def below(
    workers: list[WorkerStatus], owned: Ownership, room: Room | None,
    migrations: Sequence[Migration], now: float,
) -> Iterator[str]:
    """The sentences below the rows: sums, room, the leader's lock, and migrations."""
    yield summary(workers, owned)
    if room is not None:
        yield _room(room)
    for worker in workers:
        if worker.lock is not None:
            yield (
                f"Leader {worker.name}: if it is killed, its lock holds for "
                f"{duration(worker.lock)}, and nobody assigns leases meanwhile."
            )
    for migration in migrations:
        yield _migration(migration, now)


def _room(room: Room) -> str:
    most, workers = count(room.most, "lease"), count(room.workers, "worker")
    each = f"Each worker may hold {most} of {room.leases}"
    over = f" More than that: {listed(room.over, NAMED)}; is max-leases right?" if room.over else ""
    if not room.without:
        return f"{each}: {workers} may hold all of them.{over}"
    without = f"{count(room.without, 'lease')} {'stay' if room.without > 1 else 'stays'}"
    return (
        f"{each}: {workers} may hold {room.workers * room.most}, and {without} without an owner "
        f"until there are {room.needed} workers.{over}"
    )


def _migration(migration: Migration, now: float) -> str:
    state = migration.state or "not begun"
    since = "" if migration.since is None else f" for {brief(max(0.0, now - migration.since))}"
    by = f", by {migration.by}" if migration.by else ""
    following = f"next: {migration.next}" if migration.next else "it is over"
    return f"Migration {migration.what}: {state}{since}{by}; {following}."


def summary(workers: list[WorkerStatus], owned: Ownership) -> str:
    """How many workers there are, how many of them have nothing to read, and what nobody owns.

    workers: those that are shown; the numbers are of all, as those of the metrics.
    """
    shown, total = sum(bool(one.name) for one in workers), len(owned.workers)
    parts = [f"{shown} of " * (shown != total) + count(total, "worker")]
    parts[0] += f", {owned.idle} without an unfinished shard" if owned.idle else ""
    for number, what in ((owned.unowned, "an owner"), (owned.without_position, "a position")):
        parts += [f"{count(number, 'shard')} without {what}"] if number else []
    return f"{'; '.join(parts)}."


def _verdict(worker: WorkerStatus) -> str:
    return "ok" if worker.verdict is None else str(Severity(worker.verdict))
