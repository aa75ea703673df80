"""Renames names of the code by what they mean, one row of a table at a time.

    python scripts/rename_names.py CACHE ROW... [--show NAME...]

A row of scripts/rename_names.toml holds rules. mypy tells what each name in the package and the
tests refers to, so that two things of one name can get two names:

    old = "reshardctl.model.cuts.Line"    a class, function, constant or module-level name
    member = "reshardctl.*.settled"       a method, field or enum member of classes that match
    local = "place", type = "*Locator*"   a parameter or variable whose type matches
    new = "Frontier"                      the name that it gets

`where` restricts a rule to files that match. A member of a value of unknown type follows the rule
where `untyped = true`. Names in backticks in comments and docstrings follow in files that change.
CACHE keeps what every name means; it is made where it is absent, and holds for the tree that it was
made of: rows are applied to that tree together, since formatting moves names. --show prints what a
name means, and how often. Run `ruff check --fix` afterwards: it sorts the imports.
Needs Python 3.12 or later (positions inside f-strings) and mypy.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from mypy import build
from mypy.modulefinder import BuildSource
from mypy.nodes import (
    CallExpr,
    FuncDef,
    MemberExpr,
    MypyFile,
    NameExpr,
    Node,
    TypeAlias,
    TypeInfo,
    Var,
)
from mypy.options import Options
from mypy.types import (
    AnyType,
    CallableType,
    FunctionLike,
    Instance,
    LiteralType,
    Overloaded,
    TupleType,
    TypeType,
    TypeVarType,
    UnionType,
    get_proper_type,
)

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "scripts" / "rename_names.toml"
SKIPPED = ("tests/interop/spark/inside/", "scripts/rename_names.py")


@dataclass(frozen=True)
class Use:
    """A name at a place. kind: global, member, local or unknown; of: the owner's or own full name,
    for a local its type."""

    line: int
    column: int
    name: str
    kind: str
    of: str


@dataclass
class Source:
    """A file, what its names mean, and its text."""

    path: str
    text: str
    tree: MypyFile
    uses: list[Use] = field(default_factory=list)


def sources() -> list[BuildSource]:
    names = subprocess.run(
        ["git", "ls-files", "reshardctl/*.py", "tests/*.py", "benchmarks/*.py"],  # noqa: S607
        check=True, capture_output=True, text=True, cwd=ROOT,
    ).stdout.split()
    made = []
    for name in names:
        if name.startswith(SKIPPED):
            continue
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        made.append(BuildSource(str(ROOT / name), module))
    return made


def checked() -> tuple[list[Source], build.BuildResult]:
    options = Options()
    options.export_types = options.preserve_asts = True
    options.check_untyped_defs = True
    options.namespace_packages = options.explicit_package_bases = True
    options.ignore_missing_imports = True
    options.incremental = False
    options.show_traceback = True
    options.mypy_path = [str(ROOT)]
    options.python_version = (3, 11)
    result = build.build(sources(), options)
    files = []
    for source in sources():
        assert source.path is not None
        tree = result.files.get(source.module)
        if tree is None:
            sys.exit(f"mypy has no tree of {source.module}: {result.errors[:5]}")
        path = str(Path(source.path).relative_to(ROOT))
        files.append(Source(path, Path(source.path).read_text(encoding="utf-8"), tree))
    return files, result


NOT_BELOW = ("node", "info", "type", "names", "analyzed", "original_def", "unanalyzed_items")
"""What of a node refers to other nodes, and does not hold them."""


def nodes(tree: MypyFile) -> Iterator[Any]:
    """Every node of a file. mypy's own visitors are compiled, and take no subclass from here."""
    waiting: list[Any] = list(tree.defs)
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, list | tuple):
            waiting.extend(node)
            continue
        if not isinstance(node, Node) or isinstance(node, TypeInfo | MypyFile | Var | TypeAlias):
            continue
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        for name in getattr(type(node), "__mypyc_attrs__", ()):
            if name not in NOT_BELOW:
                waiting.append(getattr(node, name, None))


def class_of(node: Var) -> str:
    """The full name of the class that a variable belongs to, or nothing."""
    try:
        return str(node.info.fullname)
    except AttributeError:  # mypy's stand-in for no class
        return ""


