"""Values that a shell offers: asked through the real bash, fish and zsh."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from reshardctl.cli import app, completion
from reshardctl.diagnosis.rules import RULES
from reshardctl.planning.policy import AT_TIMESTAMP, POLICIES
from reshardctl.render.formats import METRICS, REPORTS
from tests.support.case import CASES

BIN = Path(sys.executable).parent
SNAPSHOT = CASES.parent / "golden" / "files-0.2" / "kcl" / "stream.snapshot"
CONFIG = """
[streams.orders]
stream = "orders-prod"

[consumers.fraud]
stream = "orders"
locator = "kcl://fraud"

[consumers.archive]
stream = "orders"
locator = "kcl://archive"
"""
JOURNALS = ("20261121T001000Z-app-1f3c41ab", "20261121T002000Z-app-9f3c41ab")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "reshardctl.toml").write_text(CONFIG)
    shutil.copy(SNAPSHOT, tmp_path / "s.snapshot")
    (tmp_path / "state").mkdir()
    for name in JOURNALS:
        (tmp_path / "state" / f"{name}.jsonl").write_text("")
    return tmp_path


def run(folder: Path, *command: str, **more: str) -> str:
    environment = {
        "PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(folder), "LC_ALL": "C.UTF-8",
        "RESHARDCTL_STATE_DIR": str(folder / "state"), **more,
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout


@cache
def script(shell: str) -> str:
    """What the shell reads once, the same in every folder."""
    return run(CASES, "reshardctl", _RESHARDCTL_COMPLETE=f"source_{shell}")


def in_bash(folder: Path, *words: str) -> set[str]:
    typed = [part for word in words for part in word.replace(":", " : ").split(" ")]
    asked = (
        f"COMP_WORDS=(reshardctl {shlex.join(typed)}); COMP_CWORD={len(typed)}\n"
        "_reshardctl_completion reshardctl\nprintf '%s\\n' \"${COMPREPLY[@]}\""
    )
    return set(run(folder, "bash", "--norc", "-c", f"{script('bash')}\n{asked}").split())


def in_fish(folder: Path, *words: str) -> set[str]:
    asked = f"complete -C {shlex.quote(' '.join(['reshardctl', *words]))}"
    shown = run(folder, "fish", "--no-config", "-c", f"{script('fish')}\n{asked}")
    return {line.partition("\t")[0] for line in shown.splitlines()}


def in_zsh(folder: Path, *words: str) -> set[str]:
    """The script's function, with zsh's own `_arguments` replaced by one that prints."""
    shown = run(
        folder, "zsh", "-f", "-c",
        "compdef() { }; _files() { }; _arguments() { print -r -- \"$2$1\" }\n"
        f"{script('zsh')}\n"
        f"words=(reshardctl {shlex.join(words)}); CURRENT={len(words) + 1}\n"
        "_reshardctl_completion",
    )
    values = shown.partition("((")[2].partition("))")[0]
    return set(re.findall(r'"([^"]+)"(?::"[^"]*")?', values))


def needing(shell: str, ask) -> object:
    absent = shutil.which(shell) is None
    return pytest.param(
        ask, id=shell, marks=pytest.mark.skipif(absent, reason=f"{shell} is not installed")
    )


SHELLS = [needing("bash", in_bash), needing("fish", in_fish), needing("zsh", in_zsh)]


OFFERED = [
    (("fix", "fraud", "--policy", "l"), {"lossless", "latest", "latest-at-start"}),
    (("audit", "x", "--format", "js"), {"json", "jsonl"}),
    (("inspect", "fraud", "--format", "open"), {"openmetrics"}),
    (("inspect", "fraud", "--rule", "RSH50"), {r.code for r in RULES if "RSH50" in r.code}),
    (("undo", "20261121T0010"), {JOURNALS[0]}),
    (("fix", "--resume", "20261121"), set(JOURNALS)),
    (("fix", "fr"), {"fraud"}),
    (("status", "arch"), {"archive"}),
    (("discover", "x", "--region", "no-such-value"), set()),
    (("inspect", "kcl://x", "--stream", "ord"), {"orders-prod"}),
    (("inspect", "snapshot:s.snapshot", "--shards", "0"), {"0"}),
    (("inspect", "snapshot:s.snapshot", "--shards", "0,1"), {"0,1"}),
    (("inspect", "kcl://x", "--shards", "resh"), {"reshardctl.toml"}),
    (("export", "kcl://x", "--rows", "sta"), {"state/"}),
]


@pytest.mark.parametrize("ask", SHELLS)
@pytest.mark.parametrize(("words", "offered"), [
    row if number % 2 else pytest.param(*row, marks=pytest.mark.long)
    for number, row in enumerate(OFFERED)
])  # fmt: skip
def test_a_shell_offers_the_values(folder, ask, words, offered):
    assert ask(folder, *words) == offered


@pytest.fixture
def offered(folder, monkeypatch, capsys) -> Callable[..., list[str]]:
    """What bash's script is answered, asked in this process."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("_RESHARDCTL_COMPLETE", "complete_bash")

    def ask(*words: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", "\n".join(["reshardctl", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        with pytest.raises(SystemExit):
            app.run([])
        shown = capsys.readouterr()
        assert shown.err == ""
        return shown.out.split()

    return ask


@pytest.mark.parametrize("content", ["[consumers", "consumers = 7", "streams = [1]", ""])
def test_a_malformed_configuration_offers_nothing(folder, offered, content):
    assert offered("fix", "fr") == ["fraud"]
    assert offered("inspect", "x", "--stream", "o") == ["orders-prod"]
    (folder / "reshardctl.toml").write_text(content)
    assert offered("fix", "f") == offered("inspect", "x", "--stream", "o") == []


@pytest.mark.parametrize("content", ["", "[]", '{"shards": 7}', '{"shards": [7]}'])
def test_a_malformed_snapshot_offers_nothing(folder, offered, content):
    words = ("inspect", "snapshot:s.snapshot", "--shards", "0")
    assert offered(*words) == ["0"]
    (folder / "s.snapshot").write_text(content)
    assert offered(*words) == []


def test_the_words_are_those_of_the_commands():
    assert [word.rstrip("=") for word in completion.POLICIES] == list(POLICIES)
    assert f"{AT_TIMESTAMP.name}=" in completion.POLICIES
    assert completion.rules("") == sorted((rule.code, rule.name) for rule in RULES)
    assert completion.formats_and_metrics("") == [*REPORTS, *METRICS]


def test_nothing_heavy_is_imported_for_an_answer(folder):
    heavy = ("boto3", "botocore", "networkx", "rich", "reshardctl.consumers.registry")
    asked = (["fix", "fr"], ["fix", "x", "--policy", "l"], ["undo", "2026"],
             ["inspect", "snapshot:s.snapshot", "--shards", "0"], ["rule", "RSH2"])  # fmt: skip
    program = (
        "import os, sys\n"
        "from reshardctl.cli import main\n"
        f"for words in {asked!r}:\n"
        "    os.environ['COMP_WORDS'] = '\\n'.join(['reshardctl', *words])\n"
        "    os.environ['COMP_CWORD'] = str(len(words))\n"
        "    try:\n"
        "        main()\n"
        "    except SystemExit:\n"
        f"        print('', words, [m for m in {heavy!r} if m in sys.modules], sep='\\n')\n"
    )
    shown = run(
        folder, sys.executable, "-c", program, _RESHARDCTL_COMPLETE="complete_bash",
        PYTHONPATH=str(CASES.parents[1]),
    )
    for words in asked:
        assert f"\n{words}\n[]\n" in shown
    assert "\nfraud\n" in f"\n{shown}" and "RSH203" in shown, "all of them are answered"
