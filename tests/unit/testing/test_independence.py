"""The fake is an oracle: it must not share code, and so mistakes, with what it judges."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import reshardctl

ROOT = Path(reshardctl.__file__).parent.parent


def test_the_fake_reaches_nothing_else_of_the_package() -> None:
    reached = reachable("reshardctl.testing.__main__")
    assert {"reshardctl.testing.fake", "reshardctl.testing.reading"} <= reached
    foreign = {name for name in reached if not name.startswith("reshardctl.testing")}
    assert foreign <= {"reshardctl"}


def test_the_package_itself_imports_nothing_of_ours() -> None:
    """Its use cases are loaded when they are first named (tests/whole/demo/test_python_page.py)."""
    assert set(imports(ROOT / "reshardctl" / "__init__.py")) == {
        "importlib", "importlib.import_module"
    }


def reachable(start: str) -> set[str]:
    """All modules of ours that `start` imports, lazily or not, directly or not."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in reached or (file := source(name)) is None:
            continue
        reached.add(name)
        waiting += imports(file)
        waiting.append(name.rpartition(".")[0])
    return reached


def source(name: str) -> Path | None:
    """The file of a module of ours; None for a name in a module or a foreign module."""
    path = ROOT.joinpath(*name.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if name.startswith("reshardctl") and file.is_file():
            return file
    return None


def imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            assert node.level == 0, "relative imports hide where they lead"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
