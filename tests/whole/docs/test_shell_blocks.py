"""Every command of a shell block is run by a test, or parsed by the real command line.

A command that is only parsed has options that exist and values that they take. NOT_RUN says for
each page why its blocks are not executed. `RESHARDCTL_COUNT_BLOCKS=1 pytest -s` prints the totals.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from reshardctl.cli.app import application, split
from tests.whole.docs.pages import PAGES, ROOT, Block, shell_blocks

RUN = {
    "tutorial": "tests/whole/docs/test_tutorial.py",
    "live": "tests/cli/test_transcripts_running.py",
    "preflight": "tests/cli/test_transcripts.py",
    "watching": "tests/cli/test_transcripts_running.py",
}
"""Page → the test that runs its blocks in order."""

SCRIPT = "starts a script of the checkout that CI runs itself"
TEMPLATE = "the names are the reader's own"
NOT_RUN = {
    "README": "installs into the reader's environment, or takes the reader's names",
    "CONTRIBUTING": SCRIPT, "evidence": SCRIPT, "extending": SCRIPT,
    "audit": "needs PySpark; tests/unit/spark/audit/test_transcripts_audit.py runs the transcripts",
    "ci":
        "a pipeline, a container, a cluster; tests/cli/test_transcripts.py runs the wait,"
        " tests/whole/deploy reads the files",
    "commands": "the examples of --help, with made-up names",
    "config": "tests/cli/test_transcripts_config.py runs those whose output is shown",
    "index": TEMPLATE,
    "kcl": "tests/cli/test_transcripts.py runs the transcripts; the rest is for the reader's table",
    "kinesis-consumer":
        "tests/cli/test_transcripts_kinesis_consumer.py runs those with output",
    "kinsumer": "tests/cli/test_transcripts_kinsumer.py runs three; one needs a running one",
    "policies":
        "the reader's own numbers; tests/cli/test_policies_page.py runs the first part,"
        " tests/cli/test_positions.py and tests/cli/test_scope.py the commands",
    "quickwit": "tests/cli/test_transcripts_quickwit.py runs those with output",
    "replay": "tests/cli/test_transcripts.py runs those with output",
    "rebuild": "needs PySpark and a sink; tests/cli/test_rebuild.py runs the commands",
    "runbook":
        "the names are the reader's own; tests/cli/test_transcripts.py runs the one with output",
    "schemas": "tests/cli/test_transcripts.py runs those of snapshots",
    "source": "needs PySpark",
    "spark": "tests/cli/test_transcripts_spark.py runs the transcripts",
    "status":
        "needs a terminal; tests/cli/test_transcripts_running.py runs it at one,"
        " tests/cli/test_transcripts.py those of graph",
    "undo": "tests/cli/test_transcripts.py runs all that have output",
}  # fmt: skip
"""Page → why its shell blocks are not executed as they stand."""

BLOCKS = shell_blocks()
VERBS: dict[str, Any] = dict(typer.main.get_command(application()).commands)  # type: ignore[attr-defined]
ELLIPSIS = re.compile(r"…|\.\.\.")


def ours(block: Block) -> Iterator[list[str]]:
    """The words of each `reshardctl` command of a block, without what a shell does with it."""
    for command in block.commands:
        for part in re.split(r" (?:\||&&|;) ", command):
            words = shlex.split(part, comments=True)
            if words[:1] == ["reshardctl"] and not ELLIPSIS.search(part):
                end = next((i for i, word in enumerate(words) if word[:1] in "<>"), len(words))
                yield words[1:end]


def parse(words: list[str]) -> None:
    """Raises for a command, an option or a value that does not exist."""
    commands, name = VERBS, "reshardctl"
    _, words = split(words)
    while words and not words[0].startswith("-"):
        command, words, name = commands[words[0]], words[1:], f"{name} {words[0]}"
        if not hasattr(command, "commands"):
            command.make_context(name, list(words))
            return
        commands = command.commands
    assert words in (["--version"], ["--help"], []), words


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: f"{b.page.stem}:{b.line}")
def test_a_command_can_be_typed(block):
    for words in ours(block):
        if "--help" not in words[1:]:
            parse(words)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: f"{b.page.stem}:{b.line}")
def test_a_script_is_there(block):
    for command in block.commands:
        for word in re.findall(r"(?<![\w/.])(?:scripts|tests|\.ci)/[\w./-]+", command):
            assert (ROOT / word).exists(), word


def test_each_page_is_run_or_says_why_not():
    pages = {block.page.stem for block in BLOCKS}
    assert pages - RUN.keys() - NOT_RUN.keys() == set(), "add the page to RUN or to NOT_RUN"
    known = {page.stem for page in PAGES}
    assert (RUN.keys() | NOT_RUN.keys()) - known == set()
    for test in [*RUN.values(), *re.findall(r"tests/\S+\.py", " ".join(NOT_RUN.values()))]:
        assert (ROOT / test).is_file(), test


def test_an_option_that_does_not_exist_would_be_noticed():
    with pytest.raises(Exception, match="No such option"):
        parse(["fix", "kcl://TABLE", "--stream", "NAME", "--force"])
    with pytest.raises(KeyError):
        parse(["repair", "kcl://TABLE"])


def test_totals():
    run = sum(block.page.stem in RUN for block in BLOCKS)
    commands = sum(len(list(ours(block))) for block in BLOCKS)
    if os.environ.get("RESHARDCTL_COUNT_BLOCKS"):
        print(f"{len(BLOCKS)} shell blocks: {run} run, {len(BLOCKS) - run} say why not;"
              f" {commands} commands of reshardctl parsed")  # fmt: skip
    assert run >= 15 and commands >= 100
