"""Moves modules of the package to other rooms, and rewrites every import and every mention of them.

    python scripts/move_modules.py MAP.json

MAP.json: old path → new path, both below reshardctl/; what is not named stays. Imports are changed
through the syntax tree, module names inside strings and texts by the longest one that fits, paths
by their whole names. Run `ruff check --fix` afterwards: it sorts and folds the imports.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "reshardctl"
TEXTS = (".py", ".md", ".toml", ".sh", ".yml", "")
ROOMS = {
    "aws": "What every AWS call has in common: sessions, error codes, pauses, broken answers.",
    "codec": "Values to JSON and back, strictly.",
    "commands": "One module for each use case, called by the command line.",
    "commands/targets": "Consumers by locator, by name in the configuration, or in a snapshot.",
    "console": "The terminal, and the files that a command writes.",
    "consumers": "What each library stores, and what it does at its next start.",
    "diagnosis": "What is wrong, by which rule, and what a report says of it.",
    "execution": "A proven plan into a store, and back.",
    "planning": "Positions to a proven plan, or the reason why there is none.",
}


def module_of(path: str) -> str:
    return f"{PACKAGE}/{path}".removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def ours(module: str) -> bool:
    return module.split(".")[0] == PACKAGE


def files() -> Iterator[Path]:
    names = git("ls-files").split("\n")
    yield from (Path(name) for name in names if name and Path(name).suffix in TEXTS)


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], check=True, capture_output=True, text=True)  # noqa: S603, S607
    return done.stdout


class Moves:
    """Where each module goes, by its dotted name."""

    def __init__(self, paths: dict[str, str]) -> None:
        self.paths = paths
        self.modules = {module_of(old): module_of(new) for old, new in paths.items()}
        self.packages = {module_of(old) for old in paths if old.endswith("__init__.py")}

    def imported(self, module: str, name: str) -> tuple[str, str] | None:
        """Where `from module import name` finds it now: a module, and its name there."""
        if (whole := f"{module}.{name}") in self.modules:
            package, _, base = self.modules[whole].rpartition(".")
            return package, base
        return (self.modules[module], name) if module in self.modules else None

    def named(self, dotted: str) -> str:
        """A dotted name in a text: its longest part that is a module is replaced."""
        parts = dotted.split(".")
        for n in range(len(parts), 1, -1):
            module = ".".join(parts[:n])
            if module == f"{PACKAGE}.consumers":
                return dotted  # a package as before, whose contents are elsewhere
            if module in self.modules:
                return ".".join([self.modules[module], *parts[n:]])
        return dotted

    def path(self, text: str) -> str:
        """A path in a text, of a file or of a folder that moved as a whole."""
        inner = text.removeprefix(f"{PACKAGE}/")
        if inner in self.paths:
            return f"{PACKAGE}/{self.paths[inner]}"
        folder = inner.rstrip("/")
        found = self.paths.get(f"{folder}/__init__.py", "")
        if found and found.endswith("/__init__.py"):
            return f"{PACKAGE}/{found.removesuffix('/__init__.py')}{inner[len(folder):]}"
        return text


def statement(node: ast.ImportFrom | ast.Import, moves: Moves, indent: str) -> list[str]:
    """The lines that import the same from where it is now."""
    lines = []
    if isinstance(node, ast.Import):
        for alias in node.names:
            new = moves.modules.get(alias.name, alias.name)
            lines.append(f"{indent}import {new}" + (f" as {alias.asname}" if alias.asname else ""))
        return lines
    for alias in node.names:
        module, name = moves.imported(node.module or "", alias.name) or (node.module, alias.name)
        bound = alias.asname or alias.name
        renamed = f" as {bound}" if bound != name or alias.asname else ""
        lines.append(f"{indent}from {module} import {name}{renamed}")
    return lines


def folded(lines: list[str], indent: str) -> list[str]:
    """Names of one module in one statement."""
    by: dict[str, list[str]] = {}
    for line in lines:
        head, _, name = line.strip().partition(" import ")
        by.setdefault(head, []).append(name)
    if not all(head.startswith("from ") for head in by):
        return lines
    out = []
    for head, names in by.items():
        flat = f"{indent}{head} import {', '.join(names)}"
        out += [flat] if len(flat) <= 100 else [
            f"{indent}{head} import (", *(f"{indent}    {name}," for name in names), f"{indent})",
        ]
    return out


def rewritten(source: str, moves: Moves) -> str:
    """A Python file with its imports where the modules are now."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return in_text(source, moves)
    lines = source.split("\n")
    nodes: list[ast.ImportFrom | ast.Import] = [
        node for node in ast.walk(tree)
        if (isinstance(node, ast.ImportFrom) and ours(node.module or ""))
        or (isinstance(node, ast.Import) and any(ours(alias.name) for alias in node.names))
    ]
    inside = {at for node in nodes for at in range(node.lineno - 1, node.end_lineno or node.lineno)}
    lines = [line if at in inside else in_text(line, moves) for at, line in enumerate(lines)]
    for node in sorted(nodes, key=lambda node: -node.lineno):
        if not _differs(node, moves):
            continue
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        before, after = lines[first][: node.col_offset], lines[last - 1][node.end_col_offset :]
        indent = before if not before.strip() else ""
        new = folded(statement(node, moves, indent), indent)
        if before.strip():  # behind a semicolon
            new = [before + "; ".join(line.strip() for line in new)]
        new[-1] += after
        lines[first:last] = new
    return "\n".join(lines)


