"""Write the API of docs/python.md from the public names of reshardctl: signatures and docstrings.

    .venv/bin/python -m scripts.pages python

Of a function it takes the first paragraph, of a field, a property and a method the first sentence.
A class that extends another one of the page names it, and lists its own fields alone. A field that
is an option of a command has no text: docs/commands.md has it. Properties of requests are left out:
they are for the command line. A default that is nothing is left out, and a field of a request
without a default is marked as required.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

import reshardctl
from reshardctl.codec.argv import OPTION
from reshardctl.commands.target import Selection
from scripts.pages import between_comments
from scripts.pages.rules import _escaped

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
HEAD = """## Python API

These names, their parameters and their fields are what
[Versions and deprecation](schemas.md#versions-and-deprecation) promises; every other name may
change. A field of a request without text is an option of the command
([Commands and options](commands.md)). The defaults `None`, `False`, `()` and `''` are not shown.
"""
COMMON = (Selection,)
"""Classes with a section of their own although they are no public names."""
EMPTY = ("None", "False", "()", "''")
"""Defaults that are not shown."""
REQUIRED = " (required)"
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
    shown = [*map(value_of, names()), *COMMON]
    lines = [HEAD.rstrip()]
    for value in shown:
        lines += ["", f"### {value.__name__}"]
        lines += _class(value, shown) if inspect.isclass(value) else _function(value)
    return between_comments(PAGE, "python", "\n".join(lines) + "\n")


def _link(name: str) -> str:
    return f"[`{name}`](#{name.lower()})"


def _function(value: Any) -> Iterator[str]:
    node = _node(value)
    assert isinstance(node, ast.FunctionDef)
    yield f"\n```python\n{_signature(node)}\n```"
    yield f"\n{_paragraphs(value.__doc__)[0]}"


def _class(value: type, shown: Sequence[object]) -> Iterator[str]:
    own, base = _own(value, shown)
    fields = dict(each for kind in own for each in _fields(_node(kind)))
    paragraphs, said = _said(_paragraphs(value.__doc__), list(fields))
    yield from (f"\n{paragraph}" for paragraph in paragraphs)
    if base:
        yield f"\nAll that {_link(base.__name__)} has, and:"
    if fields:
        options = _options(value)
        required = _required(value) if _is_request(value) else set()
        yield ""
        for name, (declared, text) in fields.items():
            text = options.get(name, text or said.get(name, ""))
            mark = REQUIRED if name in required else ""
            yield f"- `{declared}`{mark}: {text}" if text else f"- `{declared}`{mark}"
    methods = dict(each for kind in own for each in _methods(_node(kind)))
    if methods and not _is_request(value):
        yield from methods.values() if fields else ("", *methods.values())


def _is_request(value: type) -> bool:
    return value in COMMON or value.__name__.endswith("Request") or value.__name__ == "Sink"


def _required(value: type) -> set[str]:
    """The fields of a class without a default."""
    if issubclass(value, Struct):
        return {each.name for each in structs.fields(value) if each.required}
    return {
        each.name for each in (dataclasses.fields(value) if dataclasses.is_dataclass(value) else ())
        if each.default is each.default_factory is dataclasses.MISSING
    }  # fmt: skip


def _options(value: type) -> dict[str, str]:
    """The fields of a class that are options, with the option if its name is another."""
    if not dataclasses.is_dataclass(value):
        return {}
    given = ((each.name, each.metadata.get(OPTION)) for each in dataclasses.fields(value))
    named = {name: option.name for name, option in given if option is not None}
    return {
        name: "" if option == f"--{name.replace('_', '-')}" else f"`{option}`"
        for name, option in named.items()
    }


def _said(
    paragraphs: Sequence[str], fields: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """The paragraphs of a class without what they say of its fields, and that by field.

    They say it as in "limit: what is accepted. words, sink_words: the arguments".
    """
    kept, said = [], {}
    escaped = {_escaped(name): name for name in fields}
    one = "|".join(map(re.escape, escaped)) or "(?!)"
    for paragraph in paragraphs:
        text = paragraph.removeprefix("Attributes: ")
        before, *parts = re.split(rf"(?:^|(?<=\. ))((?:{one})(?:, (?:{one}))*): ", text)
        kept += [before.strip()] if before.strip() else []
        for named, words in zip(parts[::2], parts[1::2], strict=True):
            for name in named.split(", "):
                said[escaped[name]] = words[:1].upper() + words[1:].rstrip()
    return kept, said


def _own(value: type, shown: Sequence[object]) -> tuple[list[type], type | None]:
    """The class and its bases of this package, up to one that is shown, and that one."""
    own: list[type] = []
    for kind in value.__mro__:
        if kind is not value and kind in shown:
            return own, kind
        if kind.__module__.startswith("reshardctl"):
            own.append(kind)
    return own, None


def _node(value: Any) -> ast.stmt:
    return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]


def _fields(node: ast.stmt) -> Iterator[tuple[str, tuple[str, str]]]:
    """The name of each public field, how it is declared, and the text below it."""
    assert isinstance(node, ast.ClassDef)
    for place, found in enumerate(node.body):
        if not isinstance(found, ast.AnnAssign) or not isinstance(found.target, ast.Name):
            continue
        if found.target.id.startswith("_") or "ClassVar" in ast.unparse(found.annotation):
            continue
        default = _default(found.value)
        following = node.body[place + 1] if place + 1 < len(node.body) else None
        said = _constant(following)
        text = _first(_paragraphs(said)) if said else ""
        declared = f"{found.target.id}: {ast.unparse(found.annotation)}{default}"
        yield found.target.id, (declared, text)


def _default(value: ast.expr | None) -> str:
    """` = ` and a default as it reads, a factory as what it makes; "" without one."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "option":
        value = value.args[1] if value.args[1:] else ast.Constant(None)
    made = "MISSING" if value is None else _made(value)
    return "" if made in ("MISSING", *EMPTY) else f" = {made}"


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
        result = ast.unparse(found.returns) if found.returns else "None"
        shown += "" if result == "None" else f": {result}"
        yield found.name, f"- `{shown}`: {_first(_paragraphs(ast.get_docstring(found)))}"


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


def _paragraphs(text: str | None) -> list[str]:
    """The paragraphs of a docstring, each on one line, as Markdown."""
    blocks = inspect.cleandoc(text or "").split("\n\n")
    return [_escaped(" ".join(block.split())) for block in blocks]


def _first(paragraphs: Sequence[str]) -> str:
    """The first sentence."""
    return paragraphs[0].partition(". ")[0].removesuffix(".") + "."
