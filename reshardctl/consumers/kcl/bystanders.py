"""What rows beside the judged stream's own leases do to a worker: kill it, or change its ways."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.kcl.coordinator import (
    FINAL,
    MIGRATION,
    ROLLED_BACK,
    UPGRADING,
    WITH_ROLLBACK,
    Coordinator,
)
from reshardctl.consumers.kcl.releases import Traits
from reshardctl.consumers.kcl.rows import LeaseTable, Row
from reshardctl.model import Cause, Crash

MULTI_STREAM = (2, 3)
"""The first release that reads several streams from one table."""
NAMES = frozenset({"streamName", "shardId"})

_STATES = {
    UPGRADING: "KCL 3.x is upgrading from 2.x here ({cv}): its workers assign leases as 2.x does, "
    "without a leader's lock, until every worker is 3.x",
    ROLLED_BACK: "KCL 3.x was rolled back here ({cv}): its workers assign leases as 2.x does, "
    "whatever they are configured with, until someone rolls it forward",
    WITH_ROLLBACK: "KCL 3.x runs here in its own way and can still be rolled back ({cv})",
}

_NOT_YET = (
    "a worker of KCL 3.5 with migrateAllEntitiesToLeaseTable dies at its start until "
    "TableMigration3.5 is DEPLOYED"
)
_MOVES = {
    "": f"its side tables are in use; {_NOT_YET}",
    "INIT": f"its side tables are in use, and 3.5 is being rolled out (INIT); {_NOT_YET}",
    "DEPLOYED": "its side tables are in use and may be moved into the lease table (DEPLOYED)",
    "PENDING": "its side tables are moving into the lease table (PENDING): it can still go back",
    "COMPLETE": "its side tables have moved into the lease table for good (COMPLETE)",
}
"""TableMigrationStateMachineImpl of 3.5.1, by the state stored in `TableMigration3.5`."""


def death(table: LeaseTable, traits: Traits) -> Crash | None:
    """The first row but the stream's own that the release dies of."""
    if traits.leader_lock and table.coordinator.broken:
        return Crash(
            f"KCL {traits.release} cannot read the row {MIGRATION} ({table.coordinator.broken}) "
            "and dies after twenty attempts",
            f"the row {MIGRATION} is whole again, or gone",
        )
    rows = [row for some in table.others.values() for row in some]
    if bad := next((row for row in rows if _deadly(row, traits)), None):
        return _unreadable(bad, traits, None)
    if bad := next((row for row in table.rows.values() if _nameless(row, traits)), None):
        return _unreadable(bad, traits, Cause.UNREADABLE)
    return None


def _unreadable(row: Row, traits: Traits, cause: Cause | None) -> Crash:
    """cause: what lays it to the stream's own rows; `None` lays it to those beside them."""
    return Crash(
        f"KCL {traits.release} cannot read the lease {row.image.key} "
        f"({', '.join(row.lacking)} missing or wrong) and dies after twenty attempts",
        "the row is whole again", cause=cause,
    )


def in_the_way(table: LeaseTable, traits: Traits) -> Cannot | None:
    """What no write to the stream's own leases can change, and the worker dies of."""
    if table.foreign and not traits.takes_foreign:
        return Cannot(
            f"KCL {traits.release} dies of the rows that 3.5 keeps beside its leases, "
            "and only leases are ours to write",
            (
                "start the application with KCL 3.5 or later, which can assign leases as 2.x does",
                "or stop every worker and delete those rows by hand: reshardctl rule RSH302",
            ),
        )
    if traits.leader_lock and table.coordinator.broken:
        return Cannot(
            f"KCL {traits.release} dies of the row {MIGRATION}: {table.coordinator.broken}; "
            "only leases are ours to write",
            ("put the row right by hand: reshardctl rule RSH302",),
        )
    for named, rows in table.others.items():
        if any(_deadly(row, traits) for row in rows):
            return Cannot(
                f"KCL {traits.release} dies of a row of another stream, {named.text}",
                (f"mend that stream's rows first, with --stream {named.name}",),
            )
    return None


def _deadly(row: Row, traits: Traits) -> bool:
    return bool(traits.dies_without.intersection(row.lacking)) or _nameless(row, traits)


def _nameless(row: Row, traits: Traits) -> bool:
    """MultiStreamLease refuses to be made without its stream; before 3.4.3 that fails the whole
    list (DynamoDBLeaseRefresher.list)."""
    return not traits.takes_foreign and not NAMES.isdisjoint(row.lacking)


def notes(table: LeaseTable, traits: Traits) -> Iterator[str]:
    """What an operator should know of the other streams and of the application's state."""
    yield from table.notes
    state = table.coordinator
    if traits.leader_lock:
        yield from _of_3(state, traits.takes_foreign)
    elif state.client in (WITH_ROLLBACK, FINAL):
        yield (
            f"KCL 3.x runs here in its own way ({state.client}): stop all of its workers before "
            f"KCL {traits.release} starts"
        )
    if state.unread and table.newer_than_2 and not table.foreign:
        yield f"not looked at: {'; '.join(state.unread)}"


def _of_3(state: Coordinator, takes_foreign: bool) -> Iterator[str]:
    if not state.as_2:
        yield (
            "KCL 3.x: after a crash nothing is assigned until the old leader's lock is two "
            "minutes old; a graceful stop leaves none"
        )
    if state.client in _STATES:
        yield _STATES[state.client].format(cv=state.client)
    if state.tables or (state.beside and takes_foreign):
        yield _MOVES.get(state.tables, f"TableMigration3.5 is {state.tables}, which is not known")
