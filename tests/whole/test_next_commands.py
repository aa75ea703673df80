"""Errors say what to do next, but for what the operator ended, and the defects of this tool."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import reshardctl
from reshardctl import errors
from reshardctl.codec.strict import JsonPath
from reshardctl.config.reading import load
from reshardctl.errors import UsageError

ROOT = Path(reshardctl.__file__).parent
ONE_LINE = ROOT / "console" / "failures.py"
"""What is wrong with stdout is said in one line."""
FILES = sorted({p for p in ROOT.rglob("*.py") if "demo" not in p.parts} - {ONE_LINE})
ENDED = {"Cancelled", "NotConfirmed"}
"""The operator said no, or pressed Ctrl-C."""
DEFECT = {"ReshardError"}
ERRORS = {name for name, kind in vars(errors).items() if isinstance(kind, type)} | {"Denied"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_error_has_a_next_step(path: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    mute = [
        f"line {call.lineno}" for call in calls
        if isinstance(call.func, ast.Name) and call.func.id in ERRORS - ENDED - DEFECT
        and len(call.args) < 2 and not any(keyword.arg == "next" for keyword in call.keywords)
    ]
    assert mute == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_file_that_is_read_strictly_has_a_next_step(path: Path) -> None:
    """`JsonPath.wrong` takes it from the path where it is not given one of its own."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    mute = [
        f"line {call.lineno}" for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "JsonPath"
        and len(call.args) < 4 and not any(keyword.arg == "next" for keyword in call.keywords)
    ]
    assert mute == []


def test_a_place_in_a_file_leads_on_as_the_file_does() -> None:
    with pytest.raises(UsageError) as caught:
        (JsonPath("a.plan", next="make a new one") / "steps" / 0).wrong("not an object")
    assert (caught.value.what, caught.value.next) == ("a.plan: steps[0]: not an object",
                                                      "make a new one")


@pytest.mark.parametrize("text", [
    "[consumers.'a b']\nstream = 's'", "streams = 1", "[streams.s]\ncreated = 1\nstream = ''",
    "[consumers.a]\nlocator = 'kcl://a'", "suppress = 1",
    "[streams.s]\nstream = 3", "not TOML",
])
def test_every_error_of_the_configuration_has_a_next_step(tmp_path: Path, text: str) -> None:
    path = tmp_path / "reshardctl.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError) as caught:
        load(path, lambda *_: None)
    assert caught.value.next
