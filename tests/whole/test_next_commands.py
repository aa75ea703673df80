"""Errors say what to do next, but for what the operator ended, and the defects of this tool."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import reshardctl
from reshardctl import errors

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
