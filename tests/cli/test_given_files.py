"""Files that an operator names: as a pipe, as a device that never ends, and one of another kind.

What is expected of a pipe is what `bash` makes of `<(…)`: a name in /dev/fd that gives its bytes
once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from reshardctl.stores import given_file
from tests.cli.lab import Lab
from tests.cli.process import surroundings

Piped = Callable[[Path], str]


@pytest.fixture
def piped():
    """Makes a name that gives a file's bytes once, as `<(cat FILE)` does."""
    opened, writers = [], []

    def name(path: Path) -> str:
        reader, writer = os.pipe()

        def write() -> None:
            with os.fdopen(writer, "wb") as file:
                file.write(path.read_bytes())

        writers.append(threading.Thread(target=write))
        writers[-1].start()
        opened.append(reader)
        return f"/dev/fd/{reader}"

    yield name
    for reader in opened:
        os.close(reader)
    for writer in writers:
        writer.join(30)


@pytest.fixture
def files(lab: Lab, tmp_path: Path) -> dict[str, Path]:
    """A file of every kind that a command takes, as the commands write them."""
    made = {name: tmp_path / f"a.{name}" for name in ("plan", "report", "snapshot", "csv", "json")}
    for form in ("csv", "json"):
        assert lab.cli("export", *lab.where, "-o", made[form]).code == 0
    lab.dry("--out", made["plan"])
    lab.inspect("--format", f"json={made['report']}", "-o", tmp_path / "text")
    where = (lab.locator, "--stream", lab.stream)
    assert lab.cli("snapshot", *where, "-o", made["snapshot"]).code == 0
    made["configuration"] = tmp_path / "there.toml"
    made["configuration"].write_text(
        f'[streams.orders]\n[consumers.app]\nstream = "orders"\nlocator = "{lab.locator}"\n'
    )
    assert lab.fix().code == 0
    made["journal"] = lab.journal()
    return made


def once_more(lab: Lab) -> None:
    """Undo the fix, so that the plan fits again."""
    assert lab.undo().code == 0


def test_a_plan_from_a_pipe_is_undone(lab, files, piped):
    result = lab.cli("undo", piped(files["plan"]), "--yes", "--assume-stopped")
    assert result.code == 0, result.err


def test_a_baseline_from_a_pipe(lab, files, piped):
    once_more(lab)
    for kind in ("report", "snapshot"):
        shown = lab.inspect("--baseline", files[kind])
        assert lab.inspect("--baseline", piped(files[kind])) == shown, kind


def test_positions_from_a_pipe(lab, files, piped):
    for kind in ("csv", "json", "snapshot"):
        shown = lab.dry("--positions", files[kind])
        given = piped(files[kind])
        result = lab.dry("--positions", given)
        assert result.code == shown.code
        assert result.out.replace(given, str(files[kind])) == shown.out


def test_a_snapshot_from_a_pipe(lab, files, piped):
    for verb in ("inspect", "graph", "status", "export"):
        shown = lab.cli(verb, f"snapshot:{files['snapshot']}")
        given = lab.cli(verb, f"snapshot:{piped(files['snapshot'])}")
        assert (given.code, given.err) == (shown.code, shown.err)


def test_a_configuration_from_a_pipe(lab, files, piped, tmp_path):
    shown = lab.cli("inspect", "app", "--config", files["configuration"])
    given = lab.cli("inspect", "app", "--config", piped(files["configuration"]))
    assert (given.code, given.err) == (shown.code, shown.err)
    once_more(lab)
    result = lab.cli("fix", "--plan", piped(files["plan"]), "--config",
                     piped(files["configuration"]), "--yes", "--assume-stopped",
                     "--journal", tmp_path / "second.jsonl")  # fmt: skip
    assert result.code == 0, result.err


def test_a_journal_from_a_pipe_is_shown_but_not_gone_on_with(lab, files, piped):
    assert lab.cli("undo", "--show", piped(files["journal"])).code == 0
    for words in (("fix", "--resume"), ("undo", "--yes")):
        given = piped(files["journal"])
        result = lab.cli(*words, given, "--assume-stopped")
        assert result.code == 2 and result.says(given, "it is written to", "name the file itself")


def test_as_bash_gives_them(lab, files):
    words = f'inspect snapshot:<(cat {files["snapshot"]}) --baseline <(cat {files["report"]})'
    done = subprocess.run(
        ["bash", "-c", f'"$0" -m reshardctl {words}', sys.executable], env=surroundings(lab),
        capture_output=True, text=True, timeout=120, cwd=Path(__file__).parents[2],
    )
    assert (done.returncode, done.stderr) == (0, ""), "all findings are known"


