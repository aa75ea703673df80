"""Texts from outside in every output of every command: none steers a terminal or a log of CI.

Rows, names of files and words of the command line are drawn from what terminals, GitHub's runner,
Azure Pipelines, spreadsheets and shells take for their own.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from reshardctl.cli.terminal import FIXED, after_writing
from reshardctl.errors import HalfDone
from reshardctl.model import Image
from reshardctl.render.formats import REPORTS
from tests.cli.kinesis_consumer_lab import positions_lab
from tests.cli.lab import Lab, Result
from tests.unit.render.formats import DRAWN

PIECES = (
    "\x1b[31m", "\x1b]8;;http://evil\x07", "\x9b2J", "\r\n", "\n", "\u202e", "\u2066", "\u200b",
    "\u2028", "\x7f", "e\u0301", "::error file=app.js,line=1::pwned", "::add-mask::reshardctl",
    "::stop-commands::x", "##[error]pwned", "##vso[task.setvariable variable=x]y",
    "=cmd|' /C calc'!A0", "@SUM(1)", "\uff1d1+1", "<script>alert(1)</script>",
    "\"'`|&;$(touch pwned)", " ", "x" * 70,
    "shardId-000000000001", "\t-1", "%0A::error::x", "[red]markup[/red]", "\\", "]]>", "-->",
)  # fmt: skip

REGISTERED = {
    "add-mask", "add-matcher", "add-path", "debug", "echo", "endgroup", "error", "group",
    "internal-set-repo-path", "notice", "remove-matcher", "save-state", "set-env", "set-output",
    "stop-commands", "warning",
}
"""Commands of GitHub's runner (ActionCommandManager.cs)."""


def drawn(seed: int) -> str:
    """A text of some pieces. Commands come first in every second one, as the first of a line."""
    random = Random(seed)
    pieces = random.choices(PIECES, k=random.randint(2, 6))
    return random.choice(("\n::error file=a::pwned\n", "##[error]", "")) + "".join(pieces)


def command_v2(line: str) -> str | None:
    """The command that the runner reads in a line (ActionCommand.cs, TryParseV2)."""
    message = line.lstrip()
    if not message.startswith("::"):
        return None
    end = message.find("::", 2)
    name = message[2:end].partition(" ")[0].lower() if end > 0 else ""
    return name if name in REGISTERED else None


def command_v1(line: str) -> str | None:
    """The same for its older commands (TryParse), and those of Azure Pipelines."""
    for prefix in ("##[", "##vso["):
        at = line.find(prefix)
        end = line.find("]", at)
        if at >= 0 and end >= 0:
            return line[at:end]
    return None


