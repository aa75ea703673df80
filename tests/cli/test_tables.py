"""Tables with more in them than one stream's leases, and those beside the table."""

from __future__ import annotations

import pytest

from tests.support.case import CASES, load
from tests.support.side_tables import side_items

OPTIONS = "?initial=TRIM_HORIZON&release=3.1.3"
pytestmark = pytest.mark.lab("multi-children-lost", OPTIONS)


def case_of(name: str):
    return load(CASES / "kcl-tables" / f"{name}.toml")


def test_side_tables_are_read_and_never_written(lab_of):
    case = case_of("side-children-lost")
    lab = lab_of(case, OPTIONS)
    before = side_items(lab.table.boto, lab.table.name, case)
    found = lab.inspect("--format", "json")
    assert {f["code"] for f in found.json["findings"]} == {"RSH203", "RSH402"}
    assert lab.fix().code == 0
    assert lab.inspect().code == 0
    assert lab.undo().code == 0
    assert side_items(lab.table.boto, lab.table.name, case) == before


def test_a_table_without_side_tables_is_asked_once(lab_of, wire):
    lab = lab_of("a-both", OPTIONS)
    lab.inspect()
    assert [name for _, name in wire.calls].count("GetItem") == 1


@pytest.mark.parametrize("operation", ["GetItem", "Scan"])
def test_side_tables_that_may_not_be_read_are_named(lab_of, wire, operation):
    """AccessDeniedException: what AWS answers where a policy does not name the table."""
    lab = lab_of("side-children-lost", OPTIONS)
    lab.alter("shardId-000000000001", throughputKBps={"N": "0.5"})
    wire.fail(operation, "AccessDeniedException", after=1 if operation == "Scan" else 0)
    found = lab.inspect("--format", "json")
    assert found.codes == {"RSH203"}
    table = "CoordinatorState" if operation == "GetItem" else "WorkerMetricStats"
    (note,) = [n for n in found.json["notes"] if "not looked at" in n]
    assert f"{lab.table.name}-{table}" in note and f"dynamodb:{operation}" in note


def test_side_tables_that_cannot_be_read_are_an_error(lab_of, wire):
    """Throttled for good: a read that comes short is no clean report."""
    lab = lab_of("side-children-lost", OPTIONS)
    wire.fail("GetItem", "ProvisionedThroughputExceededException")
    found = lab.inspect()
    assert found.code == 3 and found.says("CoordinatorState", "throttled")


def test_a_worker_that_only_reports_its_metrics_is_running(lab_of):
    """lut is written every 30 s by each worker of 3.x, with or without a lease."""
    case = case_of("side-children-lost")
    lab = lab_of(case, OPTIONS)
    table = f"{lab.table.name}-WorkerMetricStats"

    def report(_seconds: float) -> None:
        (item,) = case.side["WorkerMetricStats"]
        lab.table.boto.put_item(TableName=table, Item={**item, "lut": {"N": "1795220630"}})

    lab.on_sleep.append(report)
    done = lab.cli("fix", *lab.where, "--yes", "--watch", "60s")
    assert done.code == 4 and done.says("running", "WorkerMetricStats/w1")


def test_a_stream_without_rows_is_told_whose_rows_there_are(lab_of):
    case = case_of("multi-children-lost")
    lab = lab_of(case, OPTIONS)
    for row in lab.items():
        if ":orders:" in row:
            lab.table.pull(row)
    found = lab.inspect()
    assert found.code == 2 and found.says("123456789012:invoices:1795000000", "orders")


def test_only_the_stream_s_own_rows_are_written(lab):
    others = {key: item for key, item in lab.items().items() if ":invoices:" in key}
    assert len(others) == 2
    seen = lab.inspect("--format", "json")
    (note,) = [n for n in seen.json["notes"] if "multi-stream" in n]
    assert "2 rows of 1 other stream" in note and ":invoices:1795000000 (2)" in note
    assert lab.fix().code == 0
    assert {k: lab.items()[k] for k in others} == others
    made = lab.items()["123456789012:orders:1795219200:shardId-000000000002"]
    assert made["streamName"] == {"S": "123456789012:orders:1795219200"}
    assert made["shardId"] == {"S": "shardId-000000000002"}
    assert made["parentShardId"] == {"SS": ["shardId-000000000000"]}


def test_one_row_of_the_other_kind_of_application_is_named_and_left_alone(lab_of):
    lab = lab_of("multi-children-lost", "?initial=TRIM_HORIZON&release=3.5.1")
    stray = {"leaseKey": {"S": "shardId-000000000001"}, "checkpoint": {"S": "LATEST"}}
    lab.plant(stray)
    found = lab.inspect()
    assert found.code == 1 and "RSH203" in found.out and "'1' of a single-stream" in found.out
    assert lab.fix().code == 0
    assert lab.items()["shardId-000000000001"] == stray


def test_as_many_rows_of_both_kinds_of_application_are_refused(lab):
    for shard in range(len(lab.items())):
        key = f"shardId-{shard:012d}"
        lab.plant({"leaseKey": {"S": key}, "checkpoint": {"S": "LATEST"}})
    found = lab.inspect()
    assert found.code == 2 and found.says("single-stream", "does not show which")


def test_a_saved_plan_for_one_stream_is_stale_when_its_own_row_moves_only(lab, tmp_path):
    plan = tmp_path / "orders.plan"
    assert lab.dry("--out", plan).code == 1
    own = "123456789012:orders:1795219200:shardId-000000000000"
    lab.alter("123456789012:invoices:1795000000:shardId-000000000000", checkpoint={"S": "LATEST"})
    before = lab.items()[own]
    lab.alter(own, checkpoint={"S": "TRIM_HORIZON"})
    stale = lab.apply(plan)
    assert stale.code == 4
    lab.plant(before)
    assert lab.apply(plan).code == 0


@pytest.mark.parametrize("name", ["side-children-lost", "multi-children-lost"])
def test_a_redacted_snapshot_says_the_same_without_names(lab_of, tmp_path, name):
    lab = lab_of(name, OPTIONS)
    file = tmp_path / "orders.json"
    made = lab.cli("snapshot", lab.locator, "--stream", "orders", "-o", file, "--redact")
    assert made.code == 0, made.err
    text = file.read_text(encoding="utf-8")
    assert lab.table.name not in text and "orders" not in text
    frozen = lab.cli("inspect", f"snapshot:{file}", "--format", "json")
    alive = lab.inspect("--format", "json")
    assert frozen.codes == alive.codes == {"RSH203"}
    assert [f["code"] for f in frozen.json["findings"]] == [
        f["code"] for f in alive.json["findings"]
    ]
