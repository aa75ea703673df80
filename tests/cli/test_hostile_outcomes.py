"""Texts from outside in what a command tells of a write, of a file, of several and of a wait.

As `test_hostile_text`, which draws them: every command and format that is not drawn there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from reshardctl.cli import completion
from reshardctl.consumers import locator as libraries
from reshardctl.execution import plan_file
from reshardctl.model import Create, Image, Step, Update, Write
from reshardctl.render.formats import REPORTS
from tests.cli.kinesis_consumer_lab import positions_lab
from tests.cli.kinsumer_lab import kinsumer_lab
from tests.cli.lab import Lab
from tests.cli.quickwit_lab import quickwit_lab
from tests.cli.spark_lab import QUBOLE, spark_lab
from tests.cli.test_hostile_text import checked, commands, drawn, in_files, names, values

FORMS = [form for form in REPORTS if form != "text"]
ANSWERED = ("--yes", "--assume-stopped", "--accept", "skip=all,reread=all,disorder")
SEEDS = [40, pytest.param(41, marks=pytest.mark.long), pytest.param(42, marks=pytest.mark.long)]


def of_a_file(text: str) -> str:
    """The text as a part of a file's name."""
    return text.replace("/", "").replace("\0", "")[:60]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_row_that_is_written_and_put_back_does(lab, tmp_path, seed):
    """The outcome of fix and undo, and what each shows before it, in every format."""
    values(lab, drawn(seed))
    lab.alter("shardId-000000000000", **{drawn(seed): {"S": drawn(seed + 1)}})
    assert in_files(lab, tmp_path, "fix", *lab.where, "--assume-stopped").code == 4
    in_files(lab, tmp_path, "fix", *lab.where, *ANSWERED)
    in_files(lab, tmp_path, "undo", lab.journal(), "--assume-stopped")
    done = in_files(lab, tmp_path, "undo", lab.journal(), *ANSWERED[:2])
    assert done.code == 0, done


@pytest.mark.parametrize("seed", SEEDS)
def test_no_file_from_elsewhere_does(lab, tmp_path, monkeypatch, seed):
    """A plan whose every text is a stranger's; its digest is right."""
    text, path = drawn(seed), tmp_path / f"{of_a_file(drawn(seed))}.plan"
    assert lab.dry("--out", path).code == 1
    mine = plan_file.load(path)
    row = {"leaseKey": {"S": text}, text: {"S": text}, "checkpoint": {"S": text}}
    image = Image(text, row)
    writes = (
        Write(text, Create(row), None, text),
        Write(text, Update({text: {"S": text}}, (text,), {text: 1}), image, text, (text,)),
    )
    monkeypatch.setenv("RESHARDCTL_STATE_DIR", str(tmp_path / "new"))
    for locator in (mine.locator, f"spark:{text}", f"quickwit+file:///{text}?index={text}"):
        for stream in (mine.stream, text):
            forged = replace(mine, locator=locator, stream=stream, steps=(Step(text, writes),))
            path.write_text(plan_file.text(forged))
            for words in (["fix", "--plan", path], ["undo", path], ["undo", path, "-n"]):
                checked(lab, *words)
                checked(lab, *words, "--yes")


