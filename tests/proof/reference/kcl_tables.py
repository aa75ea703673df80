"""A KCL worker on a table that holds more than one stream's leases, or beside side tables.

Multi-stream: MultiStreamLease and DynamoDBMultiStreamLeaseSerializer of 2.7.2 and 3.5.1 take
stream and shard from attributes; the table is listed whole, each stream is audited by itself
(PeriodicShardSyncManager.getStreamToLeasesMap). Only one stream is played here. Before anything
else a 3.x worker reads the state of its migration (MigrationClientVersionStateInitializer), from
its side table first (CoordinatorStateDAO).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reshardctl.testing import FakeKinesis
from tests.proof.reference.kcl import Run, run
from tests.proof.reference.kcl_lease import Item, UnreadableRowError, lease_of, version

CLIENT_VERSIONS = {
    "CLIENT_VERSION_INIT", "CLIENT_VERSION_UPGRADE_FROM_2X", "CLIENT_VERSION_2X",
    "CLIENT_VERSION_3X_WITH_ROLLBACK", "CLIENT_VERSION_3X",
}  # fmt: skip


def run_beside(
    fake: FakeKinesis, stream: str, items: list[Item], initial: str, release: str,
    live: Callable[[], None] | None = None, *, identifier: str = "",
    side: Mapping[str, Sequence[Item]] | None = None, cleanup: bool = False,
) -> Run:
    """As `kcl.run`. identifier: the stream as the application names it, "" for one of one stream.

    side: items of the side tables, by what is behind the application's name.
    """
    dead = Run({}, [], list(items), True, {})
    if version(release) >= (3,) and not _migration_is_read(items, side or {}, release):
        return dead
    if not identifier:
        return run(fake, stream, items, initial, release, live, cleanup=cleanup)
    try:
        own = _own_leases(items, identifier, release)
    except UnreadableRowError:
        return dead
    ran = run(fake, stream, own, initial, release, live, cleanup=cleanup)
    rest = [item for item in items if item.get("streamName") != {"S": identifier}]
    return Run(ran.delivered, ran.order, [*map(_full(identifier), ran.table), *rest], ran.died,
               ran.stuck)


def _own_leases(items: list[Item], identifier: str, release: str) -> list[Item]:
    """The stream's rows with bare keys. One row that cannot be read fails the list before 3.5.0."""
    own = []
    for item in items:
        try:
            if lease_of(item, release) is None:
                raise UnreadableRowError(f"{item['leaseKey']['S']}: of another kind")
            for name in ("streamName", "shardId"):
                if "S" not in item.get(name, {}):
                    raise UnreadableRowError(f"{item['leaseKey']['S']}: no {name}")
        except UnreadableRowError:
            if version(release) < (3, 5):
                raise
            if item.get("streamName") != {"S": identifier} and not item["leaseKey"]["S"].startswith(
                f"{identifier}:"
            ):
                continue
            bare = item["leaseKey"]["S"].removeprefix(f"{identifier}:")
            own.append(_unreadable({**item, "leaseKey": {"S": bare}}))
            continue
        if item["streamName"]["S"] == identifier:
            own.append({**item, "leaseKey": {"S": item["shardId"]["S"]}})
    return own


def _unreadable(item: Item) -> Item:
    """Its key is taken, and no list shows it."""
    return {name: value for name, value in item.items() if name != "leaseCounter"}


def _full(identifier: str) -> Callable[[Item], Item]:
    def full(item: Item) -> Item:
        shard = item["leaseKey"]["S"]
        names = {"streamName": {"S": identifier}, "shardId": {"S": shard}}
        return {**item, **names, "leaseKey": {"S": f"{identifier}:{shard}"}}

    return full


def _migration_is_read(
    items: list[Item], side: Mapping[str, Sequence[Item]], release: str
) -> bool:
    """Whether MigrationState.deserialize makes something of the row, or there is none."""
    beside = [i for i in side.get("CoordinatorState", ()) if i["key"] == {"S": "Migration3.0"}]
    within = [i for i in items if i["leaseKey"] == {"S": "Migration3.0"}]
    if version(release) < (3, 5):
        within = []
    state = next(iter([*beside, *within]), None)
    if state is None:
        return True
    return _whole(state) and all(_whole(entry["M"]) for entry in state.get("h", {}).get("L", []))


def _whole(state: Item) -> bool:
    known = state.get("cv", {}).get("S") in CLIENT_VERSIONS
    return known and "mb" in state and state.get("mts", {}).get("N", "x").lstrip("-").isdigit()
