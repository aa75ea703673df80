"""A consumer's status, worker by worker: a row for each, as text, as values and as a table."""

from __future__ import annotations

from reshardctl.diagnosis.rules import Severity
from reshardctl.model.times import duration
from reshardctl.render.document import Json
from reshardctl.render.escape import time_json
from reshardctl.render.words import brief, count, shards
from reshardctl.report.workers import WorkerStatus

NOTHING = "-"
HEADS = ["worker", "shards", "lag", "last seen", "finding", "which"]
TABLE = (
    "worker", "leader", "last_seen", "unfinished", "finished", "lag_seconds", "verdict", "rules",
    "shards",
)
"""The heads of a table for spreadsheets; shards are separated by blanks, as rules are."""


def row(worker: WorkerStatus, now: float, *, whole: bool) -> list[str]:
    """The cells below these heads. whole: every code and the full ids of its shards."""
    codes = worker.rules if whole else worker.rules[:1]
    more = len(worker.rules) - len(codes)
    found = [_verdict(worker), ", ".join(codes), f"+{more}" if more else ""]
    ids = [one.shard for one in worker.unfinished]
    return [
        (worker.name or NOTHING) + (" (leader)" if worker.leads else ""), str(len(ids)),
        NOTHING if worker.lag is None else (duration if whole else brief)(worker.lag),
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
        "lag_seconds": worker.lag,
        "verdict": _verdict(worker),
        "rules": list(worker.rules),
        "shards": [one.shard for one in worker.shards],
    }


def summary(workers: list[WorkerStatus]) -> str:
    """How many workers there are, how many of them have nothing to read, and what nobody owns."""
    named = [one for one in workers if one.name]
    idle = sum(not one.unfinished for one in named)
    free = sum(len(one.unfinished) for one in workers if not one.name)
    parts = [count(len(named), "worker")]
    parts[0] += f", {idle} without an unfinished shard" if idle else ""
    parts += [f"{count(free, 'shard')} without an owner"] if free else []
    return f"{'; '.join(parts)}."


def _verdict(worker: WorkerStatus) -> str:
    return "ok" if worker.verdict is None else str(Severity(worker.verdict))
