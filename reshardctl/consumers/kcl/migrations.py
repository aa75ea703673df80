"""How far the migrations of KCL's own state are, and what has to happen next.

From 2.x to 3.x (the row `Migration3.0`), and of the side tables into the lease table
(`TableMigration3.5`). Sources, all of 3.5.1: ClientVersion, MigrationReadyMonitor (it waits until
the index is active and every owner of a lease has reported its load), MigrationClientVersion-
StateInitializer (a worker without clientVersionConfig ends the way back), TableMigrationState-
MachineImpl, and the release's notes in CHANGELOG.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.consumers.base import Migration
from reshardctl.consumers.kcl.rows import LeaseTable
from reshardctl.consumers.kcl.table import (
    COMPLETE,
    FINAL,
    LONGEST_TIME,
    ROLLED_BACK,
    STATE,
    UPGRADING,
    WITH_ROLLBACK,
    WORKERS,
    Coordinator,
    named_workers,
)
from reshardctl.model import Image
from reshardctl.model.phrases import listed

NAMED = 5
_OF_CLIENTS = {
    ROLLED_BACK: "run KclMigrationTool.py --mode rollforward to go on, or start 2.x again",
    WITH_ROLLBACK: "start every worker without clientVersionConfig: the first one ends the way "
    "back to 2.x",
    FINAL: "",
}
_OF_TABLES = {
    "INIT": "wait: it goes on by itself once every worker has run 3.5 for a while",
    "DEPLOYED": "start every worker with migrateAllEntitiesToLeaseTable",
    "PENDING": "wait: it goes on by itself, as long as every worker has "
    "migrateAllEntitiesToLeaseTable",
}


def migrations(table: LeaseTable) -> list[Migration]:
    """Those that have begun, and the move of side tables that there are."""
    return [*_of_clients(table), *_of_tables(table.coordinator)]


def _of_clients(table: LeaseTable) -> Iterator[Migration]:
    state = table.coordinator
    if state.migration is None:
        return
    if state.broken:
        following = f"repair the row ({state.broken}): reshardctl rule RSH302"
    elif state.client == UPGRADING:
        following = _ready(table)
    else:
        following = _OF_CLIENTS.get(state.client, "start the workers: they set the next state")
    yield _migration("client", "from KCL 2.x to 3.x", state.client, state.migration, following)


def _ready(table: LeaseTable) -> str:
    """What an upgrade waits for; whether the index is active, no row tells."""
    known = {w.name for w in named_workers(table.foreign, table.side, None)}
    owners = {row.owner for row in table.leases() if row.owner}
    silent = sorted(owners - known)
    by_itself = (
        "it goes on by itself once the index on leaseOwner is ACTIVE "
        "(reshardctl config tables --check)"
    )
    if not silent:
        return f"wait: {by_itself}; every owner of a lease has reported its load"
    return (
        "start 3.x in place of the owners of leases that have not reported their load "
        f"({listed(silent, NAMED)}); then {by_itself}"
    )


def _of_tables(state: Coordinator) -> Iterator[Migration]:
    if not state.beside and not state.tables:
        return
    if state.tables == COMPLETE:
        unused = f"delete the tables …{STATE} and …{WORKERS}: KCL does not use them any more"
        following = unused if state.beside else ""
    elif state.tables in _OF_TABLES:
        following = _OF_TABLES[state.tables]
    elif state.client != FINAL:
        following = "finish the migration to 3.x first"
    else:
        following = "start every worker with 3.5 or later, without migrateAllEntitiesToLeaseTable"
    yield _migration(
        "tables", "of the side tables into the lease table", state.tables, state.move, following
    )


def _migration(name: str, what: str, state: str, row: Image | None, following: str) -> Migration:
    changed = row.attributes.get("mts", {}).get("N", "") if row else ""
    known = isinstance(changed, str) and changed.isdecimal() and len(changed) <= LONGEST_TIME
    by = row.attributes.get("mb", {}).get("S", "") if row else ""
    return Migration(
        name, what, state, following, int(changed) / 1000 if known else None,
        by if isinstance(by, str) else "",
    )
