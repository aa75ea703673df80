"""Errors of stores and of Spark's checkpoints say what to do next."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import reshardctl
from reshardctl import errors

ROOT = Path(reshardctl.__file__).parent
FILES = sorted(p for room in ("stores", "consumers/spark") for p in (ROOT / room).rglob("*.py"))
ERRORS = {name for name, kind in vars(errors).items() if isinstance(kind, type)} | {"Denied"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_error_has_a_next_step(path: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    mute = [
        f"line {call.lineno}" for call in calls
        if isinstance(call.func, ast.Name) and call.func.id in ERRORS
        and len(call.args) < 2 and not any(keyword.arg == "next" for keyword in call.keywords)
    ]
    assert mute == []