def lines_of(text: str) -> list[str]:
    """What a terminal or a log takes for lines."""
    return re.split(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", text)


def check(what: object, text: str, *, annotations: bool = False) -> None:
    """Fails for what could steer a terminal or a log. annotations: whether ours are in it."""
    for character in set(text):
        assert character == "\n" or (
            character.isprintable() and unicodedata.category(character)[0] != "M"
        ), (what, character)
    for line in lines_of(text):
        assert command_v1(line) is None, (what, line)
        if not annotations:
            assert command_v2(line) is None, (what, line)
        elif line:
            assert command_v2(line) in ("error", "warning", "notice"), (what, line)
            title = re.search(r"title=([^:]*)::", line)
            assert title and re.match(r"RSH\d{3} |reshardctl|suppression expired", title[1]), line


def checked(lab: Lab, *words: str | Path) -> Result:
    """A command whose output has nothing of that in it, and is whole."""
    done = lab.cli(*words)
    assert done.code in (0, 1, 2, 3, 4, 6), (words, done)
    assert "defect of reshardctl" not in done.err and "Traceback" not in done.err, done.err
    check(words, done.err)
    check(words, done.out, annotations="github" in words)
    return done


def in_files(lab: Lab, folder: Path, *words: str | Path) -> Result:
    """The same of a command that shows text, and writes every other format into a file."""
    files = {form: folder / f"told.{form}" for form in REPORTS if form != "text"}
    typed = (f"--format={form}={path}" for form, path in files.items())
    done = checked(lab, *words, "--format", "text", *typed)
    for form, path in files.items():
        assert done.code not in (0, 1) or path.exists(), (words, form)
        if path.exists():
            check((*words, form), path.read_text("utf-8"), annotations=form == "github")
            path.unlink()
    return done


def commands(where: list[str]) -> Iterator[list[str]]:
    """Every command that reads, in every format."""
    for form in [*REPORTS, "openmetrics"]:
        yield ["inspect", *where, "--format", form]
    for form in REPORTS:
        yield ["fix", *where, "--dry-run", "--format", form]
    for form in ("text", "json", "jsonl", "csv", "openmetrics"):
        yield ["status", *where, "--format", form]
    for form in DRAWN:
        yield ["graph", *where, "--format", form]
    for shard in ("0", "1"):
        for form in ("text", "json"):
            yield ["explain", *where, shard, "--format", form]
    for form in ("json", "csv"):
        yield ["export", *where, "--format", form]
    for form in ("text", "json"):
        yield ["discover", "orders", "--format", form]
    for form in ("text", "markdown"):
        yield ["inspect", *where, "--verbose", "--format", form]
        yield ["fix", *where, "--dry-run", "--verbose", "--format", form]
    yield ["inspect", *where, "--format", "openmetrics", "--per-shard"]


def values(lab: Lab, text: str) -> None:
    """Rows that are judged, with the text wherever a value may be."""
    first, second = "shardId-000000000000", "shardId-000000000001"
    lab.alter(first, leaseOwner={"S": text}, extra={"S": text})
    lab.alter(second, checkpoint={"S": text}, leaseOwner={"S": text}, pendingCheckpoint={"S": text})


def names(lab: Lab, text: str) -> None:
    """The text wherever a key or another shard is named."""
    first, second = (lab.items()[f"shardId-00000000000{n}"] for n in (0, 1))
    lab.alter("shardId-000000000000", childShardIds={"SS": [text]})
    lab.plant(
        {**second, "leaseKey": {"S": f"shardId-000000000002{text}"}},
        {**second, "leaseKey": {"S": f"orders:{text}"}, "streamName": {"S": text}},
        {**first, "leaseKey": {"S": text}, "entityType": {"S": text}},
    )


FEW = [(values, 0), (names, 1)]


def seeds(few: int, first: int, last: int) -> list[Any]:
    """All of them, of which the first few are for every turn."""
    return [
        *range(first, first + few),
        *(pytest.param(n, marks=pytest.mark.long) for n in range(first + few, last + 1)),
    ]


@pytest.mark.parametrize(("plant", "seed"), [
    pytest.param(plant, seed, marks=() if (plant, seed) in FEW else pytest.mark.long)
    for plant in (values, names) for seed in range(12)
])  # fmt: skip
def test_no_row_steers_what_reads_the_output(lab, plant, seed):
    text = drawn(seed)
    plant(lab, text)
    for words in commands(lab.where):
        done = checked(lab, *words)
        if "json" in words and done.out:
            json.loads(done.out)


@pytest.mark.parametrize("seed", seeds(1, 0, 2))
def test_no_application_of_kinesis_consumer_does(lab, tmp_path, seed):
    text = drawn(seed)
    row = {"namespace": f"{text}-orders", "shard_id": "shardId-000000000001",
           "sequence_number": "49" + 54 * "0"}  # fmt: skip
    image = Image("", {name: {"S": value} for name, value in row.items()})
    with positions_lab(lab, [image]) as ours:
        checked(ours, "inspect", *ours.where)
        ours.options = "?app=y&release=0.5"
        in_files(ours, tmp_path, "inspect", *ours.where)


@pytest.mark.parametrize("seed", seeds(2, 0, 5))
def test_no_word_of_the_command_line_does(lab, tmp_path, monkeypatch, seed):
    monkeypatch.chdir(tmp_path)
    text = drawn(seed)
    path = "no/" + text.replace("\0", "")
    where = lab.where
    for words in (
        ["inspect", text], ["inspect", lab.locator, "--stream", text], [text],
        ["inspect", *where, "--config", path], ["inspect", *where, f"--{text}"],
        ["inspect", *where, "--policy", text], ["inspect", *where, "--format", text],
        ["inspect", *where, "--region", text], ["inspect", *where, "--accept", text],
        ["inspect", *where, "--endpoint-url", text], ["inspect", *where, "--output", path],
        ["inspect", *where, "--fail-on", text], ["inspect", f"kcl://{text}", *where[1:]],
        ["inspect", f"spark:{path}", *where[1:]], ["inspect", f"snapshot:{path}"],
        ["inspect", f"spark+s3://bucket/{text}?release={text}", *where[1:]],
        ["fix", *where, "--plan", path], ["fix", "--resume", path],
        ["fix", *where, "--shards", text, "-n"], ["fix", *where, "--positions", path, "-n"],
        ["fix", *where, "--set", text, "-n"], ["fix", *where, "--created", text, "-n"],
        ["undo", path], ["undo", "--list", path], ["undo", "--show", path],
        ["explain", *where, text], ["graph", *where, "--since", text], ["rule", text],
        ["snapshot", lab.locator, "--stream", "orders", "-o", path], ["export", *where, "-o", path],
        ["status", *where, "--sort", text], ["status", *where, "--shards", text],
        ["discover", text], ["config", "show", "--config", path], ["config", "check", text],
    ):
        checked(lab, *words)


@pytest.mark.parametrize("seed", seeds(1, 20, 21))
def test_nothing_that_is_written_and_undone_does(lab, tmp_path, seed):
    """Rows with the text are written; plans and journals lie below a name with it."""
    text = drawn(seed)
    folder = tmp_path / text.replace("/", "").replace("\0", "")[:80]
    folder.mkdir()
    lab.alter("shardId-000000000001", leaseOwner={"S": text}, pendingCheckpoint={"S": text})
    lab.alter("shardId-000000000000", **{text: {"S": text}})
    plan, journal = folder / "a.plan", folder / "a.jsonl"
    assert checked(lab, "fix", *lab.where, "-n", "--out", plan).code == 1
    checked(lab, "undo", plan, "-n")
    wanted = ["--yes", "--assume-stopped", "--accept", "reread=99h"]
    done = checked(lab, "fix", *lab.where, *wanted, "--journal", journal, "--format", "text")
    assert journal.exists(), done.err
    for words in (["--show", journal], ["--list", folder], [journal, "-n"]):
        in_files(lab, tmp_path, "undo", *words)
    checked(lab, "fix", "--resume", journal, "--assume-stopped")
    checked(lab, "undo", journal, "--yes", "--assume-stopped", "--format", "github")
    saved = folder / "a.snapshot"
    assert checked(lab, "snapshot", lab.locator, "--stream", "orders", "-o", saved).code == 0
    in_files(lab, tmp_path, "inspect", f"snapshot:{saved}", lab.locator, "--stream", "orders")
    in_files(lab, tmp_path, "inspect", f"snapshot:{saved}")


@pytest.mark.parametrize("seed", seeds(1, 30, 31))
def test_no_name_of_a_configuration_does(lab, tmp_path, seed):
    text = drawn(seed)
    folder = tmp_path / f"\x1b\u2028{text}".replace("/", "").replace("\0", "")[:80]
    folder.mkdir()
    visible = "".join(c for c in text if c.isprintable() and c not in "'\"\\")
    path = folder / "reshardctl.toml"
    path.write_text(
        f"[streams.orders]\n[consumers.a]\nstream = 'orders'\nlocator = '{lab.locator}'\n"
        "[[suppress]]\nconsumer = 'a'\nrule = 'RSH303'\nuntil = 2026-12-21\n"
        f"why = 'x {visible}'\n"
    )
    for form in [*REPORTS, "openmetrics"]:
        done = checked(lab, "inspect", "--config", path, "--format", form)
        assert done.code in (0, 1), done
    for words in (["config", "show"], ["config", "check"], ["config", "iam"], ["fix", "a", "-n"]):
        checked(lab, *words, "--config", path)


def test_no_formula_reaches_a_spreadsheet(lab):
    for text in ("=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\uff1d1+1", "\n=1"):
        values(lab, text)
        for verb in ("export", "status"):
            done = checked(lab, verb, *lab.where, "--format", "csv")
            for row in csv.reader(io.StringIO(done.out)):
                assert not [cell for cell in row if re.match("[=+@\uff1d\t\r]|-(?!$)", cell)], row


def test_what_is_exported_as_json_is_what_is_stored(lab):
    text = "##[error]::error ::\x1b\n=1"
    values(lab, text)
    done = checked(lab, "export", *lab.where)
    assert text in {entry["stored"] for entry in json.loads(done.out)["positions"]}


def test_a_message_is_one_line_and_its_next_step_another(lab, tmp_path):
    done = checked(lab, "undo", tmp_path / "no\nerror: faked\n" / "a.jsonl")
    assert len(done.err.splitlines()) == 2
    assert "\\nerror: faked\\n" in done.err


def test_the_ways_out_of_several_journals_stand_in_one_line():
    journals = {"/a b/1.jsonl": (), "/2.jsonl": ("--assume-stopped",)}
    with pytest.raises(HalfDone) as caught, after_writing(FIXED, journals):
        raise ValueError("x")
    show, _, back = caught.value.next.partition("   # or back: ")
    assert show == "reshardctl undo --show '/a b/1.jsonl'; reshardctl undo --show /2.jsonl"
    assert back == "reshardctl undo '/a b/1.jsonl'; reshardctl undo /2.jsonl --assume-stopped"


HOSTILE_NAMES = ("a;touch pwned;b", "$(touch pwned)", "`id`", "a'b", 'a"b', "a|b&c", "*")


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_printed_command_can_be_pasted(lab, tmp_path, monkeypatch, name):
    """Whatever stands in it stays one word of a shell."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).mkdir()
    where = f"{tmp_path}/{name}"
    done = checked(lab, "inspect", f"spark:{where}/no?release=awslabs-1.4", *lab.where[1:])
    assert words_of(done, "ls ", "; if") == ["ls", where]
    journal = f"{where}/a.jsonl"
    assert lab.fix("--journal", journal).code == 0
    done = checked(lab, "fix", *lab.where, "--yes", "--journal", journal)
    assert words_of(done, "reshardctl fix --resume")[-1] == journal


def words_of(done: Result, command: str, end: str = "\n") -> list[str]:
    """A command in a message, as a shell reads it."""
    _, found, behind = done.err.partition(command)
    assert found, done.err
    return shlex.split(command + behind.partition(end)[0])


LOCATORS = (
    "Kinesis-Consumer+postgres://u:S3cr3tPw@127.0.0.1:1/app", "postgres:/u:S3cr3tPw@127.0.0.1/app",
    " kinesis-consumer+postgres://u:S3cr3tPw@127.0.0.1:1/app", "'postgres://u:S3cr3tPw@h/app'",
    "kinesis-consumer+postgres://u:a/S3cr3tPw@127.0.0.1:1/app?app=a",
    "kinesis-consumer+postgres://u:a?S3cr3tPw@127.0.0.1:1/app?app=a",
    "kinesis-consumer+postgres://127.0.0.1:1/app?app=a&password=S3cr3tPw",
    "kinesis-consumer+redis://:S3cr3tPw@127.0.0.1:1/x?app=a", "u:S3cr3tPw@h/app",
    "quickwit+http://u:S3cr3tPw@127.0.0.1:1?index=a",
)


FORMS_OF = {
    locator: [form for turn, form in enumerate(REPORTS) if turn % len(LOCATORS) == place]
    for place, locator in enumerate(LOCATORS)
}


@pytest.mark.parametrize("locator", LOCATORS)
def test_no_password_is_printed(lab, tmp_path, monkeypatch, locator):
    monkeypatch.chdir(tmp_path)
    given = ["--stream", "orders"]
    calls = [
        ["inspect", locator, *given], ["inspect", locator], ["undo", locator], ["rule", locator],
        ["undo", "--list", locator], ["undo", "--show", locator], ["graph", locator, *given],
        ["explain", locator, "0", *given], ["explain", *lab.where, locator], ["discover", locator],
        ["fix", locator, *given, "-n", "--debug", "calls"], ["fix", "--plan", locator],
        ["fix", "--resume", locator], ["snapshot", locator, "--stream", "orders", "-o", "saved"],
        ["inspect", *lab.where, "--config", locator], ["inspect", *lab.where, f"--{locator}"],
        ["inspect", *lab.where, "--baseline", locator], ["status", *lab.where, "--sort", locator],
        ["inspect", locator, *given, *(f"--format={form}=r.{form}" for form in REPORTS)],
        *(["fix", locator, *given, "-n", "--format", form] for form in FORMS_OF[locator]),
    ]
    for words in calls:
        done = checked(lab, *words)
        assert "S3cr3tPw" not in done.out + done.err, (words, done)
    (tmp_path / "reshardctl.toml").write_text(
        f"[streams.orders]\n[consumers.a]\nstream = 'orders'\nlocator = \"{locator}\"\n"
    )
    for words in (
        ["inspect"], ["inspect", "--format", "json"], ["inspect", "--format", "text"],
        ["config", "show"], ["config", "check"], ["config", "iam"], ["fix", "a", "-n"],
    ):
        done = checked(lab, *words)
        assert "S3cr3tPw" not in done.out + done.err, (words, done)
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name != "reshardctl.toml":
            assert "S3cr3tPw" not in path.read_text("utf-8"), path


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_KINESIS", "--endpoint-url"])
def test_no_token_of_an_endpoint_is_printed(lab, tmp_path, monkeypatch, name):
    url = f"{lab.servers.kinesis}/?tok=S3cr3tPw"
    given = []
    if name == "--endpoint-url":
        given = [name, f"kinesis={url}"]
    else:
        monkeypatch.setenv(name, url)
    monkeypatch.chdir(tmp_path)
    for words in (
        ["inspect", *lab.where, "--format", "text"], ["inspect", *lab.where, "--format", "json"],
        ["fix", *lab.where, "-n", "--out", "a.plan", "--format", "markdown"],
        ["inspect", lab.locator, "--stream", "none", "--debug", "calls"],
    ):
        done = checked(lab, *words, *given)
        assert "S3cr3tPw" not in done.out + done.err, (words, done)
    for path in tmp_path.iterdir():
        if path.is_file():
            assert "S3cr3tPw" not in path.read_text("utf-8"), path
