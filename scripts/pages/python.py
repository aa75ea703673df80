"""Write the API of docs/python.md from the public names of reshardctl: signatures and docstrings.

    .venv/bin/python -m scripts.pages python
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import reshardctl
from scripts.pages import between_comments
from scripts.pages.rules import _escaped

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
HEAD = """## Python API

These names, their parameters and their fields are what
[versions and deprecation](schemas.md#versions-and-deprecation) promises; every other name of the
package may change.
"""
WIDTH = 88


def names() -> list[str]:
    """The public names: functions first, then classes."""
    public = [name for name in reshardctl.__all__ if not name.startswith("__")]
    return sorted(public, key=lambda name: (inspect.isclass(value_of(name)), name))


def value_of(name: str) -> Any:
    """The function or class of a public name."""
    return getattr(reshardctl, name)


def page() -> str:
    """The whole page."""
    lines = [HEAD, "| name | what it is |", "|---|---|"]
    for name in names():
        summary = _paragraphs(value_of(name).__doc__)[0]
        lines.append(f"| [`{name}`](#{name.lower()}) | {summary} |")
    for name in names():
        value = value_of(name)
        lines += ["", f"### {name}", "", f"`{value.__module__}`"]
        lines += _class(value) if inspect.isclass(value) else _function(value)
    return between_comments(PAGE, "python", "\n".join(lines) + "\n")


def _function(value: Any) -> Iterator[str]:
    node = _node(value)
    assert isinstance(node, ast.FunctionDef)
    yield f"\n```python\n{_signature(node)}\n```"
    yield from _doc(value.__doc__)


def _class(value: type) -> Iterator[str]:
    yield from _doc(value.__doc__)
    fields = [line for kind in _own(value) for line in _fields(_node(kind))]
    if fields:
        yield "\n**Fields**\n"
        yield from fields
    methods = {line[0]: line for kind in _own(value) for line in _methods(_node(kind))}
    if methods:
        yield "\n**Properties and methods**\n"
        yield from (text for _, text in methods.values())


def _own(value: type) -> list[type]:
    """The class and its bases of this package, those whose fields come first first."""
    bases = [kind for kind in value.__mro__ if kind.__module__.startswith("reshardctl")]
    return bases[::-1]


def _node(value: Any) -> ast.stmt:
    return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]


def _fields(node: ast.stmt) -> Iterator[str]:
    """A line for each public field, with the text below it."""
    assert isinstance(node, ast.ClassDef)
    for place, found in enumerate(node.body):
        if not isinstance(found, ast.AnnAssign) or not isinstance(found.target, ast.Name):
            continue
        if found.target.id.startswith("_") or "ClassVar" in ast.unparse(found.annotation):
            continue
        default = _default(found.value)
        following = node.body[place + 1] if place + 1 < len(node.body) else None
        said = _constant(following)
        text = f": {' '.join(_paragraphs(said))}" if said else ""
        yield f"- `{found.target.id}: {ast.unparse(found.annotation)}{default}`{text}"


def _default(value: ast.expr | None) -> str:
    """` = ` and a default as it reads, a factory as what it makes; "" without one."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "option":
        value = value.args[1] if value.args[1:] else ast.Constant(None)
    made = "MISSING" if value is None else _made(value)
    return "" if made == "MISSING" else f" = {made}"


def _made(value: ast.expr) -> str:
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        for keyword in value.keywords:
            made = ast.unparse(keyword.value)
            if keyword.arg == "default":
                return made
            if keyword.arg == "default_factory":
                return made.removeprefix("lambda: ") if "lambda" in made else f"{made}()"
    return ast.unparse(value)


def _constant(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return str(node.value.value)
    return ""


def _methods(node: ast.stmt) -> Iterator[tuple[str, str]]:
    assert isinstance(node, ast.ClassDef)
    for found in node.body:
        if not isinstance(found, ast.FunctionDef) or found.name.startswith("_"):
            continue
        shown = found.name
        decorators = {ast.unparse(decorator) for decorator in found.decorator_list}
        if "property" not in decorators:
            shown += f"({_arguments(found, skipped={'self', 'cls'})})"
        result = f": {ast.unparse(found.returns)}" if found.returns else ""
        said = " ".join(_paragraphs(ast.get_docstring(found)))
        yield found.name, f"- `{shown}{result}`: {said}"


def _signature(node: ast.FunctionDef) -> str:
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    whole = f"{node.name}({_arguments(node)}){result}"
    if len(whole) <= WIDTH:
        return whole
    inner = "".join(f"    {argument},\n" for argument in _listed(node))
    return f"{node.name}(\n{inner}){result}"


def _arguments(node: ast.FunctionDef, skipped: frozenset[str] | set[str] = frozenset()) -> str:
    return ", ".join(text for text in _listed(node) if text not in skipped)


def _listed(node: ast.FunctionDef) -> list[str]:
    """The arguments, one text each."""
    args = node.args
    plain = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(args.defaults))
    listed = [_argument(*pair) for pair in zip(plain, [*defaults, *args.defaults], strict=True)]
    if args.vararg is not None:
        listed.append(f"*{_argument(args.vararg, None)}")
    elif args.kwonlyargs:
        listed.append("*")
    keyed = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    return listed + [_argument(*pair) for pair in keyed]


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    annotated = f": {ast.unparse(argument.annotation)}" if argument.annotation else ""
    return f"{argument.arg}{annotated}" + (f" = {ast.unparse(default)}" if default else "")


def _doc(text: str | None) -> Iterator[str]:
    for paragraph in _paragraphs(text):
        yield f"\n{paragraph}"


def _paragraphs(text: str | None) -> list[str]:
    """The paragraphs of a docstring, each on one line, as Markdown."""
    blocks = inspect.cleandoc(text or "").split("\n\n")
    return [_escaped(" ".join(block.split())) for block in blocks]
