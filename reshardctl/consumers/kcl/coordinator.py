"""An application's own state in rows that are no leases: its migration, its leader.

KCL 3.0-3.4 keep it in two tables, `<application>-CoordinatorState` and `-WorkerMetricStats`. 3.5
keeps it in the lease table, unless it found the two tables and was not told to give them up (runs
on 3.1.3 and 3.5.1, November 2026). Sources: MigrationState, MigrationClientVersionStateInitializer,
CoordinatorStateDAO of 3.1.3 and 3.5.1, which reads the separate table first until the move into the
lease table is complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reshardctl.model import Attributes, Image, SideTable

STATE, WORKERS = "-CoordinatorState", "-WorkerMetricStats"
MIGRATION, TABLE_MIGRATION, LEADER = "Migration3.0", "TableMigration3.5", "Leader"

UPGRADING, ROLLED_BACK = "CLIENT_VERSION_UPGRADE_FROM_2X", "CLIENT_VERSION_2X"
WITH_ROLLBACK, FINAL = "CLIENT_VERSION_3X_WITH_ROLLBACK", "CLIENT_VERSION_3X"
LONGEST_TIME = 19
"""Digits of the last Long."""
COMPLETE, _STATUS = "COMPLETE", "TABLE_MIGRATION_STATUS_"
CLIENTS = frozenset({"CLIENT_VERSION_INIT", UPGRADING, ROLLED_BACK, WITH_ROLLBACK, FINAL})
"""ClientVersion of 3.5.1."""


@dataclass(frozen=True, slots=True)
class Coordinator:
    """The state in those rows.

    Attributes:
        client: State of the migration, "" where none is stored.
        broken: What makes its row unreadable.
        tables: State of the move into the lease table.
        leader: The row of the leader's lock.
        beside: Whether the separate tables exist.
        unread: Why those were not read.
    """

    client: str = ""
    broken: str = ""
    tables: str = ""
    leader: Image | None = None
    beside: bool = False
    unread: tuple[str, ...] = ()

    @property
    def as_2(self) -> bool:
        """Whether 3.x workers assign leases as 2.x does, without the leader's lock."""
        return self.client in (UPGRADING, ROLLED_BACK)


def side_tables(application: str) -> tuple[SideTable, ...]:
    """The side tables to read, the one with the migration state first."""
    return (
        SideTable(f"{application}{STATE}", "key", (MIGRATION, TABLE_MIGRATION, LEADER)),
        SideTable(f"{application}{WORKERS}", "wid"),
    )


def is_side(key: str) -> bool:
    """Whether a row's key is that of a row in a side table: `<table>/<key>`."""
    table, slash, _ = key.partition("/")
    return bool(slash) and table.endswith((STATE, WORKERS))


def workers(foreign: Mapping[str, Image], side: Mapping[str, Image]) -> Iterator[tuple[Image, int]]:
    """The rows of 3.x workers, with the time (Unix seconds) of their last update, "lut"."""
    for image in (*foreign.values(), *side.values()):
        lut = image.attributes.get("lut", {}).get("N")
        if isinstance(lut, str) and lut.isdecimal() and len(lut) <= LONGEST_TIME:
            yield image, int(lut)


def coordinator_of(foreign: Mapping[str, Image], side: Mapping[str, Image]) -> Coordinator:
    """The application's state. foreign: rows beside the leases; side: rows of its side tables."""
    own = {
        key.partition("/")[2]: image for key, image in side.items()
        if key.partition("/")[0].endswith(STATE)
    }
    unread = tuple(
        _text(image.attributes, "unread") for key, image in side.items() if key.endswith("/")
    )
    there = {key: image for key, image in own.items() if key}
    tables = there.get(TABLE_MIGRATION) or foreign.get(TABLE_MIGRATION)
    moved = _text(tables.attributes, "tm").removeprefix(_STATUS) if tables else ""
    first, second = (foreign, there) if moved == COMPLETE else (there, foreign)
    migration = first.get(MIGRATION) or second.get(MIGRATION)
    beside = migration is not None and migration is there.get(MIGRATION)
    return Coordinator(
        _text(migration.attributes, "cv") if migration else "",
        broken(migration.attributes, beside) if migration else "",
        moved, first.get(LEADER) or second.get(LEADER), bool(there), unread,
    )


def broken(item: Attributes, beside: bool = False) -> str:
    """What keeps KCL from reading a `Migration3.0` row; "" where it can.

    KCL then takes the row for one of another kind and gives up ("Unexpected state found not
    confirming to MigrationState schema", MigrationClientVersionStateInitializer of 3.1.3, 3.5.1).
    """
    kind = item.get("entityType")
    if not beside and kind is not None and kind.get("S") != "CLIENT_VERSION_MIGRATION":
        return f"its entityType is {kind.get('S', '?')}"
    return next(_flaws(item), "") or next((f"its history: {f}" for f in _history(item)), "")


def _flaws(item: Attributes) -> Iterator[str]:
    if _text(item, "cv") not in CLIENTS:
        yield f"cv is {_text(item, 'cv') or 'missing'}"
    if "mb" not in item:
        yield "mb is missing"
    if not _is_number(item):
        yield "mts is missing or no number"


def _history(item: Attributes) -> Iterator[str]:
    if "h" not in item:
        return
    entries = item["h"].get("L")
    if not isinstance(entries, list):
        yield "h is no list"
        return
    for entry in entries:
        inner = entry.get("M") if isinstance(entry, Mapping) else None
        if not isinstance(inner, Mapping):
            yield "an entry is no map"
        else:
            yield from _flaws(inner)


def _is_number(item: Attributes) -> bool:
    value = item.get("mts", {}).get("N")
    return isinstance(value, str) and value.removeprefix("-").isdecimal()


def _text(item: Attributes, name: str) -> str:
    value = item.get(name, {}).get("S")
    return value if isinstance(value, str) else ""