def _differs(node: ast.ImportFrom | ast.Import, moves: Moves) -> bool:
    if isinstance(node, ast.Import):
        return any(moves.modules.get(a.name, a.name) != a.name for a in node.names)
    return any(
        moves.imported(node.module or "", a.name) not in (None, (node.module, a.name))
        for a in node.names
    )


STATED = re.compile(rf"from ({PACKAGE}(?:\.\w+)*) import (\w+)(?!\w|,)")
DOTTED = re.compile(rf"(?<![\w./-]){PACKAGE}(?:\.\w+)+")
PATH = re.compile(rf"(?<![\w.-]){PACKAGE}/[\w/]+(?:\.py)?/?")


def in_text(text: str, moves: Moves) -> str:
    """A text with the names and the paths of today; code in strings has imports of its own."""
    done: list[str] = []

    def keep(new: str) -> str:
        done.append(new)
        return f"\0{len(done) - 1}\0"

    def stated(found: re.Match[str]) -> str:
        module, name = moves.imported(found[1], found[2]) or (found[1], found[2])
        renamed = f" as {found[2]}" if name != found[2] else ""
        return keep(f"from {module} import {name}{renamed}")

    text = STATED.sub(stated, text)
    text = DOTTED.sub(lambda found: keep(moves.named(found[0])), text)
    text = PATH.sub(lambda found: moves.path(found[0]), text)
    return re.sub("\0(\\d+)\0", lambda found: done[int(found[1])], text)


def main(where: str) -> None:
    """Move, then rewrite."""
    moves = Moves(json.loads(Path(where).read_text(encoding="utf-8")))
    for old, new in moves.paths.items():
        target = Path(PACKAGE, new)
        if old != new:
            target.parent.mkdir(parents=True, exist_ok=True)
            git("mv", f"{PACKAGE}/{old}", str(target))
    for room, sentence in ROOMS.items():
        init = Path(PACKAGE, room, "__init__.py")
        if not init.exists():
            init.write_text(f'"""{sentence}"""\n', encoding="utf-8")
            git("add", str(init))
    for path in files():
        if path.parts[:2] == ("scripts", "move_modules.py") or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        new = rewritten(text, moves) if path.suffix == ".py" else in_text(text, moves)
        if new != text:
            path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
