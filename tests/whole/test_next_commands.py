"""Errors say what to do next, but for what the operator ended, and the defects of this tool."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from reshardctl import errors
from reshardctl.codec.strict import JsonPath
from reshardctl.errors import UsageError
from tests.support.sources import FILES, PACKAGE, nodes, where

ONE_LINE = PACKAGE / "console" / "failures.py"
"""What is wrong with stdout is said in one line."""
ENDED = {"Cancelled", "NotConfirmed"}
"""The operator said no, or pressed Ctrl-C."""
DEFECT = {"ReshardError"}
ERRORS = {name for name, kind in vars(errors).items() if isinstance(kind, type)} | {"Denied"}


def mute(names: set[str], arguments: int) -> Iterator[str]:
    """The calls of these names with fewer arguments than that, and none called `next`."""
    for path in FILES:
        if path == ONE_LINE or "demo" in path.parts:
            continue
        for call in nodes(path):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            named = any(keyword.arg == "next" for keyword in call.keywords)
            if call.func.id in names and len(call.args) < arguments and not named:
                yield f"{where(path)}:{call.lineno}"


def test_every_error_has_a_next_step() -> None:
    assert [*mute(ERRORS - ENDED - DEFECT, 2)] == []


def test_every_file_that_is_read_strictly_has_a_next_step() -> None:
    """`JsonPath.wrong` takes it from the path where it is not given one of its own."""
    assert [*mute({"JsonPath"}, 4)] == []


def test_a_place_in_a_file_leads_on_as_the_file_does() -> None:
    with pytest.raises(UsageError) as caught:
        (JsonPath("a.plan", next="make a new one") / "steps" / 0).wrong("not an object")
    assert (caught.value.what, caught.value.next) == ("a.plan: steps[0]: not an object",
                                                      "make a new one")