NAMED = {
    "--plan": ("fix", "--plan"), "--resume": ("fix", "--resume"), "undo": ("undo",),
    "--show": ("undo", "--show"), "--config": ("inspect", "app", "--config"),
    "--baseline": ("inspect", "kcl://app", "--stream", "s", "--baseline"),
    "--positions": ("fix", "kcl://app", "--stream", "s", "--dry-run", "--positions"),
}


@pytest.mark.parametrize("option", [*NAMED, "snapshot"])
def test_a_device_that_never_ends(lab, monkeypatch, option):
    monkeypatch.setattr(given_file, "LARGEST", 1 << 20)
    words = NAMED.get(option, ("inspect",))
    name = "snapshot:/dev/zero" if option == "snapshot" else "/dev/zero"
    result = lab.cli(*words, name)
    why = "no regular file" if option == "--resume" else "larger than"
    assert result.code == 2 and result.says("/dev/zero", why)


@pytest.mark.parametrize("option", [*NAMED, "snapshot"])
def test_a_file_that_is_too_large_is_not_read(lab, tmp_path, option):
    file = tmp_path / "large"
    with file.open("wb") as large:
        large.truncate(given_file.LARGEST + 1)
    words = NAMED.get(option, ("inspect",))
    name = f"snapshot:{file}" if option == "snapshot" else file
    result = lab.cli(*words, name)
    assert result.code == 2 and result.says(str(file), "larger than")


OF_KIND = {
    "plan": ("a saved plan", "reshardctl fix --plan {}"),
    "report": ("a report", "reshardctl inspect CONSUMER --stream STREAM --baseline {}"),
    "snapshot": ("a snapshot", "reshardctl inspect snapshot:{}"),
    "json": ("a file of positions", "reshardctl fix CONSUMER --stream STREAM --positions {}"),
    "csv": ("a file of positions", "reshardctl fix CONSUMER --stream STREAM --positions {}"),
    "journal": ("a journal", "reshardctl fix --resume {}"),
    "configuration": ("a configuration", "--config {}"),
}
TAKES = {
    "--plan": ("plan",), "--resume": ("journal",), "undo": ("plan", "journal"),
    "--show": ("journal",), "--config": ("configuration",), "--baseline": ("report", "snapshot"),
    "--positions": ("csv", "json", "snapshot"), "snapshot": ("snapshot",),
}


def test_a_file_of_another_kind_is_named_with_the_command_that_takes_it(lab, files):
    where = {"kcl://app": lab.locator, "s": lab.stream}
    for option, kind in [(o, k) for o in TAKES for k in OF_KIND if k not in TAKES[o]]:
        words = [where.get(word, word) for word in NAMED.get(option, ("inspect",))]
        what, command = OF_KIND[kind]
        name = f"snapshot:{files[kind]}" if option == "snapshot" else files[kind]
        result = lab.cli(*words, name)
        assert result.code == 2, (option, kind)
        assert result.says(f"{files[kind]} is {what}, not ", command.format(files[kind]))


@pytest.mark.parametrize("text", ["", "x", '{"schema": 7}', "[]", '{"seq": 0}\n', "\xff" * 9])
def test_a_file_of_no_kind_keeps_its_own_error(lab, tmp_path, text):
    (tmp_path / "f").write_text(text, encoding="latin-1")
    for words in NAMED.values():
        where = {"kcl://app": lab.locator, "s": lab.stream}
        result = lab.cli(*(where.get(word, word) for word in words), tmp_path / "f")
        assert result.code == 2 and result.says(str(tmp_path / "f"))
        assert " is a " not in result.err


@pytest.mark.parametrize("configured", [True, False])
def test_a_file_in_the_place_of_a_consumer(lab, files, configured, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if configured:
        (tmp_path / "reshardctl.toml").write_text(files["configuration"].read_text())
    for verb, kind in product(
        ("inspect", "fix", "status", "graph", "export"),
        ("plan", "journal", "snapshot", "report", "csv"),
    ):
        what, command = OF_KIND[kind]
        result = lab.cli(verb, files[kind])
        assert result.code == 2, (verb, kind)
        assert result.says(f"{files[kind]} is {what}, not a consumer", command.format(files[kind]))


@pytest.mark.parametrize("words", [
    ("inspect", "--skipped"), ("fix", "--skipped"), ("fix", "--dry-run", "--skipped"),
    ("fix", "--dry-run", "--out"), ("snapshot", "-o"),
], ids=" ".join)  # fmt: skip
def test_standard_output_has_a_name(lab, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    verb, *more = words
    refused = lab.cli(verb, *lab.where, *more, "-")
    assert refused.code == 2 and refused.says(f"for standard output: {more[-1]} /dev/stdout")
    assert not (tmp_path / "-").exists() and lab.wire.calls == []


def test_standard_input_has_a_name(lab):
    for words in (("fix", "--plan"), ("inspect", lab.locator, "--stream", "s", "--baseline")):
        result = lab.cli(*words, "-")
        assert result.code == 2 and result.says("for standard input: /dev/stdin")
