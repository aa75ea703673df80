"""Which mutants there are, and which of them are drawn.

The operators are Cosmic Ray's. Left out is what cannot change what the program does: annotations
(nothing evaluates them), ``if TYPE_CHECKING:``, decorators such as ``@cache``, and the options
``frozen`` and ``slots`` of dataclasses (`tests/whole/test_architecture.py` has which are frozen),
and ``strict`` of ``zip``, which guards against mistakes of the program's own.
So is the bare ``*`` of a signature, which is no product; and ``is`` becomes ``is not`` alone, for
what is compared by it (None, members of enumerations) is equal where it is the same, and has no
order.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import cosmic_ray.plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.work_item import MutationSpec, WorkItem

ROOT = Path(__file__).resolve().parents[3]
ROOMS = (
    "model", "lineage", "planning", "report", "diagnosis", "consumers", "auditing", "execution",
    "journal", "stores", "codec", "snapshot",
)  # fmt: skip
"""The rooms of the package that are mutated."""
WITHOUT_EFFECT = ("cache", "lru_cache", "override", "overload", "final")
"""Decorators that a program does without: those that remember results, and those for mypy."""
BY_IDENTITY = re.compile(r"ReplaceComparisonOperator_Is(Not)?_(?!Is)")
"""Operators that put a comparison of another kind in the place of one by identity."""


def modules(room: str) -> list[Path]:
    """The files of a room, relative to the checkout."""
    return sorted(path.relative_to(ROOT) for path in (ROOT / "reshardctl" / room).rglob("*.py"))


@cache
def source(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def mutants(path: Path) -> Iterator[WorkItem]:
    """Every mutant of a file; its id stays while the file does."""
    nodes = list(ast_nodes(get_ast(source(path))))
    silent = _silent(source(path))
    for name in sorted(cosmic_ray.plugins.operator_names()):
        kind = cosmic_ray.plugins.get_operator(name)
        if kind.arguments() or BY_IDENTITY.search(name):
            continue
        operator = kind()
        places = (place for node in nodes for place in operator.mutation_positions(node))
        for occurrence, (start, end) in enumerate(places):
            if any(first <= tuple(start) and tuple(end) <= last for first, last in silent):
                continue
            spec = MutationSpec(
                module_path=path, operator_name=name, occurrence=occurrence,
                start_pos=tuple(start), end_pos=tuple(end),
            )  # fmt: skip
            yield WorkItem.single(identity(spec), spec)


def identity(spec: MutationSpec) -> str:
    """The id of a mutant: of its file as it is, and of the change."""
    text = source(spec.module_path)
    return _digest(spec.module_path, text, spec.operator_name, spec.occurrence)


def mutated(spec: MutationSpec) -> str | None:
    """The file's text with the change; `None` where the operator changes nothing, or cannot: Cosmic
    Ray's ExceptionReplacer fails on a dotted name (8.7.0)."""
    operator = cosmic_ray.plugins.get_operator(spec.operator_name)()
    try:
        text: str | None = mutate_code(source(spec.module_path), operator, spec.occurrence)
    except AttributeError:
        return None
    return None if text == source(spec.module_path) else text


def draw(room: str, number: int) -> list[WorkItem]:
    """So many mutants of a room, or all; the same ones each time, no two of them at one place
    while other places are left."""
    found = sorted((each for path in modules(room) for each in mutants(path)), key=_order)
    places: dict[tuple[object, ...], list[WorkItem]] = {}
    for each in found:
        (spec,) = each.mutations
        places.setdefault((spec.module_path, spec.start_pos, spec.end_pos), []).append(each)
    rounds = itertools.zip_longest(*places.values())
    taken = (each for turn in rounds for each in turn if each is not None)
    return list(itertools.islice(taken, number))


def _order(item: WorkItem) -> str:
    """By chance, and the same when another line of the file changes."""
    (spec,) = item.mutations
    return _digest(spec.module_path, spec.operator_name, spec.occurrence)


def _digest(*said: object) -> str:
    return hashlib.sha256("\n".join(map(str, said)).encode()).hexdigest()[:12]


Place = tuple[int, int]


def _silent(text: str) -> list[tuple[Place, Place]]:
    """Parts of a file that do nothing when it runs, from and to (line, column)."""
    found: list[ast.AST | None] = []
    stars: list[tuple[Place, Place]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            stars += _bare_star(node)
        match node:
            case ast.arg() | ast.AnnAssign():
                found.append(node.annotation)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.append(getattr(node, "returns", None))
                found += [d for d in node.decorator_list if _name(d) in WITHOUT_EFFECT]
            case ast.keyword(arg="frozen" | "slots"):
                found.append(node.value)
            case ast.Call(func=ast.Name(id="zip")):
                found += [each.value for each in node.keywords if each.arg == "strict"]
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                found.append(node)
            case ast.Assign(targets=[ast.Name(id=name)]) if name.startswith("__"):
                found.append(node)
            case _:
                pass
    return stars + [_extent(node) for node in found if node is not None]


def _bare_star(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[Place, Place]]:
    """From the arguments before a bare ``*`` to those after it."""
    arguments = function.args
    if arguments.kwonlyargs and arguments.vararg is None:
        first = arguments.kwonlyargs[0]
        before = [*arguments.posonlyargs, *arguments.args, *arguments.defaults]
        start = max((_extent(each)[1] for each in before), default=_extent(function)[0])
        yield start, (first.lineno, first.col_offset)


def _extent(node: ast.AST) -> tuple[Place, Place]:
    """Cosmic Ray's place of a decorator begins with its @ and ends with its line."""
    assert isinstance(node, ast.expr | ast.stmt | ast.arg)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    if _name(node) in WITHOUT_EFFECT:
        return (node.lineno, node.col_offset - 1), (node.end_lineno + 1, 0)
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _name(node: ast.AST) -> str:
    """The last part of a decorator's name."""
    match node:
        case ast.Call(func=called):
            return _name(called)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""
