"""`--help`: groups of options, full summaries, and an example that the command itself accepts."""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from reshardctl.cli.app import application, run
from reshardctl.cli.help import GROUP_OF, MOST_USED, Group, long_name
from reshardctl.errors import NoStore
from scripts.pages.commands import commands

ROOT: Any = typer.main.get_command(application())
COMMANDS = dict(commands())
GROUPS = {"": ROOT, "config": ROOT.commands["config"]}
ALL = COMMANDS | GROUPS


MANY = 12
"""Options that are no longer seen at a glance."""


def options(command) -> list:
    context = command.make_context("reshardctl", [], resilient_parsing=True)
    return [each for each in command.get_params(context) if each.param_type_name == "option"]


@cache
def help_of(*words: str) -> str:
    with redirect_stdout(io.StringIO()) as shown:
        assert run([*words, "--help"]) == 0
    return shown.getvalue()


@pytest.mark.parametrize("name", ALL)
def test_every_option_has_a_group(name):
    assert {long_name(option) for option in options(ALL[name])} - set(GROUP_OF) == set()


def test_every_option_of_the_table_exists():
    assert set(GROUP_OF) == {long_name(o) for command in ALL.values() for o in options(command)}


@pytest.mark.parametrize("name", ALL)
def test_the_help_ends_with_an_example_that_the_parser_accepts(name):
    command = ALL[name]
    assert help_of(*name.split()).endswith(f"\nExample:\n  {command.example}\n")
    program, *words = shlex.split(command.example)
    assert program == "reshardctl" and words[: len(name.split())] == name.split()
    shown = COMMANDS.get(" ".join(words[:2])) or COMMANDS[words[0]]
    verb = 2 if " ".join(words[:2]) in COMMANDS else 1
    parsed = shown.make_context(words[0], words[verb:])
    assert not parsed.args


def test_the_groups_are_shown_in_one_order_with_their_options():
    shown = help_of("fix")
    titles = [line[:-1] for line in shown.splitlines() if line[:1] != " " and line[-1:] == ":"]
    assert titles == ["Arguments", "Most used", *Group, "Locators", "Example"]
    consent = shown.partition("\nConsent:\n")[2].partition("\nSafety:\n")[0]
    assert "--yes" in consent and "--live" not in consent


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_with_many_options_begins_with_the_five_that_matter(name):
    text = re.sub(r"\A(?s:.*?)\n(?=\w[\w ]+:\n)|\nExample:(?s:.*)", "", help_of(*name.split()))
    shown = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE)
    known = {long_name(option) for option in options(ALL[name]) if not option.hidden}
    assert len(shown) == len(known) and set(shown) == known, "each once"
    assert (name in MOST_USED) == (len(known) > MANY)
    most = [f"--{each}" for each in MOST_USED.get(name, ())]
    assert shown[: len(most)] == most


@pytest.mark.parametrize("name", GROUPS)
def test_summaries_are_complete(name):
    shown = " ".join(help_of(*name.split()).split())
    assert "..." not in shown.replace("[ARGS]...", "")
    assert len(GROUPS[name].commands) > 2
    for command in GROUPS[name].commands.values():
        assert " ".join(command.help.split("\n\n")[0].split()) in shown


def test_a_missing_table_is_in_both_tables_of_exit_codes():
    page = (Path(__file__).parents[2] / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| {int(NoStore.exit)} |"))
    assert "table" in row and "does not exist" in row and NoStore.id in row
    epilog = " ".join(help_of().split())
    assert f"; {int(NoStore.exit)} usage, no such table," in epilog


@pytest.mark.parametrize("name", ALL)
def test_the_usage_line_names_arguments_as_the_help_does(name):
    command = ALL[name]
    usage = command.get_usage(command.make_context(name, [], resilient_parsing=True))
    assert not set("{}") & set(usage) and "[[" not in usage