class Uses:
    """Collects what names mean. keywords: position of a call → its keywords' positions."""

    def __init__(self, source: Source, result: build.BuildResult) -> None:
        self.source = source
        self.types = result.types
        self.modules = result.files
        self.lines = source.text.splitlines()
        self.calls: dict[tuple[int, int, int | None, int | None], list[ast.keyword]] = {}
        self.python = ast.parse(source.text)
        for node in ast.walk(self.python):
            if isinstance(node, ast.Call):
                where = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
                self.calls[where] = node.keywords

    def add(self, line: int, column: int, name: str, kind: str, of: str) -> None:
        self.source.uses.append(Use(line, column, name, kind, of))

    def collect(self) -> None:
        """All uses: those that mypy has a type of, then definitions, imports, annotations."""
        for expression in nodes(self.source.tree):
            if isinstance(expression, NameExpr):
                self._named(expression)
            elif isinstance(expression, MemberExpr):
                self._member(expression)
            elif isinstance(expression, CallExpr):
                self._call(expression)
        self._rest()

    def _named(self, o: NameExpr) -> None:
        node = o.node
        full = getattr(node, "fullname", "") or ""
        if isinstance(node, Var) and "." not in full:
            self.add(o.line, o.column, o.name, "local", str(node.type or self.types.get(o)))
        elif isinstance(node, Var) and (owner := class_of(node)) and full.startswith(f"{owner}."):
            self.add(o.line, o.column, o.name, "member", full)
        elif full:
            self.add(o.line, o.column, o.name, "global", full)
        elif node is None:
            self.add(o.line, o.column, o.name, "local", str(self.types.get(o)))

    def _member(self, o: MemberExpr) -> None:
        if o.end_line is None or o.end_column is None:
            return  # made by mypy itself
        column = o.end_column - len(o.name.encode())
        if isinstance(o.expr, NameExpr | MemberExpr) and isinstance(o.expr.node, MypyFile):
            full = getattr(o.node, "fullname", "") or f"{o.expr.node.fullname}.{o.name}"
            self.add(o.end_line, column, o.name, "global", full)
            return
        owner = next(self._owners(self.types.get(o.expr), o.name, o.expr), None)
        if owner is None:
            self.add(o.end_line, column, o.name, "unknown", "")
        else:
            self.add(o.end_line, column, o.name, "member", f"{owner}.{o.name}")

    def _owners(self, kind: Any, name: str, expr: Any = None) -> Iterator[str]:
        node = getattr(expr, "node", None)
        if isinstance(node, TypeInfo):
            yield self._defining(node, name)
            return
        kind = get_proper_type(kind)
        match kind:
            case None | AnyType():
                return
            case UnionType():
                for item in kind.items:
                    yield from self._owners(item, name)
            case Instance():
                yield self._defining(kind.type, name)
            case LiteralType():
                yield from self._owners(kind.fallback, name)
            case TupleType():
                yield from self._owners(kind.partial_fallback, name)
            case TypeVarType():
                yield from self._owners(kind.upper_bound, name)
            case TypeType():
                yield from self._owners(kind.item, name)
            case CallableType() | Overloaded() if kind.is_type_obj():
                yield self._defining(kind.type_object(), name)
            case _:
                return

    def _defining(self, info: TypeInfo, name: str) -> str:
        for base in info.mro:
            if name in base.names:
                return base.fullname
        return info.fullname

    def _call(self, o: CallExpr) -> None:
        keywords = self.calls.get((o.line, o.column, o.end_line, o.end_column), [])
        if not keywords:
            return
        callee = getattr(o.callee, "node", None)
        kind = get_proper_type(self.types.get(o.callee))
        for word in keywords:
            if word.arg is None:
                continue
            self._keyword(word, callee, kind, o)

    def _keyword(self, word: ast.keyword, callee: Any, kind: Any, call: CallExpr) -> None:
        assert word.arg is not None
        if isinstance(callee, TypeInfo) or (isinstance(kind, FunctionLike) and kind.is_type_obj()):
            info = callee if isinstance(callee, TypeInfo) else kind.type_object()
            if "__init__" in info.names and not info.names["__init__"].plugin_generated:
                init = info.names["__init__"].node
                if isinstance(init, FuncDef):
                    for argument in init.arguments:
                        if argument.variable.name == word.arg:
                            self._word(word, "local", str(argument.variable.type))
                            return
            self._word(word, "member", f"{self._defining(info, word.arg)}.{word.arg}")
            return
        name = getattr(callee, "fullname", "")
        if name == "dataclasses.replace" and call.args:
            for owner in self._owners(self.types.get(call.args[0]), word.arg):
                self._word(word, "member", f"{owner}.{word.arg}")
                return
        if isinstance(kind, CallableType):
            for argument, wanted in zip(kind.arg_names, kind.arg_types, strict=True):
                if argument == word.arg:
                    self._word(word, "local", str(wanted))
                    return
        self._word(word, "unknown", "")

    def _word(self, word: ast.keyword, kind: str, of: str) -> None:
        assert word.arg is not None
        self.add(word.lineno, word.col_offset, word.arg, kind, of)

    def _rest(self) -> None:
        self._bodies(self.python.body, self.source.tree.fullname, False)
        for node in ast.walk(self.python):
            match node:
                case ast.ImportFrom():
                    self._import(node)
                case ast.AnnAssign():
                    self._annotation(node.annotation)
                case ast.arguments():
                    several = [a for a in (node.vararg, node.kwarg) if a is not None]
                    for one in (*node.posonlyargs, *node.args, *node.kwonlyargs):
                        self._parameter(one)
                    for one in several:
                        self._parameter(one, several=True)
                case ast.FunctionDef(returns=ast.expr() as returns):
                    self._annotation(returns)
                case ast.Call(func=ast.Name(id="cast"), args=[first, *_]):
                    self._annotation(first)
                case ast.Assign(value=value):
                    if isinstance(value, ast.BinOp | ast.Subscript):
                        self._annotation(value)
                case ast.Subscript(slice=inner):
                    self._annotation(inner)
                case _:
                    pass

    def _parameter(self, node: ast.arg, several: bool = False) -> None:
        if node.annotation is None:
            kind = "tuple[Any, ...]" if several else "None"
            self.add(node.lineno, node.col_offset, node.arg, "local", kind)
            return
        self._annotation(node.annotation)
        whole = ast.unparse(node.annotation)
        names = self.source.tree.names
        for part in {n.id for n in ast.walk(node.annotation) if isinstance(n, ast.Name)}:
            full = getattr(names[part].node, "fullname", "") if part in names else ""
            whole = re.sub(rf"(?<![.\w]){part}\b", full or part, whole)
        kind = f"tuple[{whole}, ...]" if several else whole
        self.add(node.lineno, node.col_offset, node.arg, "local", kind)

    def _bodies(self, body: list[ast.stmt], prefix: str, in_class: bool) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                column, line = self._behind_keyword(node)
                kind = "member" if in_class else "global" if prefix else "local"
                full = f"{prefix}.{node.name}" if prefix else "function"
                self.add(line, column, node.name, kind, full)
                inner = full if isinstance(node, ast.ClassDef) and prefix else ""
                self._bodies(node.body, inner, isinstance(node, ast.ClassDef))
            elif in_class and isinstance(node, ast.AnnAssign | ast.Assign):
                targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
                for target in targets:
                    if isinstance(target, ast.Name):
                        self.add(target.lineno, target.col_offset, target.id, "member",
                                 f"{prefix}.{target.id}")
            elif isinstance(node, ast.If | ast.Try | ast.With):
                self._bodies(node.body, prefix, in_class)
                self._bodies(getattr(node, "orelse", []), prefix, in_class)

    def _behind_keyword(self, node: Any) -> tuple[int, int]:
        line = self.lines[node.lineno - 1]
        pattern = re.compile(rf"(?:def|class)\s+({node.name})\b")
        match = pattern.search(line, node.col_offset)
        assert match, (self.source.path, node.lineno)
        return match.start(1), node.lineno

    def _import(self, node: ast.ImportFrom) -> None:
        tree = self.modules.get(node.module or "")
        for alias in node.names:
            symbol = tree.names.get(alias.name) if tree else None
            full = getattr(symbol.node, "fullname", "") if symbol else ""
            full = full or f"{node.module}.{alias.name}"
            self.add(alias.lineno, alias.col_offset, alias.name, "global", full)

    def _annotation(self, node: ast.expr) -> None:
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                symbol = self.source.tree.names.get(part.id)
                full = getattr(symbol.node, "fullname", "") if symbol else ""
                if full:
                    self.add(part.lineno, part.col_offset, part.id, "global", full)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                symbol = self.source.tree.names.get(part.value)
                full = getattr(symbol.node, "fullname", "") if symbol else ""
                if full:
                    self.add(part.lineno, part.col_offset + 1, part.value, "global", full)
            elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                symbol = self.source.tree.names.get(part.value.id)
                node_of = symbol.node if symbol else None
                if isinstance(node_of, MypyFile):
                    inner = node_of.names.get(part.attr)
                    full = getattr(inner.node, "fullname", "") if inner else ""
                    self.add(part.end_lineno or 0, (part.end_col_offset or 0) - len(part.attr),
                             part.attr, "global", full)


