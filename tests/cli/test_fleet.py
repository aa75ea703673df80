"""`inspect --discover`: every consumer of an account whose table is found, as one table."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from reshardctl.testing.topology import stream_of
from tests.cli.lab import TRIM_HORIZON
from tests.support.lease_server import LeaseTable, delete_tables
from tests.unit.render.test_json import VALIDATOR

pytestmark = [pytest.mark.lab("a-both", ""), pytest.mark.usefixtures("in_tmp_path")]


OLD = "49590338271490256608559692538361571095921575989136588898"
"""A sequence number of 2018, from the example event in the AWS Lambda Developer Guide."""


@pytest.fixture(autouse=True)
def _empty_account(servers):
    delete_tables(servers.dynamodb)
    yield
    delete_tables(servers.dynamodb)


def stream(lab, name: str, later: int) -> None:
    """A stream as `orders`, made so many seconds later: shard 0 was split into 2 and 3."""
    records = {"n": 3, "from": 60, "to": 540}
    lab.fake.add_stream(stream_of({
        "name": name, "created": lab.fake.stream("orders").created + later, "shards": [
            {"id": 0, "range": ["0", "1/2"], "open": 0, "close": 600, "records": records},
            {"id": 1, "range": ["1/2", "1"], "open": 0, "records": records},
            {"id": 2, "range": ["0", "1/4"], "open": 601, "parents": [0]},
            {"id": 3, "range": ["1/4", "1/2"], "open": 601, "parents": [0]},
        ],
    }))  # fmt: skip


def table(lab, name: str, of: str = "", checkpoints: dict[int, str] | None = None, *,
          healthy: bool = True) -> None:
    """A lease table. of: the stream whose records its rows name; healthy: with both children."""
    made = LeaseTable(lab.servers.dynamodb, name=name)
    if of:
        number = str(lab.fake.stream(of).shards[1].records[-1].number)
        checkpoints = {0: "SHARD_END", 1: number} | (
            {2: "TRIM_HORIZON", 3: "TRIM_HORIZON"} if healthy else {}
        )
    for shard, checkpoint in (checkpoints or {}).items():
        plant(made, f"shardId-{shard:012d}", checkpoint)


def plant(made: LeaseTable, key: str, checkpoint: str, **more: dict) -> None:
    made.boto.put_item(
        TableName=made.name, Item={
            "leaseKey": {"S": key}, "checkpoint": {"S": checkpoint}, **more,
            "leaseCounter": {"N": "5"}, "ownerSwitchesSinceCheckpoint": {"N": "0"},
            "checkpointSubSequenceNumber": {"N": "0"},
        },
    )


def names(result) -> dict[str, str]:
    """Consumer → its stream."""
    return {entry["name"]: entry["stream"] for entry in result.json["consumers"]}


def test_forty_consumers_of_twelve_streams(lab):
    for number in range(11):
        stream(lab, f"clicks-{number}", 120 * (number + 1))
    for number in range(39):
        table(lab, f"app-{number:02}", f"clicks-{number % 11}", healthy=number not in (7, 20))
    lab.wire.calls.clear()
    result = lab.cli("inspect", "--discover", "--format", "json")
    assert (result.code, result.json["exit"]["code"]) == (1, 1)
    VALIDATOR.validate(result.json)
    found = names(result)
    assert len(found) == 40 and found[f"kcl://{lab.table.name}"] == "orders"
    assert {name: of for name, of in found.items() if "app-" in name} == {
        f"kcl://app-{number:02}": f"clicks-{number % 11}" for number in range(39)
    }
    first, second, third, *rest = result.json["consumers"]
    assert {first["name"], second["name"], third["name"]} == {
        "kcl://app-07", "kcl://app-20", f"kcl://{lab.table.name}",
    }
    assert first["loss_begins"] <= second["loss_begins"] <= third["loss_begins"]
    assert {(entry["exit"]["code"], entry["loss_begins"]) for entry in rest} == {(0, None)}
    assert result.json["searched"] == {
        "streams": 12, "tables": 40, "regions": ["us-east-1"], "idle": [],
    }
    numbers = re.findall(r"([\d,]+) (?:calls|to DynamoDB)", result.err)
    announced = [int(number.replace(",", "")) for number in numbers]
    made = Counter(service for service, _ in lab.wire.calls)
    operations = Counter(operation for _, operation in lab.wire.calls)
    assert operations["ListShards"] == 24 and operations["ListTables"] == 1
    assert announced[0] == 36 and made["kinesis"] <= 1 + announced[0] + announced[1]
    assert made["dynamodb"] <= 1 + 2 * 40 + announced[2]


def test_the_table_at_a_terminal(lab):
    stream(lab, "clicks", 120)
    table(lab, "calm", "clicks")
    table(lab, "empty")
    table(lab, "old", checkpoints={6: OLD})
    lab.terminal = True
    text = re.sub(r"\x1b\[\d*m", "", lab.cli("inspect", "--discover").out)
    lines = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
    assert ["consumer", "stream", "behind up to", "loss begins", "result"] in lines
    rows = {row[0]: row[1:] for row in lines if row[0].startswith("kcl://") and len(row) == 5}
    assert rows["kcl://calm"][0] == "clicks" and rows["kcl://calm"][-1].startswith("ok")
    assert rows[f"kcl://{lab.table.name}"][-1] == "1 error"
    assert rows[f"kcl://{lab.table.name}"][2].startswith("in ")
    assert next(iter(rows)) == f"kcl://{lab.table.name}"
    flat = " ".join(text.split())
    assert "Looked at 4 tables in us-east-1, and at 2 streams." in flat
    assert "Nothing to judge in empty: the table is empty." in flat
    older = "its sequence numbers are older than the streams that were looked at"
    assert f"Nothing to judge in old: {older}" in flat
    assert lab.wire.writes == []


def test_only_the_consumers_of_a_stream(lab):
    stream(lab, "clicks", 120)
    table(lab, "calm", "clicks")
    result = lab.cli("inspect", "--discover", "--stream", "clicks", "--format", "json")
    assert (result.code, names(result)) == (0, {"kcl://calm": "clicks"})
    assert {one["table"] for one in result.json["searched"]["idle"]} == {lab.table.name}


@pytest.mark.parametrize("of", ["clicks", "views"])
def test_streams_of_one_second_are_not_mistaken_for_one_another(lab, of):
    """As Terraform makes them: nothing tells their numbers apart, so no repair is offered."""
    for name in ("clicks", "views"):
        stream(lab, name, 120)
    table(lab, "app", of, healthy=False)
    result = lab.cli("inspect", "--discover", "--format", "json")
    (one,) = [entry for entry in result.json["consumers"] if entry["error"]]
    assert (result.code, one["name"], "kcl://app" in names(result)) == (3, "table app", False)
    assert "of which stream? clicks, views" in one["error"]["what"]
    text = lab.cli("inspect", "--discover", "--format", "text").out
    assert "fix --dry-run" in text and "app.plan" not in text


def test_the_lines_of_a_table_of_several_streams_name_the_stream(lab):
    stream(lab, "clicks", 120)
    table(lab, "app", "clicks", healthy=False)
    lines = lab.cli("inspect", "--discover").out.splitlines()
    assert any(line.startswith("kcl://app of clicks: 2,3 RSH203") for line in lines)


def test_a_table_of_several_streams_is_a_consumer_of_each(lab):
    """Their rows carry account, name and creation of the stream (StreamIdentifier of KCL 2.3)."""
    stream(lab, "clicks", 120)
    made = LeaseTable(lab.servers.dynamodb, name="all")
    for of in ("orders", "clicks"):
        one = lab.fake.stream(of)
        named = f"123456789012:{of}:{int(one.created)}"
        for shard, checkpoint in {0: "SHARD_END", 1: str(one.shards[1].records[-1].number),
                                  2: "TRIM_HORIZON", 3: "TRIM_HORIZON"}.items():
            if of == "orders" or shard < 2:
                key = f"shardId-{shard:012d}"
                plant(made, f"{named}:{key}", checkpoint, streamName={"S": named},
                      shardId={"S": key})
    result = lab.cli("inspect", "--discover", "--format", "json")
    codes = {
        entry["stream"]: entry["exit"]["code"] for entry in result.json["consumers"]
        if entry["name"] == "kcl://all"
    }
    assert codes == {"orders": 0, "clicks": 1}


@pytest.mark.parametrize("named", [[], ["--stream", "clicks"]])
def test_one_that_nothing_tells_is_not_passed_over(lab, named):
    """Its rows fit both streams, and no number tells: exit 3, with the command that settles it."""
    stream(lab, "clicks", 120)
    table(lab, "new", checkpoints={1: "TRIM_HORIZON"})
    result = lab.cli("inspect", "--discover", *named, "--format", "json")
    assert result.code == 3
    (one,) = [entry for entry in result.json["consumers"] if entry["error"]]
    alone, both = "nothing proves that its positions are of clicks", "clicks, orders: its rows fit"
    said = alone if named else both
    assert one["name"] == "table new" and said in one["error"]["what"]
    assert one["error"]["next"] == "reshardctl inspect kcl://new --stream STREAM"
    assert (f"kcl://{lab.table.name}" in names(result)) is (not named)


def test_every_format_names_one_that_nothing_tells(lab, tmp_path):
    stream(lab, "clicks", 120)
    table(lab, "new", checkpoints={1: "TRIM_HORIZON"})
    forms = ("text", "concise", "markdown", "github", "junit", "jsonl", "openmetrics")
    files = {form: tmp_path / form for form in forms}
    lab.cli("inspect", "--discover", *(f"--format={form}={file}" for form, file in files.items()))
    for form, file in files.items():
        assert "table new" in file.read_text(), form


@pytest.mark.parametrize(("operation", "what"), [
    ("DescribeStreamSummary", "every consumer"), ("DescribeTable", "table "),
])
def test_what_may_not_be_read_is_not_passed_over(lab, operation, what):
    lab.wire.fail(operation, "AccessDeniedException", times=1)
    result = lab.cli("inspect", "--discover", "--format", "json")
    assert result.code == 3
    failed = [entry["name"] for entry in result.json["consumers"] if entry["error"]]
    assert failed[0].startswith(what)


def test_streams_that_may_not_be_listed(lab):
    lab.wire.fail("ListStreams", "AccessDeniedException")
    result = lab.cli("inspect", "--discover")
    assert result.code == 3 and result.says("kinesis:ListStreams", "--stream NAME")


def test_more_streams_than_are_listed(lab, monkeypatch):
    """A list that was cut off is not taken for all of them."""
    stream(lab, "clicks", 120)
    monkeypatch.setattr("reshardctl.commands.fleet.MOST_STREAMS", 2)
    result = lab.cli("inspect", "--discover")
    assert result.code == 3 and result.says("2 streams or more", "--stream NAME")


def test_no_consumer_at_all(lab):
    delete_tables(lab.servers.dynamodb)
    table(lab, "empty")
    result = lab.cli("inspect", "--discover", "--format", "json")
    assert (result.code, result.json["consumers"]) == (6, [])
    assert "are account and region the right ones?" in lab.cli(
        "inspect", "--discover", "--format", "text"
    ).out
    LeaseTable(lab.servers.dynamodb, name=lab.table.name)  # the lab deletes it


def test_one_that_is_configured_is_judged_as_it_says_there(lab):
    Path("reshardctl.toml").write_text(
        '[streams.all]\nstream = "orders"\n[consumers.shop]\nstream = "all"\n'
        f'locator = "{lab.locator}{TRIM_HORIZON}"\nfail-on = "never"\n'
        '[consumers.lost]\nstream = "all"\nlocator = "kcl://no-such-table"\n', encoding="utf-8",
    )
    result = lab.cli("inspect", "--discover", "--format", "json")
    lost, one = result.json["consumers"]
    assert (result.code, lost["name"]) == (2, "lost") and "no table" in lost["error"]["what"]
    assert (one["name"], one["stream"], one["origin"]["line"]) == ("shop", "all", 3)
    assert one["exit"]["code"] == 0
    assert one["report"]["consumer"]["options"]["initial"] == "TRIM_HORIZON"
