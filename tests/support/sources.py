"""The package's source files, each read and parsed once in a test process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import reshardctl

PACKAGE = Path(reshardctl.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))


def where(path: Path) -> str:
    """A file's path in the package."""
    return path.relative_to(PACKAGE).as_posix()


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All that a file says, the module first and the rest in no order."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
