"""Consumers by their names in reshardctl.toml, in every verb."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest
from botocore.awsrequest import AWSResponse

from reshardctl.stores.dynamodb.reading import Table
from tests.cli.lab import TRIM_HORIZON

pytestmark = pytest.mark.usefixtures("in_tmp_path")


def configure(lab, *more: str, stream: str = "", consumer: str = "", name: str = "app") -> Path:
    """A file with one stream and one consumer on it."""
    path = Path("reshardctl.toml")
    path.write_text("\n".join([
        "[streams.all-orders]", 'stream = "orders"', stream,
        f"[consumers.{name}]", 'stream = "all-orders"', f'locator = "{lab.locator}"', consumer,
        *more, "",
    ]), encoding="utf-8")
    return path


def test_fix_by_name_writes_what_fix_by_locator_shows(lab):
    configure(lab)
    by_locator, by_name = lab.dry("--format", "json"), lab.cli("fix", "app", "-n", "--format",
                                                               "json")
    assert by_name.json["decision"]["steps"] == by_locator.json["decision"]["steps"] != []
    assert lab.cli("fix", "app", "--yes", "--assume-stopped").code == 0
    assert lab.inspect().code == 0


@pytest.mark.parametrize("name", ["app", "all-orders"])
def test_a_stream_of_one_consumer_names_it(lab, name):
    configure(lab)
    told, _, commands = lab.cli("explain", name, "2").out.rpartition("\n\n")
    assert told == lab.cli("explain", *lab.where, "2").out.rpartition("\n\n")[0]
    assert "reshardctl fix --dry-run --out app.plan app\n" in commands
    assert lab.cli("graph", name).out == lab.cli("graph", *lab.where).out


def test_a_file_of_somebody_else_is_told_and_never_used(lab):
    """It would say to which host the passwords of the environment go (as git: CVE-2022-24765)."""
    path = configure(lab)
    assert lab.fix().code == 0
    path.chmod(0o666)
    lab.wire.calls.clear()
    for argv in (["inspect"], ["inspect", "app"], ["fix", "app", "-n"], ["config", "check"],
                 ["graph", "app"], ["status", "app"]):  # fmt: skip
        result = lab.cli(*argv)
        assert result.code == 2 and lab.wire.calls == []
        assert result.says(
            "reshardctl.toml is not used: it can be written by everybody",
            "if you trust it: --config reshardctl.toml",
        )
    assert lab.cli("inspect", "app", "--config", path).code == 0
    undone = lab.undo("--dry-run")
    assert undone.code == 1
    assert "reshardctl.toml is left out: it can be written by everybody" in undone.err


def test_printed_commands_name_it_again(lab):
    configure(lab).rename("other.toml")
    shown = lab.cli("fix", "app", "--config", "other.toml", "-n", "--format", "text").out
    assert "reshardctl fix app --config other.toml" in " ".join(shown.split())


@pytest.mark.parametrize(("consumer", "then"), [
    ("", "reshardctl discover orders --region us-east-1"),
    ("profile = 'elsewhere'",
     "reshardctl discover orders --table-region us-east-1 --table-profile elsewhere"),
])
def test_a_table_that_is_not_there(lab, monkeypatch, tmp_path, consumer, then):
    keys = "[elsewhere]\naws_access_key_id = a\naws_secret_access_key = b\n"
    (tmp_path / "credentials").write_text(keys)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    path = configure(lab, consumer=consumer)
    path.write_text(path.read_text().replace("kcl://", "kcl://not-"))
    result = lab.cli("inspect", "app")
    assert result.code == 2 and "there is no table not-" in result.out
    assert then in result.out


def test_the_command_line_goes_before_the_file(lab):
    configure(lab, consumer='policy = "latest-at-start"')
    policies = [
        json.loads(lab.cli("fix", "app", "-n", "--format", "json", *more).out)["policy"]
        for more in ([], ["--policy", "lossless"])
    ]
    assert policies == ["latest-at-start", "lossless"]


@pytest.mark.parametrize(("there", "words", "says"), [
    (True, ("fix", "app", "-n", "--stream", "orders"),
     ("--stream orders", "reshardctl.toml", "leave --stream")),
    (True, ("fix", "ap", "-n"), ("no 'ap' in reshardctl.toml", "app, all-orders")),
    (False, ("fix", "app", "-n", "--config", "none.toml"), ("none.toml: No such file", "--config")),
    (False, ("fix", "app", "-n"), ("'app' is no locator",)),
    (False, ("inspect", "before.snapshot"), ("write it as snapshot:before.snapshot\n",)),
], ids=["a stream too", "unknown", "no such file", "no file", "a snapshot's name"])
def test_a_name_that_means_nothing(lab, there, words, says):
    if there:
        configure(lab)
    result = lab.cli(*words)
    assert result.code == 2 and result.says(*says)


def test_a_locator_needs_no_file_and_reads_none(lab):
    Path("reshardctl.toml").write_text("broken", encoding="utf-8")
    assert lab.inspect().code == 1


def test_a_pinned_stream_that_was_made_anew(lab):
    configure(lab, stream="created = 2020-01-01T00:00:00Z")
    result = lab.cli("fix", "app", "--yes", "--assume-stopped")
    assert result.code == 2 and result.says("reshardctl.toml:1", "2020-01-01T00:00:00Z", "RSH102")
    assert lab.wire.writes == []


def test_a_pinned_stream(lab):
    configure(lab, stream=f"created = {lab.created}")
    assert lab.cli("fix", "app", "-n").code == 1


def test_a_pin_answers_for_a_store_without_numbers(lab_of, tmp_path, monkeypatch):
    """What `--created` says on the command line, `created =` says for good."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Table, "made_at", lambda _self: None)  # restored from a backup
    lab = lab_of("a-both", TRIM_HORIZON)
    for key in lab.items():
        lab.alter(key, checkpoint={"S": "SHARD_END" if key.endswith("0") else "TRIM_HORIZON"})
    configure(lab)
    refused = lab.cli("fix", "app", "--yes", "--assume-stopped")
    assert refused.code == 4 and refused.says("--created")
    configure(lab, stream=f"created = {lab.created}")
    assert lab.cli("fix", "app", "--yes", "--assume-stopped").code in (0, 1)


