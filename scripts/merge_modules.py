"""Moves and merges modules of the package, and rewrites everybody who imports them.

    python -m scripts.merge_modules scripts/merge_modules.json reshardctl/model/ ...
    python -m scripts.merge_modules --check scripts/merge_modules.json reshardctl/

MAP holds, in JSON, target file → the files that it is made of, in their order; an empty list makes
a door that has a docstring only. Only targets below one of the prefixes are made. Bodies are kept
to the letter, in an order in which each stands below what it needs when it is loaded; their
top-level imports become one block. `TABLE` beside this file holds what a script cannot know:
docstrings of merged files, names of theirs that would clash, and names that are no imports.

What it does not decide, it says and stops at: a clash of names, a use of a module as a value.
`--check` writes nothing: it tells what a run would stop at, and how long each new file would be.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).with_suffix(".toml")
PYTHON = ("reshardctl", "tests", "scripts")
TEXTS = ("docs", "README.md", "CONTRIBUTING.md", "pyproject.toml", "deploy", ".ci")
WORD = re.compile(r"(?<![\w./])\w[\w./]*")
"""A dotted name or a path."""
BINDERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def git(*words: str) -> str:
    """What git answers, run where the package is."""
    command = ["git", *words]
    return subprocess.run(  # noqa: S603 - our own words, of this repository
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def module_of(path: str) -> str:
    """The dotted name of a file of Python."""
    parts = path.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@dataclass
class Edit:
    """Text from one place to another, in a file, is replaced."""

    start: int
    end: int
    text: str


@dataclass
class File:
    """A file of Python and what is changed in it."""

    path: str
    text: str = ""
    edits: list[Edit] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.text = (ROOT / self.path).read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.nodes = list(ast.walk(self.tree))
        self.lines = [0]
        for line in self.text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line.encode()))
        self.bytes = self.text.encode()

    @property
    def module(self) -> str:
        return module_of(self.path)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Offsets in bytes of a node."""
        start = self.lines[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        return start, self.lines[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def replace(self, node: ast.AST, text: str) -> None:
        self.edits.append(Edit(*self.span(node), text))

    def drop(self, node: ast.stmt) -> None:
        """A statement with its lines; the only one of a block becomes `pass`."""
        start, end = self.span(node)
        line_end = self.bytes.find(b"\n", end) + 1 or len(self.bytes)
        if node.col_offset and _alone(self.tree, node):
            self.edits.append(Edit(start, end, "pass"))
        else:
            self.edits.append(Edit(self.lines[node.lineno - 1], line_end, ""))

    def edited(self) -> str:
        out, at = [], 0
        for edit in sorted(self.edits, key=lambda e: (e.start, e.end)):
            assert edit.start >= at, (self.path, self.bytes[edit.start:edit.end])
            out += [self.bytes[at:edit.start], edit.text.encode()]
            at = edit.end
        return b"".join([*out, self.bytes[at:]]).decode()


def _alone(tree: ast.AST, node: ast.stmt) -> bool:
    for parent in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and node in block:
                return len(block) == 1
    return False


def bound(node: ast.AST, freed: Collection[str] = ()) -> set[str]:
    """The names that a function's own scope binds, without imports of `freed` ones."""
    names: set[str] = set()
    arguments = getattr(node, "args", None)
    if isinstance(arguments, ast.arguments):
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [a for a in (arguments.vararg, arguments.kwarg) if a]
        names |= {a.arg for a in every}
    shared: set[str] = set()

    def visit(inner: ast.AST) -> None:
        if isinstance(inner, BINDERS):
            names.add(inner.name)
            return
        if isinstance(inner, ast.Lambda):
            return
        if isinstance(inner, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            for child in ast.walk(inner):
                if isinstance(child, ast.NamedExpr) and isinstance(child.target, ast.Name):
                    names.add(child.target.id)
            return
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, (ast.Store, ast.Del)):
            names.add(inner.id)
        elif isinstance(inner, (ast.Import, ast.ImportFrom)):
            local = {a.asname or a.name.partition(".")[0] for a in inner.names}
            names.update(local.difference(freed))
        elif isinstance(inner, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and inner.name:
            names.add(inner.name)
        elif isinstance(inner, (ast.Global, ast.Nonlocal)):
            shared.update(inner.names)
        for child in ast.iter_child_nodes(inner):
            visit(child)

    if isinstance(node, ast.Lambda):
        visit(node.body)
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        for generator in node.generators:
            visit(generator.target)
    else:
        for statement in node.body:  # type: ignore[attr-defined]
            visit(statement)
    return names - shared


SCOPES = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp,
)


def global_names(
    tree: ast.AST, freed: Collection[str] = ()
) -> Iterator[tuple[ast.Name, list[set[str]]]]:
    """Every use of a name that no function around it binds, with what these bind.

    freed: names whose imports go, so that a function that imports one does not bind it.
    """

    def visit(node: ast.AST, scopes: list[set[str]]) -> Iterator[tuple[ast.Name, list[set[str]]]]:
        if isinstance(node, ast.Name):
            if not any(node.id in scope for scope in scopes):
                yield node, scopes
            return
        inner = [*scopes, bound(node, freed)] if isinstance(node, SCOPES) else scopes
        outside: list[ast.AST] = []
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = node.args
            outside = [*node.decorator_list, *given.defaults, *filter(None, given.kw_defaults)]
            every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
            every += [a for a in (given.vararg, given.kwarg) if a]
            outside += [a.annotation for a in every if a.annotation]
            outside += [node.returns] if node.returns else []
            for child in outside:
                yield from visit(child, scopes)
            for statement in node.body:
                yield from visit(statement, inner)
            return
        for child in ast.iter_child_nodes(node):
            yield from visit(child, inner)

    yield from visit(tree, [])


def top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements of a module, also those below `if TYPE_CHECKING`."""
    for node in tree.body:
        yield node
        if _is_typing(node):
            yield from node.body  # type: ignore[attr-defined]


def _is_typing(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.If) and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def defined(tree: ast.Module) -> list[str]:
    """The names that a module defines itself, in its order."""
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, BINDERS):
            names.append(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.With)):
            names += [
                n.id for n in ast.walk(node)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            ] if not isinstance(node, ast.AnnAssign) else (
                [node.target.id] if isinstance(node.target, ast.Name) else []
            )
        elif (isinstance(node, ast.If) and not _is_typing(node)) or isinstance(node, ast.Try):
            names += defined(ast.Module(node.body + node.orelse, []))
    return [n for n in dict.fromkeys(names) if n not in ("_", "__all__")]


class Merge:
    """One run: the moves, and every file that they touch."""

    def __init__(self, targets: Mapping[str, Sequence[str]], table: Mapping[str, object]) -> None:
        self.targets = {t: list(s) for t, s in targets.items() if s and list(s) != [t]}
        self.doors = [t for t, s in targets.items() if not s and not (ROOT / t).exists()]
        self.docs: Mapping[str, str] = table.get("docstrings", {})  # type: ignore[assignment]
        every: Sequence[Mapping[str, str]] = table.get("texts", ())  # type: ignore[assignment]
        self.texts = [t for t in every if any(made.startswith(t["with"]) for made in self.targets)]
        """Replacements of one text in a file, made with the targets below a folder."""
        self.home = {module_of(s): module_of(t) for t, ss in self.targets.items() for s in ss}
        self.renames: dict[str, dict[str, str]] = {}
        for dotted, new in table.get("renames", {}).items():  # type: ignore[attr-defined]
            module, _, name = dotted.rpartition(".")
            if module in self.home:  # not where it has become a part of another one already
                self.renames.setdefault(module, {})[name] = new
        self.problems: list[str] = []
        self.added: dict[str, dict[str, str]] = {}
        """New module → names that it imports in place of a module, each with that module."""
        listed = git("ls-files", *PYTHON).split()
        self.files = {p: File(p) for p in listed if p.endswith((".py", ".pyi"))}
        self.by_module = {f.module: f for f in self.files.values() if f.path.endswith(".py")}

    def renamed(self, module: str, name: str) -> str:
        return self.renames.get(module, {}).get(name, name)

    def group(self, file: File) -> str | None:
        return self.home.get(file.module)

    def prepared(self) -> dict[str, str]:
        """The new files, of which nothing is written yet; stops at what it cannot decide."""
        for target, sources in self.targets.items():
            self.find_clashes(target, [self.files[s] for s in sources])
        for file in self.files.values():
            self.rewrite(file)
        merged = {}
        for target, sources in self.targets.items():
            merged[target] = self.merged(target, [self.files[s] for s in sources])
        self.problems += [f"{t}: a door has no docstring" for t in self.doors if t not in self.docs]
        return merged

    def run(self) -> None:
        merged = self.prepared()
        if self.problems:
            raise SystemExit("\n".join(self.problems))
        gone = {s for ss in self.targets.values() for s in ss}
        for file in self.files.values():
            if file.path not in gone and file.edits:
                (ROOT / file.path).write_text(file.edited(), encoding="utf-8")
        for target, sources in self.targets.items():
            first = target
            if target not in sources:
                first = max(sources, key=lambda s: len(self.files[s].text))
            if target not in sources:
                (ROOT / target).parent.mkdir(parents=True, exist_ok=True)
                git("mv", first, target)
            for source in sources:
                if source not in (first, target):
                    git("rm", "-qf", source)
            (ROOT / target).write_text(merged[target], encoding="utf-8")
        for door in self.doors:
            (ROOT / door).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / door).write_text(f'"""{self.docs[door]}"""\n', encoding="utf-8")
            git("add", door)
        self.rewrite_texts()
        for change in self.texts:
            path, old = ROOT / change["file"], change["old"]
            text = path.read_text(encoding="utf-8")
            if old not in text:
                print(f"not found in {change['file']}: {old}", file=sys.stderr)
            path.write_text(text.replace(old, change["new"]), encoding="utf-8")

    # -- names ---------------------------------------------------------------------------------

    def find_clashes(self, target: str, files: Sequence[File]) -> None:
        """Names that two files of one target give to different things."""
        seen: dict[str, tuple[str, str]] = {}
        for file in files:
            for name in defined(file.tree):
                new = self.renamed(file.module, name)
                self._meet(target, seen, new, (file.module, name), file)
        for file in files:
            for name, origin in self.imported(file, target):
                self._meet(target, seen, name, origin, file)

    def _meet(
        self, target: str, seen: dict[str, tuple[str, str]], name: str, origin: tuple[str, str],
        file: File,
    ) -> None:
        origin = self.real(*origin)
        if seen.setdefault(name, origin) != origin:
            one, other = ".".join(seen[name]), ".".join(origin)
            self.problems.append(f"{target}: {name} is {one} and, in {file.path}, {other}")

    def imported(self, file: File, target: str) -> Iterator[tuple[str, tuple[str, str]]]:
        """Names that a file imports from outside of its new file, with where they are from."""
        for node in top_level(file.tree):
            if isinstance(node, ast.ImportFrom) and node.module != "__future__":
                for alias in node.names:
                    origin = self.origin(node.module or "", alias.name)
                    if self.home.get(self.real(*origin)[0]) == module_of(target):
                        continue
                    local = alias.asname or (self.renamed(*origin) if origin[1] else alias.name)
                    yield self.renamed(file.module, local), origin
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias.asname or alias.name.partition(".")[0], (alias.name, "")

    def origin(self, module: str, name: str) -> tuple[str, str]:
        """Where an imported name is defined: (module, name), or (module, "") for a module."""
        whole = f"{module}.{name}"
        return (whole, "") if whole in self.by_module else (module, name)

    def real(self, module: str, name: str) -> tuple[str, str]:
        """The same through doors, which hand on what they import."""
        door = self.by_module.get(module)
        if not name or door is None or name in defined(door.tree):
            return module, name
        for node in door.tree.body:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return self.real(*self.origin(node.module or "", alias.name))
        return module, name

    # -- importers ------------------------------------------------------------------------------

    def rewrite(self, file: File) -> None:
        """Imports of moved modules, and the uses of what they bound."""
        own = self.group(file)
        swaps: dict[str, str] = {}
        modules: dict[str, str] = {}
        stay: dict[str, str] = {}
        for name, new in self.renames.get(file.module, {}).items():
            swaps[name] = new
        for node in file.nodes:
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self._from(file, node, own, (swaps, modules, stay))
            elif isinstance(node, ast.Import):
                self._plain(file, node, stay)
        self._swap(file, swaps, modules)
        self._of_modules(file, stay)
        self._strings(file, swaps)

    def _from(
        self, file: File, node: ast.ImportFrom, own: str | None,
        local_names: tuple[dict[str, str], dict[str, str], dict[str, str]],
    ) -> None:
        swaps, modules, stay = local_names
        kept, moved = [], []
        changed = False
        for alias in node.names:
            module, name = self.origin(node.module or "", alias.name)
            through = self.real(module, name)
            if own and self.home.get(through[0]) == own and node in file.tree.body:
                module, name = through
            home = self.home.get(module)
            local = self.renamed(file.module, alias.asname or alias.name)
            if home is None:
                kept.append(_spelled(alias.name, local))
                changed = changed or local != (alias.asname or alias.name)
                continue
            changed = True
            if name:
                new = self.renamed(module, name)
                if local == name and node in file.tree.body:
                    local = new
                if (old := alias.asname or alias.name) != local:
                    swaps[old] = local
                if home == own:
                    if local != new:
                        swaps[local] = new
                elif new == local and alias.asname != alias.name:
                    moved.append(f"from {home} import {new}")
                elif new == local:  # a stub hands it on
                    moved.append(f"from {home} import {new} as {new}")
                else:
                    moved.append(f"from {home} import {_spelled(new, local)}")
            elif home == own:
                modules[local] = module
            elif file.path.startswith("reshardctl/") and self._by_names(file, local, module):
                names = self._by_names(file, local, module) or {}
                moved += [f"from {home} import {new}" for new in dict.fromkeys(names.values())]
                modules[local] = module
            else:
                package, _, stem = home.rpartition(".")
                moved.append(f"from {package} import {_spelled(stem, local)}")
                stay[local] = module
        if not changed:
            return
        indent = " " * node.col_offset
        lines = list(dict.fromkeys(moved))
        if kept:
            lines.insert(0, f"from {node.module} import {', '.join(kept)}")
        if not lines:
            file.drop(node)
            return
        file.replace(node, f"\n{indent}".join(_wrapped(line, indent) for line in lines))

    def _by_names(self, file: File, local: str, module: str) -> dict[str, str] | None:
        """Attributes of a module that a file uses → their names; `None` if that is not all."""
        uses: dict[str, str] = {}
        attributes = {
            id(node.value): node.attr for node in file.nodes
            if isinstance(node, ast.Attribute)
        }
        taken = self.taken(file)
        added = self.added.setdefault(self.group(file) or file.module, {})
        for node, scopes in global_names(file.tree, {local}):
            if node.id != local:
                continue
            attribute = attributes.get(id(node))
            if attribute is None or not isinstance(node.ctx, ast.Load):
                return None
            new = self.renamed(module, attribute)
            if new in taken or any(new in scope for scope in scopes):
                return None
            if added.setdefault(new, module) != module:
                return None
            uses[attribute] = new
        return uses

    def taken(self, file: File) -> set[str]:
        """The names of the new file that a file becomes, or becomes a part of."""
        home = self.group(file)
        target = next((t for t in self.targets if module_of(t) == home), None)
        parts = [self.files[s] for s in self.targets[target]] if target else [file]
        names: set[str] = set()
        for part in parts:
            names.update(self.renamed(part.module, name) for name in defined(part.tree))
            names.update(name for name, _ in self.imported(part, target or file.path))
        return names

    def _plain(self, file: File, node: ast.Import, stay: dict[str, str]) -> None:
        for alias in node.names:
            home = self.home.get(alias.name)
            if home is None:
                continue
            if alias.asname is None or len(node.names) > 1:
                self.problems.append(f"{file.path}:{node.lineno}: import {alias.name}")
                continue
            file.replace(node, f"import {home} as {alias.asname}")
            stay[alias.asname] = alias.name

    def _swap(self, file: File, swaps: dict[str, str], modules: dict[str, str]) -> None:
        """Names and attributes in the body."""
        if not swaps and not modules:
            return
        attributes = {
            id(node.value): node for node in file.nodes if isinstance(node, ast.Attribute)
        }
        for node, scopes in global_names(file.tree, {*swaps, *modules}):
            if node.id in modules:
                attribute = attributes.get(id(node))
                if attribute is None:
                    self.problems.append(f"{file.path}:{node.lineno}: {node.id} as a value")
                    continue
                new = self.renamed(modules[node.id], attribute.attr)
                if any(new in scope for scope in scopes):
                    self.problems.append(f"{file.path}:{node.lineno}: {new} is bound there")
                file.replace(attribute, new)
            elif node.id in swaps:
                new = swaps[node.id]
                if any(new in scope for scope in scopes):
                    self.problems.append(f"{file.path}:{node.lineno}: {new} is bound there")
                file.replace(node, new)
        for statement in file.tree.body:
            if isinstance(statement, BINDERS) and statement.name in swaps:
                self._rename_head(file, statement, swaps[statement.name])

    def _rename_head(self, file: File, node: ast.stmt, new: str) -> None:
        name = node.name  # type: ignore[attr-defined]
        start = file.lines[node.lineno - 1] + node.col_offset
        at = file.bytes.index(name.encode(), start)
        file.edits.append(Edit(at, at + len(name), new))

    def _of_modules(self, file: File, stay: Mapping[str, str]) -> None:
        """`module.name` and `setattr(module, "name", …)`, where the name is another one now."""
        for node in file.nodes if stay else ():
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                new = self.renamed(stay.get(node.value.id, ""), node.attr)
                if new != node.attr:
                    end = file.span(node)[1]
                    file.edits.append(Edit(end - len(node.attr.encode()), end, new))
            elif isinstance(node, ast.Call) and len(node.args) > 1:
                of, named = node.args[:2]
                if isinstance(of, ast.Name) and isinstance(named, ast.Constant):
                    new = self.renamed(stay.get(of.id, ""), str(named.value))
                    if new != str(named.value):
                        file.replace(named, f'"{new}"')

    def _strings(self, file: File, swaps: dict[str, str]) -> None:
        """Dotted names of modules in strings, and names in `cast("Name", …)`."""
        for node in file.nodes:
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            start, end = file.span(node)
            source = file.bytes[start:end].decode()
            new = self.in_text(source)
            if node.value in swaps and re.fullmatch(r"""["']\w+["']""", source):
                new = new.replace(node.value, swaps[node.value])
            if new != source and not any(e.start <= start < e.end for e in file.edits):
                file.edits.append(Edit(start, end, new))

    def in_text(self, text: str) -> str:
        """A text in which moved modules have their new names, dotted and as paths."""
        if "reshardctl" not in text and ".py" not in text:
            return text
        return WORD.sub(lambda found: self.moved(found[0]), text)

    def moved(self, word: str) -> str:
        """A dotted name or a path, of which a part up to some dot may have moved."""
        end = len(word)
        while end > 0:
            if (new := self.pairs.get(word[:end])) is not None:
                return new + word[end:]
            end = word.rfind(".", 0, end)
        return word

    @cached_property
    def pairs(self) -> dict[str, str]:
        """Old → new, in each spelling: dotted, and as a path with and without the package."""
        pairs: dict[str, str] = {}
        for target, sources in self.targets.items():
            for source in sources:
                old, new = module_of(source), module_of(target)
                for name, other in self.renames.get(old, {}).items():
                    pairs[f"{old}.{name}"] = f"{new}.{other}"
                if source != target:
                    pairs[old] = new
                    pairs[source] = target
                    pairs[source.removeprefix("reshardctl/")] = target.removeprefix("reshardctl/")
        return pairs

    # -- merged files ---------------------------------------------------------------------------

    def ordered(self, target: str, files: Sequence[File]) -> list[File]:
        """Each file below those of the same target that it needs when it is loaded."""
        needs = {
            file.module: {
                origin[0]
                for node in file.tree.body if isinstance(node, ast.ImportFrom)
                for origin in [self.origin(node.module or "", a.name) for a in node.names]
                if self.home.get(origin[0]) == module_of(target) and origin[0] != file.module
            }
            for file in files
        }
        out: list[File] = []
        left = list(files)
        while left:
            done = {f.module for f in out}
            ready = next((f for f in left if needs[f.module] <= done), None)
            if ready is None:
                self.problems.append(f"{target}: a circle of {[f.path for f in left]}")
                raise SystemExit("\n".join(self.problems))
            out.append(ready)
            left.remove(ready)
        return out

    def merged(self, target: str, files: Sequence[File]) -> str:
        imports: list[str] = []
        typing: list[str] = []
        bodies: list[str] = []
        exported: list[str] = []
        first_doc = ""
        for file in self.ordered(target, files):
            text = file.edited()
            tree = ast.parse(text)
            lines = text.splitlines(keepends=True)
            taken: set[int] = set()
            for node in tree.body:
                span = range(node.lineno - 1, node.end_lineno or node.lineno)
                source = "".join(lines[i] for i in span)
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    if getattr(node, "module", "") != "__future__":
                        imports.append(source)
                    taken.update(span)
                elif _is_typing(node):
                    typing += [
                        "".join(lines[i] for i in range(n.lineno - 1, n.end_lineno or n.lineno))
                        for n in node.body  # type: ignore[attr-defined]
                        if not isinstance(n, ast.Pass)
                    ]
                    taken.update(span)
                elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                    exported += ast.literal_eval(node.value)
                    taken.update(span)
                elif node is tree.body[0] and isinstance(node, ast.Expr) and _text(node.value):
                    first_doc = first_doc or source
                    taken.update(span)
            body = "".join(line for i, line in enumerate(lines) if i not in taken).strip("\n")
            if body.strip():
                bodies.append(body)
        if target not in self.docs and len(files) > 1:
            print(f"no docstring is given for {target}", file=sys.stderr)
        doc = self.docs.get(target)
        head = [f'"""{self.in_text(doc)}"""\n' if doc else first_doc]
        head.append("from __future__ import annotations\n")
        head.append("".join(imports))
        if typing:
            loaded = _imported("".join(imports))
            typing = [line for line in typing if not _imported(dedent(line)) <= loaded]
        if typing:
            head.append("if TYPE_CHECKING:\n" + "".join(typing))
        if exported:
            names = "".join(f'    "{name}",\n' for name in sorted(set(exported)))
            head.append(f"__all__ = [\n{names}]\n")
        text = "\n".join(filter(None, head)) + "\n\n" + "\n\n\n".join(bodies) + "\n"
        self.problems += [f"{target}: {problem}" for problem in self.twice(ast.parse(text))]
        return text

    def twice(self, tree: ast.Module) -> Iterator[str]:
        """Names that a new file would import from two places, or import and define."""
        seen: dict[str, object] = dict.fromkeys(defined(tree), "here")
        for node in top_level(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    local = alias.asname or alias.name.partition(".")[0]
                    place = self.real(getattr(node, "module", None) or "", alias.name)
                    if seen.setdefault(local, place) != place:
                        yield f"{local} is {seen[local]} and {place}"

    def rewrite_texts(self) -> None:
        """Paths and dotted names in pages and settings."""
        for path in git("ls-files", *TEXTS).split():
            try:
                text = (ROOT / path).read_text(encoding="utf-8")
            except (UnicodeDecodeError, FileNotFoundError):
                continue
            if (new := self.in_text(text)) != text:
                (ROOT / path).write_text(new, encoding="utf-8")


def _imported(source: str) -> set[tuple[str | None, str, str | None]]:
    """What lines of imports import: module, name, and its name here."""
    return {
        (getattr(node, "module", None), alias.name, alias.asname)
        for node in ast.parse(source).body if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _spelled(name: str, local: str | None) -> str:
    return name if local in (None, name) else f"{name} as {local}"


def _wrapped(line: str, indent: str) -> str:
    if len(indent + line) <= 100:
        return line
    head, _, names = line.partition(" import ")
    listed = f",\n{indent}    ".join(names.split(", "))
    return f"{head} import (\n{indent}    {listed},\n{indent})"


def main(argv: Sequence[str]) -> None:
    check = argv[0] == "--check"
    argv = argv[check:]
    wanted = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    table = tomllib.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    prefixes = tuple(argv[1:])
    targets = {
        t: s for t, s in wanted.items()
        if t.startswith(prefixes) and t.endswith(".py") and (s or t.endswith("/__init__.py"))
    }
    merge = Merge(targets, table)
    if not check:
        merge.run()
        return
    for target, text in merge.prepared().items():
        print(f"{text.count(chr(10)):4} {target}")
    print("\n".join(merge.problems))


if __name__ == "__main__":
    main(sys.argv[1:])
