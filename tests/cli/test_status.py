"""`status`: each shard with its position, lag, owner, next start and finding."""

from __future__ import annotations

import csv
import json
import shlex
from importlib.resources import files
from io import StringIO
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.cli.lab import LATEST, bare

pytestmark = pytest.mark.lab("a-both", LATEST)

SCHEMA = json.loads(files("reshardctl.render").joinpath("status.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def rows(result) -> dict[str, dict]:
    VALIDATOR.validate(result.json)
    return {row["shard"][-1]: row for row in result.json["shards"]}


def document(lab, *more):
    return lab.cli("status", *lab.where, "--format", "json", *more)


def test_the_verdicts_and_the_exit_code_are_those_of_inspect(lab):
    inspected = lab.inspect("--format", "json")
    shown = document(lab)
    assert shown.code == inspected.code == shown.json["exit"]["code"] == 1
    for finding in inspected.json["findings"]:
        for shard in finding["shards"]:
            row = rows(shown)[shard[-1]]
            assert finding["code"] in row["rules"] and row["verdict"] == finding["severity"]
    assert not lab.wire.writes


def test_each_shard_as_the_case_has_it(lab):
    """The case's own times: shard 0 closed at 600 s, its children opened at 601 s, now is 1500 s;
    the position of shard 1 is its second record, written at 460 s."""
    found = rows(document(lab))
    assert list(found) == ["2", "3", "1", "0"], "the worst first, then the longest lag"
    assert {n: row["state"] for n, row in found.items()} == {
        "0": "closed", "1": "open", "2": "open", "3": "open",
    }
    assert found["0"]["closed"] == "2026-11-21T00:10:00Z"
    assert found["0"]["expires"] == "2026-11-22T00:10:00Z"
    assert found["0"]["position"]["kind"] == "done" and found["0"]["lag"]["seconds"] == 0
    assert found["0"]["children"] == ["shardId-000000000002", "shardId-000000000003"]
    position, lag = found["1"]["position"], found["1"]["lag"]
    number = str(lab.fake.stream("orders").shards[1].records[1].number)
    assert (position["kind"], position["number"], position["sub"]) == ("number", number, 0)
    assert position["time"] == "2026-11-21T00:07:40Z" and lag["seconds"] == 1500 - 460
    assert found["1"]["owner"] == "w1"
    assert found["1"]["progress"] == {"time": "2026-11-21T00:07:40Z", "exact": False}
    assert found["2"]["position"] == {
        "kind": "none", "stored": None, "number": None, "sub": None, "time": None,
    }
    assert found["2"]["lag"]["seconds"] == 1500 - 601
    assert found["2"]["owner"] is None and found["2"]["progress"] is None


def test_a_count_reads_every_unread_record(lab):
    """Records of the case: four in each shard; shard 1 has two after its position."""
    found = rows(document(lab, "--count"))
    assert {n: row["lag"]["records"] for n, row in found.items()} == {
        "0": 0, "1": 2, "2": 4, "3": 4,
    }
    records = lab.fake.stream("orders").shards[1].records[2:]
    size = sum(len(r.payload) + len(r.key.encode()) for r in records)
    assert found["1"]["lag"]["bytes"] == size > 0
    assert found["1"]["lag"]["measured"] and not found["1"]["lag"]["at_least"]


def test_a_probe_tells_the_age_of_the_oldest_unread_record(lab):
    """Records of shard 2 arrived from 660 s on."""
    found = rows(document(lab, "--probe"))
    lag = found["2"]["lag"]
    assert lag["oldest_arrival"] == "2026-11-21T00:11:00Z" and lag["seconds"] == 1500 - 660
    assert lag["records"] == 4 and lag["measured"]


@pytest.mark.parametrize("reading", ["--count", "--probe"])
def test_the_commands_below_it_are_understood(lab, reading):
    """With what reading records may cost, which follows the read."""
    budget = ("--probe-budget", "calls=3,time=1s")
    told = lab.cli("status", *lab.where, reading, *budget, "--format", "text").out
    told = told.replace("\\\n", "")
    said = [shlex.split(line)[1:] for line in told.splitlines() if "  reshardctl" in line]
    assert [words[0] for words in said] == ["explain", "inspect"]
    for words in said:
        assert ({reading, *budget} <= set(words)) == (words[0] == "inspect" or reading == "--probe")
        assert ("--probe-budget" in words) == (reading in words)
        assert lab.cli(*words).code in (0, 1)


@pytest.mark.parametrize("reading", ["--probe", "--count"])
@pytest.mark.parametrize("hours", [0, 30], ids=["unread", "expired"])
def test_metrics_have_the_lag_of_the_rows(lab, reading, hours):
    """After 30 hours all records have expired, so a read meets none and 0 s are unread."""
    lab.fake.clock.advance(hours * 3600)
    shown = rows(document(lab, reading))
    lags = {f"shardId-00000000000{number}": row["lag"] for number, row in shown.items()}
    text = lab.cli("status", *lab.where, "--format", "openmetrics", "--per-shard", reading).out
    ages = {
        sample.labels["shard"]: sample.value
        for family in text_string_to_metric_families(text) for sample in family.samples
        if sample.name == "reshardctl_oldest_unread_seconds"
    }
    del lags["shardId-000000000000"]  # finished
    assert all(lag["measured"] for lag in lags.values())
    assert ages == pytest.approx({shard: lag["seconds"] for shard, lag in lags.items()}, abs=1)
    assert all(ages.values()) is (hours == 0)


def test_shards_that_are_asked_for(lab):
    shown = document(lab, "--shards", "0-1")
    assert list(rows(shown)) == ["1", "0"] and shown.json["total_shards"] == 4
    assert shown.code == 0, "no finding names one of them"
    assert document(lab, "--shards", "shardId-000000000002,1").code == 1
    assert list(rows(document(lab, "--shards", "1-99"))) == ["2", "3", "1"], "as inspect reads it"


def test_only_bad_ones(lab):
    shown = document(lab, "--only-bad")
    assert list(rows(shown)) == ["2", "3"] and shown.json["selection"]["only_bad"]


@pytest.mark.parametrize(("column", "order"), [
    ("shard", "0123"), ("state", "1230"), ("lag", "1230"), ("position", "1023"),
    ("owner", "2301"), ("progress", "1023"), ("rule", "2301"),
])  # fmt: skip
def test_the_order(lab, column, order):
    assert "".join(rows(document(lab, "--sort", column))) == order


@pytest.mark.parametrize(("more", "words"), [
    (["--shards", "9"], ["--shards 9", "orders", "without --shards"]),
    (["--shards", "3-1"], ["--shards 3-1", "'3-1' names no shard", "4-9"]),
    (["--shards", "7,8,9,10,11"], ["--shards 7, 8, 9, 10, 11: not listed"]),
    (["--shards", "7,8,9,10,11,12"], ["--shards 7, 8, 9, 10, 11 and 1 more: not listed"]),
    (["--shards", "7-9"], ["--shards 7-9", "not listed", "without --shards"]),
    (["--shards", "1,,2"], ["--shards 1,,2", "4,5"]),
    (["--sort", "bytes"], ["--sort bytes", "--count"]),
])  # fmt: skip
def test_what_cannot_be_shown(lab, more, words):
    result = lab.cli("status", *lab.where, *more)
    assert result.code == 2 and result.says(*words)


def test_a_consumer_that_cannot_be_read(lab):
    lab.wire.fail("Scan", "AccessDeniedException")
    result = document(lab)
    assert result.code == 3 and result.json["schema"] == "reshardctl/error/1"


@pytest.mark.parametrize("level", ["error", "warning", "info", "never"])
def test_fail_on(lab_of, level):
    lab = lab_of("leader-lock-left", LATEST)
    assert document(lab, "--fail-on", level).code == lab.inspect("--fail-on", level).code


def test_every_format_has_every_shard(lab, tmp_path):
    text = lab.cli("status", *lab.where).out
    assert all(f"\n{index} " in text for index in range(4))
    lines = lab.cli("status", *lab.where, "--format", "jsonl").out.splitlines()
    kinds = [json.loads(line)["type"] for line in lines]
    assert kinds == ["header", "finding", "shard", "shard", "shard", "shard", "summary"]
    target = tmp_path / "status.csv"
    assert lab.cli("status", *lab.where, "--format", "csv", "-o", target).out == ""
    table = list(csv.DictReader(StringIO(target.read_text())))
    assert [row["shard"][-1] for row in table] == ["2", "3", "1", "0"]


def test_a_pipe_has_one_line_for_each_shard(lab):
    lines = lab.cli("status", *lab.where).out.splitlines()
    (row,) = [line for line in lines if line.startswith("1 ")]
    assert row.split() == ["1", "open", "17m", "ago", "17m", "w1", "reads", "from", "here", "ok"]


def test_whole_numbers_and_times_with_v(lab):
    lines = lab.cli("status", *lab.where, "-v").out.splitlines()
    (row,) = [line for line in lines if line.startswith("1 ")]
    number = str(lab.fake.stream("orders").shards[1].records[1].number)
    assert row.split() == [
        "1", "open", "number", number, "2026-11-21T00:07:40Z", "17m20s", "w1", "≥",
        "2026-11-21T00:07:40Z", "reads", "from", "here", "ok", "-",
    ]


def test_a_snapshot_gives_the_same_rows(lab, tmp_path):
    saved = tmp_path / "saved"
    assert lab.cli("snapshot", lab.locator, "--stream", lab.stream, "-o", saved).code == 0
    frozen = lab.cli("status", f"snapshot:{saved}", "--format", "json")
    assert frozen.code == 1 and rows(frozen) == rows(document(lab))
    refused = lab.cli("status", f"snapshot:{saved}", "--count")
    assert refused.code == 2 and refused.says("--count", "neither a snapshot nor files")


def test_what_the_configuration_suppresses(lab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("reshardctl.toml").write_text(
        f'[streams.all]\nstream = "orders"\n\n[consumers.app]\nstream = "all"\n'
        f'locator = "{lab.locator}"\n\n[[suppress]]\nconsumer = "app"\nrule = "RSH203"\n'
        'until = 2099-01-01\nwhy = "known"\n', encoding="utf-8",
    )
    shown = lab.cli("status", "app", "--format", "json")
    assert shown.code == 0 and shown.json["suppressed"] == 1
    assert {row["verdict"] for row in rows(shown).values()} == {"ok"}


@pytest.mark.parametrize("columns", [40, 120])
def test_at_a_terminal(lab, columns):
    """The worst in red, nothing wider than the terminal but what is there to be copied."""
    code, shown = lab.at_terminal("status", *lab.where, columns=columns, TERM="xterm")
    assert code == 1 and "\x1b[31m" in shown
    lines = [bare(line) for line in shown.splitlines()]
    free = [line for line in lines if lab.table.name not in line]
    assert max(map(len, free)) <= columns, max(free, key=len)
    _, plain = lab.at_terminal("status", *lab.where, TERM="xterm", NO_COLOR="1")
    assert "\x1b[" not in plain


@pytest.mark.parametrize("reading", [[], ["--count"]], ids=["plain", "counted"])
def test_one_line_for_each_shard_at_a_terminal_of_80_columns(lab, reading):
    _, shown = lab.at_terminal("status", *lab.where, *reading, columns=80)
    lines = [bare(line).rstrip() for line in shown.splitlines()]
    rows = [line for line in lines if line[:2] in ("0 ", "1 ", "2 ", "3 ")]
    assert len(rows) == 4 and max(map(len, rows)) <= 80, shown
    assert [row.split()[0] for row in rows][:2] == ["2", "3"] and "never" in rows[0]


def samples(path: Path) -> dict[str, float]:
    """The consumer's samples, read by Prometheus's own client."""
    families = text_string_to_metric_families(path.read_text(encoding="utf-8"))
    return {sample.name: sample.value for family in families for sample in family.samples}


def test_metrics_are_those_of_inspect(lab, tmp_path):
    """Issue 15: `--format openmetrics` for status, inspect and --watch."""
    mine, theirs = tmp_path / "status.prom", tmp_path / "inspect.prom"
    shown = lab.cli("status", *lab.where, "--format", "openmetrics", "-o", str(mine))
    assert shown.code == 1
    lab.inspect("--format", f"openmetrics={theirs}")
    assert mine.read_text("utf-8") == theirs.read_text("utf-8")
    assert samples(mine)["reshardctl_up"] == 1


def test_after_a_failure_up_is_0_and_the_timestamp_stays(lab, tmp_path):
    path = tmp_path / "status.prom"
    words = ["status", *lab.where, "--format", "openmetrics", "-o", str(path)]
    lab.cli(*words)
    before = samples(path)
    lab.wire.fail("Scan", "AccessDeniedException")
    lab.fake.clock.advance(60)
    assert lab.cli(*words).code == 3
    after, success = samples(path), "reshardctl_last_success_timestamp_seconds"
    assert after == {"reshardctl_up": 0, success: before[success]}


def test_a_row_for_each_worker(lab):
    shown = lab.cli("status", *lab.where, "--by", "worker")
    assert shown.code == 1, shown.err
    heads, nobody, one = shown.out.splitlines()[3:6]
    assert heads.split()[:2] == ["worker", "shards"]
    assert nobody.split()[:2] == ["-", "2"] and nobody.endswith("error RSH203   2, 3")
    assert one.split()[:2] == ["w1", "1"]
    assert "1 worker; 2 shards without a position." in shown.out
    table = lab.cli("status", *lab.where, "--by", "worker", "--format", "csv").out.splitlines()
    assert table[0].startswith("worker,leader,last_seen,unfinished,") and len(table) == 3


def test_the_sums_below_workers_are_those_of_the_metrics(lab_of, tmp_path):
    """Also where --only-bad or --shards leave workers out."""
    lab, metrics = lab_of("a-both", LATEST), tmp_path / "status.prom"
    root = lab.items()["shardId-000000000001"]
    lab.plant({n: v for n, v in root.items() if n != "leaseOwner"}
              | {"leaseKey": {"S": "shardId-000000000002"}})  # fmt: skip
    lab.cli("status", *lab.where, "--format", "openmetrics", "-o", str(metrics))
    found = samples(metrics)
    assert (found["reshardctl_workers"], found["reshardctl_unowned_shards"]) == (1, 1)
    rest = "1 worker; 1 shard without an owner; 1 shard without a position."
    for more, shown in (((), ""), (("--only-bad",), "0 of "), (("--shards", "3"), "0 of ")):
        words = ("status", *lab.where, "--by", "worker", *more)
        assert f"\n{shown}{rest}" in lab.cli(*words).out


def test_room_and_who_stays_without_an_owner(lab_of, monkeypatch):
    """w1 holds both leases; nobody may take those of 2 and 3 that an upgrade has just made."""
    lab = lab_of("a-both", f"{LATEST}&max-leases=2")
    fits = lab.cli("status", *lab.where, "--by", "worker")
    assert "Each worker may hold 2 leases of 2: 1 worker may hold all of them." in fits.out
    root = lab.items()["shardId-000000000001"]
    for number in (2, 3):
        row = {**root, "leaseKey": {"S": f"shardId-{number:012d}"}}
        lab.plant({name: value for name, value in row.items() if name != "leaseOwner"})
    shown = lab.cli("status", *lab.where, "--by", "worker")
    heads, *rows = shown.out.splitlines()[3:6]
    assert heads.split()[:3] == ["worker", "shards", "room"]
    assert sorted(row.split()[:3] for row in rows) == [["-", "2", "-"], ["w1", "1", "0"]]
    said = ("Each worker may hold 2 leases of 4: 1 worker may hold 2, and 2 leases stay without "
            "an owner until there are 2 workers.")  # fmt: skip
    assert said in " ".join(shown.out.split())
    told = lab.cli("status", *lab.where, "--format", "json").json
    assert told["capacity"] == {
        "max_leases": 2, "leases": 4, "held": 2, "room": 0, "without_room": 2, "workers": 1,
        "workers_needed": 2, "over": [],
    }
    one = lab.cli("status", lab.locator.replace("=2", "=1"), *lab.where[1:], "--by", "worker")
    assert "More than that: w1; is max-leases right?" in " ".join(one.out.split())
    lab.terminal = True
    monkeypatch.setenv("COLUMNS", "60")
    narrow = lab.cli("status", *lab.where, "--by", "worker")
    assert said in " ".join(narrow.out.split())
    (first,) = [line for line in narrow.out.splitlines() if "Each worker may" in line]
    assert len(first) <= 60
    metrics = lab.cli("status", *lab.where, "--format", "openmetrics").out
    told = {line.partition("{")[0]: line.split()[-1] for line in metrics.splitlines()}
    assert {name: told[f"reshardctl_{name}"] for name in (
        "workers", "idle_workers", "worker_shards", "unowned_shards", "leases_without_room",
    )} == {"workers": "1", "idle_workers": "0", "worker_shards": "1", "unowned_shards": "2",
           "leases_without_room": "2"}  # fmt: skip
    each = lab.cli("status", *lab.where, "--format", "openmetrics", "--per-shard").out
    assert 'reshardctl_worker_shards{stream="orders"' in each and ',worker="w1"} 1' in each


def test_a_limit_that_cannot_be_read(lab):
    result = lab.cli("status", f"{lab.locator}&max-leases=0", "--stream", lab.stream)
    assert result.code == 2 and result.says("max-leases=0", "maxLeasesForWorker")


@pytest.mark.parametrize("case", ["side-upgrading", "side-children-lost"])
def test_migrations_and_the_leader_in_one_view(lab_of, case):
    lab = lab_of(case, "?initial=LATEST&release=3.1.3")
    shown = lab.cli("status", *lab.where, "--by", "worker")
    told = lab.cli("status", *lab.where, "--format", "json").json["migrations"]
    assert [m["migration"] for m in told] == ["client", "tables"]
    text = " ".join(shown.out.split())
    assert all(m["state"] is None or m["state"] in text for m in told)
    assert all(f"next: {m['next']}." in text for m in told if m["next"])
    metrics = lab.cli("status", *lab.where, "--format", "openmetrics").out
    for m in told:
        assert f'migration="{m["migration"]}",state="{m["state"] or ""}"}} 1' in metrics


def test_a_store_without_owners_has_no_workers(lab):
    shown = lab.cli("status", "spark:/checkpoint", "--stream", lab.stream, "--by", "worker")
    assert shown.code == 2 and shown.says("--by worker", "without owners", "leave --by out")