def test_stream_and_consumer_are_reached_apart(lab):
    """The stream's region is asked for the stream, the consumer's for the table."""
    configure(lab, stream='region = "eu-west-1"', consumer='region = "us-east-1"')
    result = lab.cli("fix", "app", "-n")
    assert result.code == 2 and result.says("no stream orders in eu-west-1")
    configure(lab, stream='region = "us-east-1"', consumer='region = "eu-west-1"')
    result = lab.cli("fix", "app", "-n")
    assert result.code == 2 and result.says("no table", "in eu-west-1")


def denied() -> AWSResponse:
    """As STS answers, in XML (STS API reference, "AssumeRole", errors)."""
    body = (
        "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>User: "
        "arn:aws:iam::123456789012:user/ci is not authorized to perform: sts:AssumeRole</Message>"
        "</Error></ErrorResponse>"
    )
    raw = SimpleNamespace(stream=lambda **_: iter([body.encode()]), read=lambda: body.encode())
    return AWSResponse("http://sts", 403, {"content-type": "text/xml"}, raw)


def test_a_role_that_cannot_be_assumed(lab, wire, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", lab.servers.dynamodb)
    wire.faults.append(("AssumeRole", 0, denied, None))
    role = "arn:aws:iam::123456789012:role/nobody"
    configure(lab, consumer=f'role_arn = "{role}"')
    result = lab.cli("fix", "app", "-n")
    assert result.code == 3 and result.says(role, "who may assume it")


def test_plans_and_journals_are_reached_as_their_consumer(lab, tmp_path, monkeypatch):
    """The account stands in the file alone: neither --plan nor undo is told of it again."""
    urls = f'kinesis = "{lab.servers.kinesis}", dynamodb = "{lab.servers.dynamodb}"'
    configure(lab, stream=f"endpoint_url = {{ {urls} }}")
    for service in ("KINESIS", "DYNAMODB"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", "http://127.0.0.1:9")
    assert lab.inspect().code == 3, "nothing answers there"
    assert lab.cli("fix", "app", "-n", "--out", tmp_path / "app.plan").code == 1
    assert lab.apply(tmp_path / "app.plan").code == 0
    assert lab.cli("undo", lab.journal(), "--yes", "--assume-stopped").code == 0


def test_a_broken_file_does_not_stop_an_undo(lab):
    configure(lab)
    assert lab.cli("fix", "app", "--yes", "--assume-stopped").code == 0
    Path("reshardctl.toml").write_text("broken", encoding="utf-8")
    result = lab.cli("undo", lab.journal(), "--yes", "--assume-stopped")
    assert result.code == 0 and "reshardctl.toml is left out" in result.err


@pytest.mark.parametrize("more", [[], ["app"]], ids=["one", "two"])
def test_a_configured_journal_that_cannot_be_made_is_refused_first(lab, tmp_path, more):
    (tmp_path / "file").write_text("mine")
    journal = f'journal = "{tmp_path}/file/deeper"'
    second = ["[consumers.other]", 'stream = "all-orders"', 'locator = "kcl://other"']
    configure(lab, *second, consumer=journal)
    lab.wire.calls.clear()
    result = lab.cli("fix", *(["other", "app"] if more else ["app"]), "--yes", "--assume-stopped")
    assert result.code == 2 and result.out == ""
    assert result.says("cannot write journal", "file is no directory", "reshardctl.toml:7")
    assert lab.wire.calls == []
    assert lab.cli("fix", "app", "--dry-run").code == 1


def test_a_configured_journal_is_a_folder(lab, tmp_path):
    (tmp_path / "kept").mkdir()
    configure(lab, consumer=f'journal = "{tmp_path / "kept"}"')
    assert lab.cli("fix", "app", "--yes", "--assume-stopped").code == 0
    assert [path.suffix for path in (tmp_path / "kept").iterdir()] == [".jsonl"]
    assert lab.journals() == []


@pytest.mark.parametrize("words", [["inspect"], ["inspect", "app", "app"], ["fix", "app", "-n"]])
def test_a_file_above_is_used_and_named_once(lab, tmp_path, monkeypatch, words):
    configure(lab)
    below = tmp_path / "jobs"
    below.mkdir()
    monkeypatch.chdir(below)
    result = lab.cli(*words)
    assert result.code == 1 and result.err.count("../reshardctl.toml is used") == 1
    monkeypatch.chdir(tmp_path)
    assert "is used" not in lab.cli(*words).err


def test_an_undo_finds_the_file_above(lab, tmp_path, monkeypatch):
    configure(lab)
    below = tmp_path / "jobs"
    below.mkdir()
    monkeypatch.chdir(below)
    assert lab.cli("fix", "app", "--yes", "--assume-stopped", "--journal", "j.jsonl").code == 0
    undone = lab.cli("undo", "j.jsonl", "--yes", "--assume-stopped")
    assert undone.code == 0 and "../reshardctl.toml is used" in undone.err


def test_a_suggested_command_repeats_the_policy_that_is_not_the_file_s(lab):
    configure(lab, consumer='policy = "latest-at-start"')
    told = lab.cli("fix", "app", "--policy", "lossless", "--dry-run", "--format", "text").out
    assert "reshardctl fix app --policy lossless" in told


def test_yes_takes_no_skip_that_only_the_file_names(lab, monkeypatch):
    """The command line says --yes to a repair; who wrote the file is not who types it."""
    configure(lab, consumer='policy = "latest"')
    monkeypatch.setattr(type(lab), "configured_probe", True)  # where now is in each shard
    before = lab.items()
    refused = lab.cli("fix", "app", "--yes", "--assume-stopped")
    assert refused.code == 4 and refused.says("skips", "--accept skip="), refused.err
    assert lab.items() == before
    (line,) = [line for line in refused.err.splitlines() if line.startswith("  reshardctl fix app")]
    assert lab.cli(*shlex.split(line)[1:]).code == 0
    assert lab.items() != before


def test_yes_takes_the_skip_of_a_policy_that_the_command_names(lab):
    configure(lab, consumer='policy = "latest"')
    assert lab.cli("fix", "app", "--policy", "latest", "--yes", "--assume-stopped").code == 0
