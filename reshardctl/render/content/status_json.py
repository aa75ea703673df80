"""A consumer's status as plain values, and as a table for spreadsheets.

The values are `reshardctl/status/1`, described by `status.schema.json`. As in reports, sequence
numbers are strings, times ISO 8601 in UTC, lengths of time seconds; every object has all of its
members, always, and members are only ever added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from reshardctl.diagnosis.rules import Finding
from reshardctl.exit import Exit
from reshardctl.model.times import instant
from reshardctl.render.content import workers
from reshardctl.render.content.report_json import (
    consumer_document,
    exit_json,
    stream_document,
)
from reshardctl.render.document import Json
from reshardctl.render.escape import time_json
from reshardctl.report.lag import Lag
from reshardctl.report.status import ConsumerStatus, Progress, ShardStatus, StoredPosition
from reshardctl.report.workers import by_worker, migrations_of, room_of

STATUS = "reshardctl/status/1"
VERDICTS = ("error", "warning", "info", "ok")


def status_document(status: ConsumerStatus, code: Exit) -> Json:
    """The whole document. code: what the command ends with."""
    return {
        **head(status, code),
        "findings": [finding_document(finding) for finding in status.findings],
        "shards": [shard_document(row) for row in status.rows],
        "workers": [workers.document(worker) for worker in by_worker(status)],
        "capacity": workers.room_document(room_of(status.report)),
        "migrations": [workers.migration_document(m) for m in migrations_of(status.report)],
        **tail(status),
    }


def head(status: ConsumerStatus, code: Exit) -> Json:
    """What was looked at, and which rows of it are shown."""
    report, selection = status.report, status.selection
    store = report.snapshot.store
    return {
        "schema": STATUS,
        "exit": exit_json(code),
        "taken": instant(report.snapshot.now),
        "stream": stream_document(report.snapshot.lineage),
        "consumer": consumer_document(report),
        "store": {name: store[name] for name in sorted(store)},
        "selection": {
            "shards": list(selection.shards), "only_bad": selection.only_bad,
            "sort": selection.sort,
        },
    }


def tail(status: ConsumerStatus) -> Json:
    """What there is in all."""
    return {
        "total_shards": status.total,
        "shown_shards": len(status.rows),
        "counts": status.counts(),
        "suppressed": status.suppressed,
        "notes": list(status.report.notes),
    }


def shard_document(row: ShardStatus) -> Json:
    """One shard."""
    return {
        "shard": row.shard,
        "state": str(row.state),
        "opened": time_json(row.opened),
        "closed": time_json(row.closed),
        "expires": time_json(row.expires),
        "parents": list(row.parents),
        "children": list(row.children),
        "position": _position_json(row.position),
        "lag": _lag_json(row.lag),
        "owner": row.owner or None,
        "progress": _progress_json(row.progress),
        "verdict": verdict(row),
        "rules": list(row.rules),
    }


def verdict(row: ShardStatus) -> str:
    """`error`, `warning`, `info`, or `ok` where no finding names the shard."""
    return "ok" if row.verdict is None else str(row.verdict)


def _position_json(position: StoredPosition) -> Json:
    return {
        "kind": str(position.kind), "stored": position.stored,
        "number": position.number or None, "sub": position.sub if position.number else None,
        "time": time_json(position.time),
    }


def _lag_json(lag: Lag) -> Json:
    return {
        "seconds": lag.seconds, "least_seconds": lag.least_seconds,
        "unread_seconds": lag.unread_seconds, "records": lag.records, "bytes": lag.size_bytes,
        "at_least": lag.at_least, "oldest_arrival": time_json(lag.oldest), "measured": lag.measured,
    }


def _progress_json(progress: Progress | None) -> Json | None:
    if progress is None:
        return None
    return {"time": time_json(progress.time), "exact": progress.exact}


def finding_document(finding: Finding) -> Json:
    """What a finding is, without its effects."""
    return {
        "code": finding.code, "name": finding.name, "severity": str(finding.severity),
        "shards": list(finding.shards), "what": finding.what, "when": finding.when,
    }


_CELLS: Mapping[str, Callable[[Json], object]] = {
    "shard": lambda row: row["shard"],
    "state": lambda row: row["state"],
    "opened": lambda row: row["opened"],
    "closed": lambda row: row["closed"],
    "expires": lambda row: row["expires"],
    "position": lambda row: row["position"]["kind"],
    "stored": lambda row: row["position"]["stored"],
    "number": lambda row: row["position"]["number"],
    "sub": lambda row: row["position"]["sub"],
    "position_time": lambda row: row["position"]["time"],
    "lag_seconds": lambda row: row["lag"]["seconds"],
    "lag_least_seconds": lambda row: row["lag"]["least_seconds"],
    "unread_seconds": lambda row: row["lag"]["unread_seconds"],
    "records": lambda row: row["lag"]["records"],
    "bytes": lambda row: row["lag"]["bytes"],
    "at_least": lambda row: row["lag"]["at_least"],
    "oldest_arrival": lambda row: row["lag"]["oldest_arrival"],
    "owner": lambda row: row["owner"],
    "progress": lambda row: (row["progress"] or {}).get("time"),
    "progress_exact": lambda row: (row["progress"] or {}).get("exact"),
    "verdict": lambda row: row["verdict"],
    "rules": lambda row: " ".join(row["rules"]),
}
"""Heads of a table for spreadsheets: times in UTC, lengths of time in seconds."""


def table(status: ConsumerStatus) -> tuple[Sequence[str], Iterable[Sequence[object]]]:
    """Heads and rows for spreadsheets, of shards or of workers."""
    if status.selection.by_worker:
        return workers.TABLE, map(workers.table_row, by_worker(status))
    fields = map(shard_document, status.rows)
    return tuple(_CELLS), ([cell(row) for cell in _CELLS.values()] for row in fields)
