"""`status --by worker`: who owns what, and who owns nothing; on rows that the libraries wrote."""

from __future__ import annotations

from reshardctl.consumers.base import Worker
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.diagnosis.rules import Severity
from reshardctl.model import Image, shard_id
from reshardctl.report.status import StatusSelection, status_of
from reshardctl.report.workers import by_worker
from tests.support import golden_kinsumer
from tests.support.golden_tables import GOLDEN, items_of, side_images
from tests.support.judging import images_of
from tests.unit.render.samples import report_of
from tests.unit.render.status.samples import OPTIONS

NANOS = 10**9


def of_kcl(*folders: str) -> list[Worker]:
    folder = GOLDEN.joinpath(*folders)
    kcl = CONSUMERS["kcl"]
    table = kcl.parse([*images_of(items_of(folder)), *side_images(folder)], None)
    return list(kcl.workers(table))


def test_kcl_3_1_reports_its_workers_in_a_table_of_their_own():
    """lut of app-WorkerMetricStats.json, ownerName of app-CoordinatorState.json."""
    assert of_kcl("3.1.3", "g1-mid-read") == [Worker("w1", 1795241832.0, leads=True)]


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
    assert one.lag == max(row.lag.seconds or 0 for row in one.shards)


def test_finished_shards_of_nobody_are_no_worker():
    report = report_of("healthy-split-cleaned", OPTIONS)
    status = status_of(report, report.findings, StatusSelection(by_worker=True))
    assert all(worker.name or worker.unfinished for worker in by_worker(status))