@dataclass(frozen=True)
class Rule:
    """One line of the table."""

    kind: str
    pattern: str
    new: str
    types: tuple[str, ...] = ("*",)
    where: tuple[str, ...] = ("*",)
    untyped: bool = False

    @classmethod
    def of(cls, row: dict[str, Any]) -> Rule:
        kinds = {"old": "global", "member": "member", "local": "local"}
        (key,) = kinds.keys() & row.keys()
        where, types = row.get("where", "*"), row.get("type", "*")
        return cls(
            kinds[key], row[key], row["new"],
            tuple([types] if isinstance(types, str) else types),
            tuple([where] if isinstance(where, str) else where), row.get("untyped", False),
        )

    @property
    def name(self) -> str:
        return self.pattern.rpartition(".")[2]

    def applies(self, use: Use, path: str) -> bool:
        if use.name != self.name or not any(fnmatchcase(path, w) for w in self.where):
            return False
        if use.kind == "unknown":
            return self.untyped and self.kind == "member"
        if use.kind != self.kind:
            return False
        if self.kind == "local":
            return any(fnmatchcase(use.of, t) for t in self.types)
        return fnmatchcase(use.of, self.pattern)


def columns(line: str, column: int) -> int:
    """A column in UTF-8 bytes as one in characters."""
    return len(line.encode()[:column].decode(errors="ignore"))


