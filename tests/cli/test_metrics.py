"""`inspect --format openmetrics`: read as Prometheus reads it, with what stays after a failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.cli.lab import TRIM_HORIZON, Lab, mode_of_new_files

pytestmark = pytest.mark.lab("healthy-roots", TRIM_HORIZON)

FIRST, SECOND = "shardId-000000000000", "shardId-000000000001"
HOUR = 3600.0


def samples(text: str) -> dict[str, dict[tuple[str, ...], float]]:
    """Metric → values by the labels after stream and consumer."""
    values: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(text):
        assert family.type == "gauge" and family.documentation
        own = values.setdefault(family.name.removeprefix("reshardctl_"), {})
        for sample in family.samples:
            names = list(sample.labels)
            assert names[:2] == ["stream", "consumer"]
            own[tuple(sample.labels[name] for name in names[2:])] = sample.value
    return values


def read(path: Path) -> dict[str, dict[tuple[str, ...], float]]:
    return samples(path.read_text("utf-8"))


def age_of(lab: Lab, shard: int, record: int) -> float:
    """Seconds since a record of the stream arrived."""
    return lab.time() - lab.fake.stream("orders").shards[shard].records[record].arrival


def test_without_probe_only_what_the_rows_tell(lab, tmp_path):
    path = tmp_path / "metrics"
    shown = lab.inspect("--format", f"openmetrics={path}")
    assert shown.code == 0 and "OK: every open shard will be read to its end" in shown.out
    told = read(path)
    assert told["up"] == {(): 1}
    assert told["last_success_timestamp_seconds"][()] == pytest.approx(lab.time(), abs=0.001)
    assert told["retention_seconds"] == {(): 24 * HOUR}
    assert told["expired_unread"] == {(): 0} and told["finding"] == {}
    assert told["position_age_seconds"][()] == pytest.approx(age_of(lab, 0, 1), abs=3)
    for unknown in ("oldest_unread_seconds", "retention_margin_seconds", "lag_retention_ratio"):
        assert told[unknown] == {}, "no record was read"
    assert path.read_text().endswith("# EOF\n")
    assert path.stat().st_mode & 0o777 == mode_of_new_files()
    assert "GetRecords" not in [name for _, name in lab.wire.calls]


def test_with_probe_the_oldest_unread_record(lab):
    told = samples(lab.inspect("--probe", "--format", "openmetrics").out)
    oldest = max(age_of(lab, shard, 2) for shard in (0, 1))
    assert told["oldest_unread_seconds"][()] == pytest.approx(oldest, abs=1)
    assert told["retention_margin_seconds"][()] == pytest.approx(24 * HOUR - oldest, abs=1)
    assert told["lag_retention_ratio"][()] == pytest.approx(oldest / (24 * HOUR), abs=1e-4)


def test_a_report_beside_metrics_is_the_same(lab, tmp_path):
    alone = lab.inspect("--probe", "--format", "json").json
    beside = lab.inspect(
        "--probe", "--format", "json", "--format", f"openmetrics={tmp_path / 'm'}"
    ).json
    assert {**alone, "taken": ""} == {**beside, "taken": ""}


def test_per_shard(lab):
    shard = lab.fake.stream("orders").shards[1]
    lab.alter(SECOND, checkpoint={"S": str(shard.records[-1].number)})
    told = samples(lab.inspect("--probe", "--per-shard", "--format", "openmetrics").out)
    assert told["oldest_unread_seconds"][SECOND,] == 0
    assert told["oldest_unread_seconds"][FIRST,] == pytest.approx(age_of(lab, 0, 2), abs=1)
    assert set(told["retention_margin_seconds"]) == {(FIRST,)}, "nothing of the other can expire"
    assert told["expired_unread"] == {(FIRST,): 0, (SECOND,): 0}
    assert told["up"] == {(): 1}


def test_everything_read(lab):
    for key, shard in lab.fake.stream("orders").shards.items():
        number = str(shard.records[-1].number)
        lab.alter(f"shardId-{key:012d}", checkpoint={"S": number})
    told = samples(lab.inspect("--probe", "--format", "openmetrics").out)
    assert told["oldest_unread_seconds"] == told["lag_retention_ratio"] == {(): 0}
    assert told["retention_margin_seconds"] == {}


def test_findings(lab_of):
    lab = lab_of("a-both", "?initial=LATEST&release=2.7.2")
    shown = lab.inspect("--format", "openmetrics")
    assert shown.code == 1 and samples(shown.out)["finding"] == {("RSH203", "error"): 2}
    each = samples(lab.inspect("--per-shard", "--format", "openmetrics").out)["finding"]
    assert each == {
        ("RSH203", "error", "shardId-000000000002"): 1,
        ("RSH203", "error", "shardId-000000000003"): 1,
    }


def test_the_deadline_of_a_finding_is_the_margin(lab_of):
    """No record was read: the time from which on loss is possible, as the report says."""
    lab = lab_of("a-both", "?initial=LATEST&release=2.7.2")
    told = samples(lab.inspect("--format", "openmetrics").out)
    (finding,) = lab.inspect("--format", "json").json["findings"]
    from reshardctl.model.times import parse_instant

    starts = parse_instant(finding["deadline"]["starts"])
    assert told["retention_margin_seconds"][()] == pytest.approx(starts - lab.time(), abs=1.1)


def test_expired(lab):
    """Both positions are older than the retention, and unread records were there."""
    lab.fake.clock.advance(30 * HOUR)
    told = samples(lab.inspect("--format", "openmetrics").out)
    assert told["expired_unread"] == {(): 2}
    assert told["retention_margin_seconds"][()] == pytest.approx(-6 * HOUR, abs=HOUR)
    assert ("RSH204", "warning") in told["finding"]


def test_what_could_not_be_judged(lab, tmp_path):
    """Exit 3: `up` is 0, nothing old is left but the time of the last success."""
    path = tmp_path / "metrics"
    words = ("--format", f"openmetrics={path}")
    lab.inspect(*words)
    before = read(path)["last_success_timestamp_seconds"]
    lab.fake.clock.advance(300)
    lab.wire.fail("Scan", "AccessDeniedException", times=3)
    failed = lab.inspect("--format", "openmetrics")
    assert failed.code == 3 and samples(failed.out)["up"] == {(): 0}, "one document on stdout"
    for _ in range(2):
        assert lab.inspect(*words).code == 3
        told = read(path)
        assert told["up"] == {(): 0} and told["last_success_timestamp_seconds"] == before
        assert [name for name, values in told.items() if values] == [
            "up", "last_success_timestamp_seconds"
        ]
    assert lab.inspect(*words).code == 0
    assert read(path)["up"] == {(): 1}
    assert read(path)["last_success_timestamp_seconds"][()] > before[()] + 299


@pytest.mark.parametrize("old", [b"", b"\xff\xfe\n{}\n", b"reshardctl_up 1\n"])
def test_a_first_failure_and_a_file_of_something_else(lab, tmp_path, old):
    path = tmp_path / "metrics"
    path.write_bytes(old)
    path.chmod(0o640)
    lab.wire.fail("Scan", "AccessDeniedException", times=1)
    assert lab.inspect("--format", f"openmetrics={path}").code == 3
    assert read(path)["up"] == {(): 0} and read(path)["last_success_timestamp_seconds"] == {}
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_wrong_option_takes_consumers_down_too(lab, tmp_path):
    """A cron job with a typing error does not look at the consumer either."""
    path = tmp_path / "metrics"
    lab.inspect("--format", f"openmetrics={path}")
    assert lab.inspect("--format", f"openmetrics={path}", "--watch", "soon").code == 2
    assert read(path)["up"] == {(): 0}
    assert read(path)["last_success_timestamp_seconds"] != {}


def test_several_consumers(lab, tmp_path, monkeypatch):
    """Labels are the configured name and the stream as AWS names it, judged or not."""
    monkeypatch.chdir(tmp_path)
    Path("reshardctl.toml").write_text("\n".join([
        "[streams.all-orders]", 'stream = "orders"',
        "[consumers.orders-reader]", 'stream = "all-orders"', f'locator = "{lab.locator}"',
        "[consumers.lost]", 'stream = "all-orders"', 'locator = "kcl://no-such-table"', "",
    ]), "utf-8")
    text = lab.cli("inspect", "--format", "openmetrics").out
    ups = {
        (sample.labels["stream"], sample.labels["consumer"]): sample.value
        for family in text_string_to_metric_families(text) if family.name == "reshardctl_up"
        for sample in family.samples
    }
    assert ups == {("orders", "orders-reader"): 1, ("orders", "lost"): 0}


def test_reads_that_fail_leave_ages_out(lab):
    """A finding rests on none of them."""
    lab.wire.fail("GetShardIterator", "AccessDeniedException")
    shown = lab.inspect("--probe", "--format", "openmetrics")
    assert shown.code == 0 and "the age of unread records is not known" in shown.err
    assert samples(shown.out)["oldest_unread_seconds"] == {}