@pytest.mark.parametrize("seed", SEEDS)
def test_no_sign_of_life_does(lab, seed):
    """What a running consumer changes while it is watched is named in the refusal."""
    text = drawn(seed)
    values(lab, text)

    def lives(_seconds: float) -> None:
        lab.alter("shardId-000000000001", leaseOwner={"S": text + "x" * len(lab.slept)},
                  leaseCounter={"N": str(900 + len(lab.slept))})  # fmt: skip

    lab.on_sleep.append(lives)
    refused = checked(lab, "fix", *lab.where, "--yes", "--watch", "60s", *ANSWERED[2:])
    assert refused.code == 4 and "running" in refused.err
    names(lab, text)
    checked(lab, "fix", *lab.where, "--yes", "--watch", "60s", *ANSWERED[2:])


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_of_several_does(lab, tmp_path, seed):
    text = drawn(seed)
    values(lab, text)
    names(lab, text)
    path = tmp_path / "reshardctl.toml"
    path.write_text(
        f"[streams.orders]\n[consumers.a]\nstream = 'orders'\nlocator = '{lab.locator}'\n"
        f"[consumers.b]\nstream = 'orders'\nlocator = 'kcl://no-such-table'\n"
        f"[consumers.c]\nstream = 'orders'\nlocator = {json.dumps('spark:/no/' + text)}\n"
    )
    file = ["--config", path]
    checked(lab, "inspect", *file, "--format", "openmetrics")
    in_files(lab, tmp_path, "inspect", *file)
    in_files(lab, tmp_path, "fix", "a", "b", "c", *file, "-n")
    in_files(lab, tmp_path, "fix", "a", "b", "c", *file, *ANSWERED)
    for words in (
        ["status", "a"], ["export", "a"], ["graph", "a"], ["explain", "a", "1"], ["config", "show"],
        ["config", "check"], ["config", "check", "--online"],
    ):
        checked(lab, *words, *file)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_that_is_compared_or_waited_for_does(lab, tmp_path, seed):
    text = drawn(seed)
    values(lab, text)
    base = tmp_path / f"{of_a_file(text)}.json"
    checked(lab, "inspect", *lab.where, "--format", "json", "--output", base)
    names(lab, text)
    for more in (["--baseline", base], ["--if-reshard", "4"], ["--watch", "60s"]):
        in_files(lab, tmp_path, "inspect", *lab.where, *more)
    checked(lab, "inspect", *lab.where, "--wait", "30s")
    checked(lab, "inspect", *lab.where, "--probe", "--debug", tmp_path / of_a_file(text))
    saved = tmp_path / f"{of_a_file(text)}.positions"
    checked(lab, "export", *lab.where, "--format", "csv", "-o", saved)
    checked(lab, "fix", *lab.where, "--positions", saved, "-n")
    frozen = [lab.locator, "--stream", "orders", "--redact"]
    checked(lab, "snapshot", *frozen, "-o", tmp_path / "r.snapshot")


@pytest.mark.parametrize("seed", SEEDS)
def test_no_journal_that_is_deleted_does(lab, tmp_path, seed):
    folder = tmp_path / of_a_file(drawn(seed))
    folder.mkdir()
    values(lab, drawn(seed))
    done = lab.fix("--journal", folder / f"{of_a_file(drawn(seed + 1))}.jsonl", *ANSWERED[2:])
    assert done.code in (0, 1), done
    (folder / "torn.jsonl").write_text(drawn(seed))
    for form in REPORTS:
        checked(lab, "undo", "--prune", folder, "--older-than", "1s", "-n", "--format", form)
    checked(lab, "undo", "--prune", folder)
    checked(lab, "undo", "--prune", folder, "--yes")
    checked(lab, "undo", folder / "torn.jsonl")
    checked(lab, "fix", "--resume", folder / "torn.jsonl")


@pytest.mark.parametrize("seed", SEEDS)
def test_no_word_of_a_sink_does(lab, tmp_path, monkeypatch, seed):
    """Without Spark: what comes before it is started, or says that it is not installed."""
    monkeypatch.chdir(tmp_path)
    text = drawn(seed)
    for words in (
        ["audit", f"/no/{text}", "--stream", text], ["audit", text, *lab.where[1:], "--form", text],
        ["rebuild", *lab.where, "--from", text, "--form", text, "-n"],
        ["rebuild", *lab.where, "--from", f"/no/{text}", "--column", text, "-n"],
        ["rebuild", "--plan", f"no/{text}"], ["rebuild", "--resume", f"no/{text}"],
        ["config", "iam", text], ["undo", "--prune", text], ["undo", "--older-than", text],
        ["undo", f"no/{text}", "--journal", text], ["undo", f"s3://bucket/{text}"],
        ["fix", *lab.where, "--to", text, "--yes"], ["fix", *lab.where, "--watch", text],
        ["fix", *lab.where, "--journal", f"no/{text}", "--yes"],
        ["inspect", *lab.where, "--if-reshard", text], ["inspect", *lab.where, "--wait", text],
        ["inspect", *lab.where, "--every", text], ["inspect", *lab.where, "--probe-budget", text],
        ["inspect", *lab.where, "--rule", text], ["export", *lab.where, "--format", text],
        ["graph", *lab.where, "--format", text], ["demo", text], ["discover", "--format", text],
    ):
        checked(lab, *words)