def tokens_of(text: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def by_token(source: Source) -> dict[int, tuple[str, str, str]]:
    """Token's index → name, kind, of: a renamed token keeps its index."""
    lines = source.text.splitlines(keepends=True)
    tokens = tokens_of(source.text)
    at = {token.start: n for n, token in enumerate(tokens)}
    meanings: dict[int, tuple[str, str, str]] = {}
    for use in source.uses:
        # mypy counts characters, ast counts bytes
        for column in (columns(lines[use.line - 1], use.column), use.column):
            index = at.get((use.line, column), -1)
            if index >= 0 and tokens[index].string == use.name:
                if meanings.get(index, ("", "unknown"))[1] == "unknown":
                    meanings[index] = (use.name, use.kind, use.of)
                break
        else:  # inside an f-string behind such a character, neither is right
            near = [n for n, token in enumerate(tokens)
                    if token.start[0] == use.line and token.string == use.name]
            if not lines[use.line - 1].isascii() and near:
                nearest = min(near, key=lambda n: abs(tokens[n].start[1] - use.column))
                meanings.setdefault(nearest, (use.name, use.kind, use.of))
    _lambdas(source, lines, at, meanings)
    for index in _exported(tokens):
        name = tokens[index].string[1:-1]
        symbol = source.tree.names.get(name)
        full = getattr(symbol.node, "fullname", "") if symbol else ""
        if full:
            meanings[index] = (name, "global", full)
    return meanings


def _lambdas(
    source: Source, lines: list[str], at: dict[tuple[int, int], int],
    meanings: dict[int, tuple[str, str, str]],
) -> None:
    """A lambda's parameters mean what their uses in its body mean."""
    def index(node: ast.arg | ast.Name) -> int:
        return at.get((node.lineno, columns(lines[node.lineno - 1], node.col_offset)), -1)

    for node in ast.walk(ast.parse(source.text)):
        if not isinstance(node, ast.Lambda):
            continue
        for parameter in node.args.args:
            for part in ast.walk(node.body):
                if (
                    isinstance(part, ast.Name)
                    and part.id == parameter.arg
                    and index(part) in meanings
                ):
                    meanings[index(parameter)] = meanings[index(part)]


def renamed(path: str, meanings: dict[str, list[str]], rules: list[Rule]) -> list[str]:
    """Rewrites a file; what was changed."""
    chosen = {
        int(index): rule.new
        for index, (name, kind, of) in meanings.items()
        for rule in reversed(rules)
        if rule.applies(Use(0, 0, name, kind, of), path)
    }
    if not chosen:
        return []
    text = (ROOT / path).read_text(encoding="utf-8")
    lines, tokens = text.splitlines(keepends=True), tokens_of(text)
    names, changes = {}, []
    for index in sorted(chosen, reverse=True):
        token, new = tokens[index], chosen[index]
        old = token.string.strip("\"'")
        (number, start), (_, end) = token.start, token.end
        line = lines[number - 1]
        lines[number - 1] = line[:start] + token.string.replace(old, new) + line[end:]
        names[old] = new
        changes.append(f"{path}:{number}: {old} -> {new}")
    (ROOT / path).write_text(_in_texts("".join(lines), names), encoding="utf-8")
    return changes


def _exported(tokens: list[tokenize.TokenInfo]) -> Iterator[int]:
    inside = False
    for index, token in enumerate(tokens):
        if token.type == tokenize.NAME and token.string == "__all__":
            inside = True
        elif token.type == tokenize.NEWLINE:
            inside = False
        elif inside and token.type == tokenize.STRING:
            yield index


def _in_texts(text: str, names: dict[str, str]) -> str:
    """Comments and docstrings: names in backticks."""
    pattern = re.compile(r"`(" + "|".join(map(re.escape, names)) + r")\b(?=[`.(\[])")
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (
            token.type == tokenize.STRING and token.string.startswith('"""')
        ):
            for number in range(token.start[0], token.end[0] + 1):
                lines[number - 1] = pattern.sub(
                    lambda m: "`" + names[m.group(1)], lines[number - 1]
                )
    return "".join(lines)


def analyse() -> dict[str, dict[str, list[str]]]:
    files, result = checked()
    for source in files:
        Uses(source, result).collect()
    return {s.path: {str(k): list(v) for k, v in by_token(s).items()} for s in files}


def show(cache: dict[str, dict[str, list[str]]], wanted: str) -> None:
    times: Counter[tuple[str, str]] = Counter()
    paths: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path, meanings in cache.items():
        for name, kind, of in meanings.values():
            if name == wanted:
                times[kind, of] += 1
                paths[kind, of].add(path)
    for (kind, of), number in times.most_common():
        some = ", ".join(sorted(paths[kind, of])[:4])
        print(f"{number:5} {kind:7} {of}   [{len(paths[kind, of])}: {some}]")


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path, help="where the meanings are kept; made if absent")
    parser.add_argument("row", nargs="*")
    parser.add_argument("--show", metavar="NAME", nargs="*", help="what a name means, counted")
    given = parser.parse_args(words)
    if not given.cache.exists():
        given.cache.write_text(json.dumps(analyse()), encoding="utf-8")
    cache = json.loads(given.cache.read_text(encoding="utf-8"))
    for name in given.show or ():
        print(f"== {name}")
        show(cache, name)
    table = tomllib.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    for row in given.row:
        rules = [Rule.of(rule) for rule in table[row]["rules"]]
        count: Counter[str] = Counter()
        for path, meanings in cache.items():
            count.update(c.rpartition(": ")[2] for c in renamed(path, meanings, rules))
        print(row, dict(count))
        left = Counter(
            f"{name} of unknown type in {path}"
            for path, meanings in cache.items()
            for name, kind, of in meanings.values()
            if kind == "unknown" and any(rule.name == name for rule in rules)
            and not any(rule.applies(Use(0, 0, name, kind, of), path) for rule in rules)
        )
        print(*(f"  {n} x {what}" for what, n in left.items()), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
