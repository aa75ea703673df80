"""`snapshot`, and the reading verbs on what it saved: the same answers, nobody asked again.

What a snapshot must say is what the store itself says; the expectations of both are the cases'.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import threading
from pathlib import Path

import pytest

from tests.cli.lab import Lab, printed


@pytest.fixture
def saved(lab, tmp_path) -> Path:
    file = tmp_path / "orders.snapshot"
    done = lab.cli("snapshot", lab.locator, "--stream", lab.stream, "-o", file)
    assert done.code == 0, done.err
    assert str(file) in done.out and "4 shards" in done.out and "2 rows" in done.out
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert lab.wire.writes == []
    return file


def without_place(report: dict) -> dict:
    """A report without the words that name its consumer."""
    report["consumer"].pop("locator")
    return report


def calls(lab: Lab) -> list:
    found = list(lab.wire.calls)
    lab.wire.calls.clear()
    return found


def test_inspect_says_the_same(lab, saved):
    live = lab.cli("inspect", *lab.where, "--format", "json")
    calls(lab)
    frozen = lab.cli("inspect", f"snapshot:{saved}", "--format", "json")
    assert calls(lab) == []
    assert (frozen.code, frozen.codes) == (live.code, live.codes) == (1, {"RSH203"})
    assert frozen.json["consumer"]["locator"] == f"snapshot:{saved}"
    assert without_place(frozen.json) == without_place(live.json)


def test_the_same_snapshot_says_the_same_later(lab, saved):
    before = lab.cli("inspect", f"snapshot:{saved}", "--format", "json")
    lab.fake.clock.advance(9 * 3600)
    lab.alter("shardId-000000000000", checkpoint={"S": "TRIM_HORIZON"})
    assert lab.cli("inspect", f"snapshot:{saved}", "--format", "json").out == before.out


def test_fix_shows_its_plan_and_where_it_would_be_carried_out(lab, saved):
    shown = lab.cli("fix", f"snapshot:{saved}", "--dry-run", "--format", "text")
    assert shown.code == 1
    assert f"reshardctl fix '{lab.locator}'" in shown.out and "--stream orders" in shown.out


@pytest.mark.parametrize("more", [["--yes"], ["--dry-run", "--out", "p.plan"]], ids=" ".join)
def test_nothing_is_written_on_a_snapshots_word(lab, saved, more, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    calls(lab)
    refused = lab.cli("fix", f"snapshot:{saved}", *more)
    assert refused.code == 2
    assert refused.says("snapshot", f"reshardctl fix '{lab.locator}' --stream orders")
    assert calls(lab) == [] and not (tmp_path / "p.plan").exists()


@pytest.mark.parametrize("words", [["explain", "0"], ["graph"]], ids=lambda words: words[0])
def test_the_other_reading_verbs(lab, saved, words):
    live = lab.cli(words[0], *lab.where, *words[1:])
    calls(lab)
    frozen = lab.cli(words[0], f"snapshot:{saved}", *words[1:])
    assert calls(lab) == [] and frozen.code == 0
    told = [
        [line for line in shown.out.partition("\n  reshardctl ")[0].splitlines()
         if "snapshot:" not in line and "kcl://" not in line]
        for shown in (frozen, live)
    ]
    assert told[0] == told[1]


def test_what_is_said_of_the_application_stands_before_what_was(lab_of, tmp_path):
    lab = lab_of("a-one", "")
    file = tmp_path / "s"
    assert lab.cli("snapshot", lab.locator, "--stream", lab.stream, "-o", file).code == 0
    found = {
        initial: lab.cli(
            "inspect", f"snapshot:{file}?initial={initial}&release=3.5.1", "--format", "json"
        ).json["candidates"]
        for initial in ("LATEST", "TRIM_HORIZON")
    }
    assert found == {
        initial: [{"initial": initial, "release": "3.5.1"}] for initial in found
    }


def test_probes_are_kept(lab, tmp_path):
    """Reading takes time, so the live report is half a second older; nothing else differs."""
    file = tmp_path / "s"
    assert lab.cli("snapshot", lab.locator, "--stream", lab.stream, "--probe", "-o", file).code == 0
    live = lab.cli("inspect", *lab.where, "--probe", "--format", "json")
    calls(lab)
    frozen = lab.cli("inspect", f"snapshot:{file}", "--probe", "--format", "json")
    assert calls(lab) == []
    (one,), (other,) = live.json["findings"], frozen.json["findings"]
    assert one["deadline"] == other["deadline"] and one["deadline"]["probed"]
    assert (one["code"], one["shards"]) == (other["code"], other["shards"])


def test_what_was_not_probed_cannot_be_told(lab, saved):
    result = lab.cli("inspect", f"snapshot:{saved}", "--probe")
    assert result.code == 3 and result.says("no record", "--probe")


READING = (
    ("inspect", "--format", "text"), ("inspect", "--format", "markdown"), ("explain", "3"),
    ("status", "--format", "text"), ("fix", "--dry-run", "--format", "text"),
    ("fix", "--dry-run", "--format", "markdown"),
)


@pytest.mark.parametrize(("verb", "words"), [(one[0], one[1:]) for one in READING])
def test_a_redacted_one_suggests_no_fix_by_names_that_no_store_has(lab, tmp_path, verb, words):
    file = tmp_path / "redacted"
    assert lab.cli("snapshot", *lab.where, "--redact", "-o", file).code == 0
    shown = lab.cli(verb, f"snapshot:{file}", *words)
    assert shown.code in (0, 1), shown.err
    assert "reshardctl fix" not in shown.out and "aws dynamodb" not in shown.out
    if verb in ("inspect", "fix"):
        assert "The snapshot is redacted" in shown.out
    for writing in (
        ["--yes"], ["--dry-run", "--out", tmp_path / "plan"], ["--dry-run", "--format", "aws-cli"],
    ):
        refused = lab.cli("fix", f"snapshot:{file}", *writing)
        assert refused.code == 2 and refused.says("redacted", "real store"), refused


def test_a_redacted_one_is_judged_alike(lab, saved, tmp_path):
    file = tmp_path / "r"
    done = lab.cli("snapshot", lab.locator, "--stream", lab.stream, "--redact", "-o", file)
    assert done.code == 0 and "replaced" in done.out
    text = file.read_text()
    for secret in (lab.table.name, "orders", "123456789012", '"w1"'):
        assert secret not in text
    plain, hidden = (
        lab.cli("inspect", f"snapshot:{one}", "--format", "json").json for one in (saved, file)
    )
    assert plain["findings"] == hidden["findings"]
    assert plain["decision"] == hidden["decision"]


def test_a_stream_without_consumers_is_drawn(lab, tmp_path):
    file = tmp_path / "s"
    assert lab.cli("snapshot", "--stream", lab.stream, "-o", file).code == 0
    drawn = lab.cli("graph", f"snapshot:{file}")
    assert drawn.code == 0 and "0   closed" in drawn.out
    result = lab.cli("inspect", f"snapshot:{file}")
    assert result.code == 2 and result.says("no consumer", f"graph snapshot:{file}")


WRONG = {
    "absent": ("snapshot:/nowhere/s", [], ["/nowhere/s", "No such file", "reshardctl snapshot"]),
    "unnamed": ("snapshot:", [], ["no file is named"]),
    "other consumer": ("snapshot:{file}?consumer=x", [], ["no consumer 'x'"]),
    "unknown option": ("snapshot:{file}?colour=red", [], ["no option 'colour'"]),
    "a region": ("snapshot:{file}", ["--region", "us-east-1"], ["--region leads nowhere"]),
    "other stream": ("snapshot:{file}", ["--stream", "x"], ["not of x", "leave --stream out"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_snapshot_that_is_named_wrongly(lab, saved, name):
    place, more, says = WRONG[name]
    result = lab.cli("inspect", place.format(file=saved), *more)
    assert result.code == 2 and result.says(*says)


def test_another_version(lab, saved):
    saved.write_text(saved.read_text().replace("snapshot/1", "snapshot/2"))
    result = lab.cli("inspect", f"snapshot:{saved}")
    assert result.code == 2 and result.says(str(saved), "snapshot/2", "reshardctl snapshot")


def test_what_cannot_be_frozen(lab, saved, tmp_path):
    file, before = tmp_path / "s", saved.read_text()
    for argv, says in (
        ([], "no file is named"),
        (["-o", tmp_path / "no" / "s"], "No such file"),
        (["-o", tmp_path], "is a directory"),
        ([lab.locator, f"{lab.locator}&failover=10s", "-o", file], "name it once"),
        ([f"snapshot:{saved}", "-o", file], "is a snapshot already"),
    ):
        result = lab.cli("snapshot", "--stream", lab.stream, *argv)
        assert result.code == 2 and result.says(says)
    assert lab.cli("snapshot", "--stream", "no-such-stream", "-o", file).code in (2, 3)
    there = lab.cli("snapshot", "--stream", lab.stream, "-o", saved)  # may be of yesterday
    assert there.code == 2 and "exists already; nothing was saved" in there.err
    assert saved.read_text() == before
    nothing = lab.cli("snapshot", "-o", file)
    assert nothing.code == 2 and nothing.says("nothing is named to save", "--stream STREAM")
    assert not file.exists()


CONFIGURED = """
[streams.orders]
[consumers.etl]
stream = "orders"
locator = "{locator}"
[streams.other]
[consumers.else]
stream = "other"
locator = "kcl://else"
"""


def test_a_configured_stream_brings_its_consumers(lab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reshardctl.toml").write_text(CONFIGURED.format(locator=lab.locator))
    done = lab.cli("snapshot", "orders", "-o", "s")
    assert done.code == 0, done.err
    assert lab.locator in done.out and "2 rows" in done.out
    assert lab.cli("inspect", "snapshot:s", "--format", "json").codes == {"RSH203"}
    assert lab.cli("snapshot", "etl", "-o", "t").code == 0
    result = lab.cli("snapshot", "etl", "else", "-o", "u")
    assert result.code == 2 and result.says("several streams: orders, other", "of its own")


def test_a_missing_table_does_not_hide_how_to_save_the_others(lab, tmp_path, monkeypatch):
    """graph leaves it out; a file that lacks a consumer is to be asked for."""
    monkeypatch.chdir(tmp_path)
    gone = '[consumers.gone]\nstream = "orders"\nlocator = "kcl://gone-for-good"\n'
    (tmp_path / "reshardctl.toml").write_text(CONFIGURED.format(locator=lab.locator) + gone)
    failed = lab.cli("snapshot", "orders", "-o", "s")
    assert failed.code == 2 and failed.says("gone-for-good", "reshardctl discover")
    argv = shlex.split(failed.err.partition("or save the others: reshardctl ")[2])
    assert argv[-2:] == ["-o", "FILE"] and lab.cli(*argv[:-1], "s").code == 0


def test_a_snapshot_goes_into_a_pipe(lab, tmp_path):
    file, read = tmp_path / "pipe", []
    os.mkfifo(file)
    reader = threading.Thread(target=lambda: read.append(file.read_text(encoding="utf-8")))
    reader.start()
    assert lab.cli("snapshot", lab.locator, "--stream", lab.stream, "-o", file).code == 0
    reader.join(60)
    assert read and "snapshot/1" in read[0]


def test_consumers_come_first(lab, tmp_path):
    """As in every command; the stream is an option."""
    saved = tmp_path / "x.snapshot"
    result = lab.cli("snapshot", "orders", lab.locator, "-o", saved)
    assert result.code == 2 and not saved.exists()
    typed = f"reshardctl snapshot '{lab.locator}' --stream orders -o FILE"
    assert result.says("is no consumer: the stream is named by --stream", typed)
    alone = lab.cli("snapshot", "orders", "-o", saved)
    assert alone.code == 2 and alone.says("reshardctl snapshot --stream orders -o FILE")


@pytest.mark.parametrize(("member", "spelled", "said"), [
    ('"taken"', "253402300800", "taken: not a time of the years 1 to 9999"),
    ('"created"', "-1e12", "stream.created: not a time of the years 1 to 9999"),
    ('"locator"', '"kcl>//x"', "consumers[0].locator: 'kcl>//x' is no locator"),
    ('"locator"', '"kcl://leases?mnitial=LATEST"', "no option 'mnitial'"),
])  # fmt: skip
@pytest.mark.parametrize("verb", ["inspect", "status", "export"])
def test_a_value_that_was_edited(lab, saved, verb, member, spelled, said):
    """A JSON number may be of any size; the file is named, and nothing overflows."""
    text = re.sub(rf'{member}: ("[^"]*"|[\d.]+)', lambda _: f"{member}: {spelled}",
                  saved.read_text(), count=1)  # fmt: skip
    saved.write_text(text)
    result = lab.cli(verb, f"snapshot:{saved}")
    assert result.code == 2 and result.says(str(saved), said)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_the_commands_that_come_next_are_on_the_store(lab, saved, form, tmp_path, monkeypatch):
    """No plan can be saved of a snapshot, and a fix of one is refused."""
    monkeypatch.chdir(tmp_path)
    shown = lab.cli("inspect", f"snapshot:{saved}", "--format", form).out.replace("\\\n", " ")
    (made,) = re.findall(r"reshardctl (fix --dry-run .*)", shown)
    assert "snapshot:" not in made
    assert lab.cli(*shlex.split(made)).code == 1
    assert [path.name for path in tmp_path.glob("*.plan")] == [f"{lab.table.name}.plan"]


def test_what_the_aws_cli_printed_is_judged_as_the_store_is(lab, tmp_path):
    live = lab.cli("inspect", *lab.where, "--format", "json")
    words = printed(lab, tmp_path)
    calls(lab)
    file = tmp_path / "s"
    done = lab.cli("snapshot", lab.locator, *words, "-o", file)
    assert (done.code, done.err) == (0, "")
    frozen = lab.cli("inspect", f"snapshot:{file}", "--format", "json")
    assert calls(lab) == []
    assert (frozen.code, frozen.codes) == (live.code, live.codes) == (1, {"RSH203"})
    now, then = without_place(frozen.json), without_place(live.json)
    assert {name for name in now if now[name] != then[name]} == {"store"}


@pytest.mark.parametrize(("consumer", "words", "says"), [
    ("kcl://app", ["--rows", "other=ROWS"], ["has no table other", "app-CoordinatorState"]),
    ("kinsumer://app", ["--rows", "ROWS"], ["table app_clients are missing", "scan --table-name"]),
    ("spark:/tmp/checkpoint", ["--rows", "t=ROWS"], ["in no DynamoDB table", "table's name out"]),
    ("spark:/tmp/checkpoint", ["--rows", "ROWS"], ["no tar archive", "tar czf FILE"]),
    ("kcl://app", ["--rows", "ROWS", "--probe"], ["--probe reads records", "leave --probe out"]),
    ("kcl://app", ["--taken", "2026-11-21T00:00:00Z"], ["--taken is the time of files"]),
    ("kcl://app", ["--rows", "nowhere.json"], ["nowhere.json: No such file"]),
    ("kcl://app", ["--rows", "ROWS", "--stream", "other"], ["of stream orders, not of other"]),
    ("kcl://app", ["kcl://other", "--rows", "ROWS"], ["of one consumer, and 2 are named"]),
])
def test_files_that_cannot_stand_for_the_store(lab, tmp_path, consumer, words, says):
    given = printed(lab, tmp_path)
    shards, rows = given[:4], given[5]
    file = tmp_path / "s"
    typed = [word.replace("ROWS", rows) for word in words]
    refused = lab.cli("snapshot", consumer, *typed, *shards, "-o", file)
    assert refused.code == 2 and refused.says(*says), refused.err
    assert not file.exists()


def test_rows_of_a_side_table_that_is_not_given_are_named(lab, tmp_path):
    words = printed(lab, tmp_path)
    file = tmp_path / "s"
    assert lab.cli("snapshot", lab.locator, *words, "-o", file).code == 0
    kept = json.loads(file.read_text())["consumers"][0]["rows"]
    unread = [row["attributes"]["unread"]["S"] for row in kept if row["key"].endswith("/")]
    assert len(unread) == 2 and all("were not given (--rows " in why for why in unread)
    state = f"{lab.table.name}-CoordinatorState"
    scan = tmp_path / "state.json"
    scan.write_text(json.dumps({"Items": [{"key": {"S": "Leader"}}, {"key": {"S": "another"}}]}))
    words = [*words, "--rows", f"{state}={scan}"]
    assert lab.cli("snapshot", lab.locator, *words, "-o", tmp_path / "t").code == 0
    rows = json.loads((tmp_path / "t").read_text())["consumers"][0]["rows"]
    keys = {row["key"] for row in rows if "/" in row["key"]}
    assert keys == {f"{state}/Leader", f"{lab.table.name}-WorkerMetricStats/"}