@contextmanager
def stores(
    name: str, lab: Lab, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Lab]:
    """A store of each library with the text wherever a row, a file or a field may have it."""
    first = "shardId-000000000000"
    if name == "kinesis-consumer":
        rows = [
            {"namespace": f"app-{lab.stream}", "shard_id": first, "sequence_number": text},
            {"namespace": f"app-{lab.stream}", "shard_id": text, "sequence_number": text,
             text or "x": text},
        ]  # fmt: skip
        with positions_lab(lab, [
            Image("", {n: {"S": v} for n, v in row.items()}) for row in rows
        ]) as ours:
            ours.options = "?app=app&release=0.5&initial=LATEST"
            yield ours
    elif name == "kinsumer":
        with kinsumer_lab(lab, []) as apart:
            apart.options = "?release=twitch&initial=TRIM_HORIZON"
            checkpoints, clients, metadata = (shape.name for shape in apart.shapes)
            for table, item in (
                (checkpoints, {"Shard": first, "SequenceNumber": text, "OwnerName": text}),
                (checkpoints, {"Shard": text, "SequenceNumber": text, "OwnerID": text}),
                (clients, {"ID": text, "Name": text}), (metadata, {"Key": text, text: text}),
            ):
                apart.table.boto.put_item(
                    TableName=table, Item={n: {"S": v} for n, v in item.items()}
                )
            yield apart
    elif name == "quickwit":
        with quickwit_lab(
            "0.9.0", "q1", lab.servers, tmp_path / "q", monkeypatch, lab.wire
        ) as metastore:
            whole = json.loads(metastore.text())
            held = whole["index"]["checkpoint"]["kinesis-events"]
            held[next(iter(held))], held[text] = text, text
            whole["index"]["checkpoint"][text] = {text: text}
            metastore.file().write_text(json.dumps(whole))
            yield metastore
    else:
        with spark_lab(QUBOLE, "s3", lab.servers, tmp_path, monkeypatch, lab.wire) as query:
            newest = query.root / "offsets" / str(query.newest())
            lines = newest.read_text().splitlines()
            line = json.loads(lines[2].removeprefix("0:"))
            line["shardId-000000000000"]["iteratorPosition"] = text
            line[text] = dict.fromkeys(line["shardId-000000000000"], text)
            head = json.loads(lines[1])
            head["conf"] |= {text: text}
            newest.write_text("\n".join([lines[0], json.dumps(head), json.dumps(line)]))
            for folder in ("offsets", "commits", "metadata"):
                place = query.root / folder
                place = place if place.is_dir() else query.root
                (place / of_a_file(text)).write_text(text)
            yield query


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["kinesis-consumer", "kinsumer", "quickwit", "spark"])
def test_no_store_of_another_library_does(lab, tmp_path, monkeypatch, name, seed):
    with stores(name, lab, drawn(seed), tmp_path, monkeypatch) as ours:
        told = [
            in_files(ours, tmp_path, "inspect", *ours.where),
            in_files(ours, tmp_path, "fix", *ours.where, "--dry-run"),
        ]
        for words in commands(ours.where):
            if words[0] != "discover" and not {*REPORTS} & {*words} - {"text"}:
                told.append(checked(ours, *words))
        assert any(each.code in (0, 1) for each in told), told[0]


def test_the_stores_are_of_all_libraries():
    """`kcl` has every test of its own."""
    drawn_here = {"kinesis-consumer", "kinsumer", "quickwit", "spark"}
    assert set(libraries.SPECS) == {"kcl", *drawn_here}


@pytest.mark.parametrize("seed", range(40, 60))
def test_no_value_that_a_shell_offers_does(tmp_path, monkeypatch, seed):
    """A shell shows what it is offered as it is: what cannot be shown is not offered."""
    text = f"20{drawn(seed)}"
    state = tmp_path / "state"
    state.mkdir()
    (state / f"{of_a_file(text)}.jsonl").write_text("")
    (state / "20261121T001000Z-app-1f3c41ab.jsonl").write_text("")
    monkeypatch.setenv("RESHARDCTL_STATE_DIR", str(state))
    snapshot = tmp_path / "s.snapshot"
    snapshot.write_text(json.dumps({"shards": [["shardId-000000000007"], [text]]}))
    monkeypatch.setenv("COMP_WORDS", f"reshardctl inspect snapshot:{snapshot} --shards ")
    offered = [*completion.journals(""), *completion.shards("")]
    assert {"20261121T001000Z-app-1f3c41ab", "7"} <= set(offered)
    assert all(value.isprintable() for value in offered), offered
