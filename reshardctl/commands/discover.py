"""`discover`: lists the tables, checks their keys, and samples those that may hold positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from reshardctl.commands.account import Account
from reshardctl.commands.connect import catalog_of, listed
from reshardctl.commands.inspect_many import at_once
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.consumers.libraries import library_of
from reshardctl.diagnosis.discovery import Found, Table, weigh
from reshardctl.errors import ReshardError, UsageError
from reshardctl.lineage import Lineage
from reshardctl.stores.dynamodb.catalog import Catalog


@dataclass(frozen=True, slots=True)
class DiscoverRequest:
    """Whose tables to look for. stream: name or ARN. account: how AWS is reached."""

    stream: str
    account: Account = field(default_factory=Account)


def discover(request: DiscoverRequest, observer: Observer = SILENT) -> Found:
    """The tables that may hold the stream's positions.

    Raises CannotTell if the stream or the tables cannot even be listed.
    """
    lineage, now = listed(request.account, request.stream, observer)
    catalog = catalog_of(request.account)
    names = list(catalog.names())
    observer.phase(f"looking at {len(names)} tables")
    jobs = [_looking(catalog, name, lineage, now) for name in names]
    tables: list[Table] = []
    unread: list[tuple[str, str]] = []
    for name, outcome in zip(names, at_once(jobs), strict=True):
        if isinstance(outcome, Table):
            tables.append(outcome)
        elif isinstance(outcome, UsageError):
            continue  # The table was deleted meanwhile.
        elif isinstance(outcome, ReshardError):
            unread.append((name, outcome.what))
    return Found(lineage, now, tuple(tables), len(names), tuple(unread))


def _looking(
    catalog: Catalog, name: str, lineage: Lineage, now: float
) -> Callable[[], Table | None]:
    def look() -> Table | None:
        key, units = catalog.described(name)
        library = library_of(key)
        if library is None:
            return None
        return Table(name, library, weigh(library, catalog.sample(name, key, units), lineage, now))

    return look
