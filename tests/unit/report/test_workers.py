"""`status --by worker`: who owns what, and who owns nothing; on rows that the libraries wrote."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.consumers.base import Worker
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.diagnosis.rules import Severity
from reshardctl.errors import ReshardError, UsageError
from reshardctl.model import Image, canonical, shard_id
from reshardctl.report.lag import Lag
from reshardctl.report.report import Report
from reshardctl.report.status import PositionKind, StatusSelection, status_of
from reshardctl.report.workers import (
    Room,
    WorkerStatus,
    _worst_first,
    by_worker,
    ownership_of,
    room_of,
)
from tests.support import golden_kinsumer
from tests.support.golden_tables import GOLDEN, items_of, side_images
from tests.support.judging import images_of
from tests.unit.render.samples import CASES, by_name, report_of
from tests.unit.render.status.samples import OPTIONS

NANOS = 10**9


def of_kcl(*folders: str) -> list[Worker]:
    folder = GOLDEN.joinpath(*folders)
    kcl = CONSUMERS["kcl"]
    table = kcl.parse([*images_of(items_of(folder)), *side_images(folder)], None)
    return list(kcl.workers(table))


def test_kcl_3_1_reports_its_workers_in_a_table_of_their_own():
    """lut of app-WorkerMetricStats.json, ownerName and leaseDuration of app-CoordinatorState.json.
    """
    assert of_kcl("3.1.3", "g1-mid-read") == [Worker("w1", 1795241832.0, leads=True, lock=120)]


def test_kcl_3_5_reports_them_beside_its_leases():
    """g12-restarted-by-another-worker: w1 was killed, w2 took over."""
    found = of_kcl("3.5.1", "g12-restarted-by-another-worker")
    assert {worker.name for worker in found} == {"w1", "w2"}
    assert all(worker.seen is not None for worker in found)
    assert sum(worker.leads for worker in found) <= 1


def test_kcl_2_has_none():
    assert of_kcl("2.7.2", "g1-mid-read") == []


def test_kinsumer_s_clients_have_rows():
    """app_clients.json: its one client, at its LastUpdate."""
    store = golden_kinsumer.GOLDEN / "kinsumer-twitchscience" / "g1-healthy-mid-read"
    images = golden_kinsumer.images_of(store)
    kinsumer = CONSUMERS["kinsumer"]
    (client,) = kinsumer.workers(kinsumer.parse(images, None))
    assert client.name == "fc979af6-d48f-4b4b-bdbe-1366daa8d243"
    assert client.seen == 1795239549532053767 / NANOS


def test_a_client_s_row_that_is_broken_names_what_it_can():
    kinsumer = CONSUMERS["kinsumer"]
    images = golden_kinsumer.images_of(golden_kinsumer.STORES[0])
    rows = [image for image in images if not image.key.startswith("clients/")]
    rows += [
        Image("clients/a", {"ID": {"S": "a"}, "LastUpdate": {"S": "yesterday"}}),
        Image("clients/b", {"ID": {"N": "7"}}),
    ]
    assert list(kinsumer.workers(kinsumer.parse(rows, None))) == [Worker("a")]


def test_shards_are_put_under_their_owners_the_worst_first():
    """a-both: w1 finished shard 0 and reads shard 1; its children 2 and 3 have no lease."""
    report = report_of("a-both", OPTIONS)
    status = status_of(report, report.findings, StatusSelection(by_worker=True))
    nobody, one = by_worker(status)
    assert (nobody.name, nobody.verdict) == ("", Severity.ERROR)
    assert [row.shard for row in nobody.unfinished] == [shard_id(2), shard_id(3)]
    assert nobody.rules == ("RSH203",)
    assert (one.name, one.verdict, one.seen, one.leads) == ("w1", None, None, False)
    assert [row.shard for row in one.shards] == [shard_id(1), shard_id(0)]
    assert [row.shard for row in one.unfinished] == [shard_id(1)]
    assert one.lag.seconds == max(row.lag.seconds or 0 for row in one.shards)


def test_workers_come_by_their_gravest_finding_then_by_their_lag():
    """One without a finding comes after one with a remark, however far it is behind."""
    report = report_of("a-both", OPTIONS)
    (row, *_) = status_of(report, report.findings, StatusSelection()).rows
    order = [
        (Severity.ERROR, 1.0), (Severity.WARNING, 9.0), (Severity.INFO, 2.0), (Severity.INFO, 1.0),
        (None, 9.0), (None, 0.5), (None, None),
    ]
    workers = [
        WorkerStatus(f"w{n}", (replace(row, verdict=verdict, lag=Lag(seconds)),))
        for n, (verdict, seconds) in enumerate(order)
    ]
    found = workers[::-1]
    found.sort(key=_worst_first)
    assert found == workers


def test_of_two_equal_lags_the_one_that_is_not_certain_is_told():
    """least_seconds: what is behind for sure."""
    report = report_of("a-both", OPTIONS)
    (row, *_) = status_of(report, report.findings, StatusSelection()).rows
    lags = [Lag(9.0, 9.0), Lag(9.0, 3.0), Lag(9.0, 5.0), Lag(8.0, 0.0), Lag()]
    worker = WorkerStatus("w", tuple(replace(row, lag=lag) for lag in lags))
    assert worker.lag == lags[1]


def test_a_finished_shard_whose_row_was_deleted_is_nobodys_to_read():
    """KCL deletes the lease of 0 once its children are read: its leases are those of w1 alone."""
    report = report_of("healthy-split-cleaned", OPTIONS)
    found = by_worker(status_of(report, report.findings, StatusSelection(by_worker=True)))
    assert [worker.name for worker in found] == ["w1"]


@by_name
def test_the_numbers_of_metrics_are_those_of_the_rows(name):
    report = judged(name)
    if report is None:
        return
    workers = by_worker(status_of(report, report.findings, StatusSelection(by_worker=True)))
    owned = ownership_of(report)
    assert owned.workers == {w.name: len(w.unfinished) for w in workers if w.name}
    free = sum(
        row.position.kind is not PositionKind.NONE
        for worker in workers if not worker.name for row in worker.unfinished
    )
    assert owned.unowned == free


def judged(name: str) -> Report | None:
    """`None` for a case that cannot be judged."""
    try:
        return report_of(name, OPTIONS)
    except ReshardError:
        return None


def owned_by(owners: list[str], most: int) -> Report:
    """A report on as many leases, each of its owner."""
    row = next(item for item in CASES["a-both"].items() if item["leaseKey"]["S"] == shard_id(1))
    items = [
        {**row, "leaseKey": {"S": shard_id(n)}, "leaseOwner": {"S": owner}}
        for n, owner in enumerate(owners)
    ]
    for item in items:
        if not item["leaseOwner"]["S"]:
            del item["leaseOwner"]
    return report_of("a-both", f"{OPTIONS}&max-leases={most}", items=items)


TEN = ["w1"] * 4 + ["w2"] * 4 + [""] * 2
"""The owners of ten leases."""


@pytest.mark.parametrize(("owners", "most", "rooms", "without", "needed"), [
    (TEN, 4, {"w1": 0, "w2": 0}, 2, 3),
    (TEN, 5, {"w1": 1, "w2": 1}, 0, 2), (TEN, 6, {"w1": 2, "w2": 2}, 0, 2),
    (["w1"] * 6 + ["w2"] * 4, 4, {"w1": 0, "w2": 0}, 2, 3),  # w1 was started with more
    ([""] * 10, 4, {}, 10, 3),
    (["w1"] + [""] * 9, 4, {"w1": 3}, 6, 3),
])  # fmt: skip
def test_the_room_of_all_workers(owners, most, rooms, without, needed):
    """Of ten leases two workers of at most four hold eight: LeaseSpillover of KCL."""
    report = owned_by(owners, most)
    room = room_of(report)
    held = [owner for owner in owners if owner]
    over = tuple(owner for owner in dict.fromkeys(held) if owners.count(owner) > most)
    assert room == Room(most, 10, len(held), sum(rooms.values()), len(rooms), needed, over)
    assert room.without == without
    found = by_worker(status_of(report, report.findings, StatusSelection(by_worker=True)))
    assert {w.name: w.room for w in found if w.name} == rooms
    assert all(w.room is None for w in found if not w.name)


def test_without_the_option_no_room_is_known():
    report = report_of("a-both", OPTIONS)
    assert room_of(report) is None


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "1" * 11])
def test_a_limit_that_is_none(text):
    """withMaxLeasesForWorker: "maxLeasesForWorker should be >= 1"."""
    with pytest.raises(UsageError, match="max-leases"):
        CONSUMERS["kcl"].validate_options({"max-leases": text})


RECORDED = {
    "2-compatible": ("3.5.1", "g6-two-to-three-compatible"), "2-to-3.5": ("3.5.1", "g6-two-to-3.5"),
    "three-tables": ("3.1.3", "g1-mid-read"), "2": ("2.7.2", "g1-mid-read"),
    "3.5-on-three-tables": ("3.5.1", "g6-three-tables-to-3.5"),
}  # fmt: skip


def migrations(run: str, client: str = "", tables: str = "", reporting: bool = True) -> dict:
    """Migration → state and next, of a recorded table; client, tables: other states in its rows.
    reporting: whether its workers have rows of their own."""
    folder = GOLDEN.joinpath(*RECORDED[run])
    images = [*images_of(items_of(folder)), *side_images(folder)]
    rows = []
    for image in images:
        item = dict(image.attributes)
        if image.key.endswith("Migration3.0") and client:
            item["cv"] = {"S": client}
        if not reporting and "lut" in item:
            continue
        rows.append(Image(image.key, canonical(item)))
    if tables:
        side = "app-CoordinatorState/" if run in ("three-tables", "3.5-on-three-tables") else ""
        rows.append(Image(f"{side}TableMigration3.5", canonical({
            ("key" if side else "leaseKey"): {"S": "TableMigration3.5"}, "mb": {"S": "w9"},
            "tm": {"S": f"TABLE_MIGRATION_STATUS_{tables}"}, "mts": {"N": "1795241000000"},
            "entityType": {"S": "TABLE_MIGRATION"},
        })))  # fmt: skip
    kcl = CONSUMERS["kcl"]
    return {m.name: m for m in kcl.migrations(kcl.parse(rows, None))}


AS_2, BACK, ROLLED = (
    "CLIENT_VERSION_UPGRADE_FROM_2X", "CLIENT_VERSION_3X_WITH_ROLLBACK", "CLIENT_VERSION_2X",
)  # fmt: skip


@pytest.mark.parametrize(("changed", "name", "state", "following"), [
    (("2-compatible",), "client", AS_2, "every owner of a lease has reported"),
    (("2-compatible", "", "", False), "client", AS_2, "their load (w1)"),
    (("2-compatible", BACK), "client", BACK, "without clientVersionConfig"),
    (("2-compatible", ROLLED), "client", ROLLED, "--mode rollforward"),
    (("2-compatible", "CLIENT_VERSION_INIT"), "client", "CLIENT_VERSION_INIT", "start the workers"),
    (("2-compatible", "X"), "client", "X", "RSH302"),
    (("2-to-3.5",), "client", "CLIENT_VERSION_3X", ""),
    (("three-tables",), "client", "CLIENT_VERSION_3X", ""),
    (("three-tables",), "tables", "", "start every worker with 3.5"),
    (("three-tables", AS_2), "tables", "", "finish the migration to 3.x first"),
    (("3.5-on-three-tables", "", "INIT"), "tables", "INIT", "by itself"),
    (("3.5-on-three-tables", "", "DEPLOYED"), "tables", "DEPLOYED", "with migrateAllEntities"),
    (("3.5-on-three-tables", "", "PENDING"), "tables", "PENDING", "by itself"),
    (("3.5-on-three-tables", "", "COMPLETE"), "tables", "COMPLETE", "delete the tables"),
    (("2-to-3.5", "", "COMPLETE"), "tables", "COMPLETE", ""),
])  # fmt: skip
def test_how_far_a_migration_is(changed, name, state, following):
    """States: ClientVersion and TableMigrationStatus of 3.5.1, on tables that real workers left."""
    found = migrations(*changed)[name]
    assert found.state == state and following in found.next and bool(following) is bool(found.next)


def test_when_and_by_whom_a_state_was_set():
    """mts (milliseconds) and mb of both rows."""
    found = migrations("3.5-on-three-tables", "", "PENDING")
    assert (found["tables"].since, found["tables"].by) == (1795241000.0, "w9")
    assert found["client"].by == "w1" and found["client"].since


@pytest.mark.parametrize(("run", "names"), [
    ("2", []), ("2-to-3.5", ["client"]), ("three-tables", ["client", "tables"]),
])  # fmt: skip
def test_migrations_that_never_began_are_none(run, names):
    assert list(migrations(run)) == names
