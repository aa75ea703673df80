"""Write the errors of docs/exit-codes.md from the classes of reshardctl/errors.py.

    .venv/bin/python -m scripts.pages errors
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from reshardctl import errors
from reshardctl.errors import ReshardError
from scripts.pages import between_comments

PAGE = Path(__file__).parents[2] / "docs" / "exit-codes.md"
ELSEWHERE = (
    "reshardctl.kinesis.fast",
    "reshardctl.spark.source.losses",
    "reshardctl.stores.dynamodb.client",
)
"""Modules with errors that nobody but their own room catches."""
HEAD = """## Errors

A failed command says on stderr what happened and, on the line below, what to do next. Documents for
programs (`--format json`) hold the same as `what` and `next`. An id (`error.id` in
Python, in no output) stays for good, while the name of a class may change.

| id | what happened, and what to do next | error | exit code |
|---|---|---|---|"""


def kinds(base: type[ReshardError] = ReshardError, depth: int = 0) -> Iterator[
    tuple[int, type[ReshardError]]
]:
    """The tree of errors, parents first, each with its depth."""
    for name in ELSEWHERE:
        import_module(name)
    yield depth, base
    for kind in sorted(base.__subclasses__(), key=lambda kind: kind.id):
        if kind.__module__ in (errors.__name__, *ELSEWHERE):
            yield from kinds(kind, depth + 1)


def sections(kind: type[ReshardError]) -> tuple[str, str]:
    """When an error is raised and what to do next, out of its docstring."""
    paragraphs = [
        " ".join(text.split()) for text in inspect.cleandoc(kind.__doc__ or "").split("\n\n")
    ]
    said = [text for text in paragraphs if not text.startswith("Attributes:")]
    following = [text for text in said if text.startswith("Next: ")]
    if len(following) != 1:
        raise ValueError(f"{kind.__name__}: its docstring needs one paragraph that says Next: ...")
    when = " ".join(text for text in said if text not in following)
    if kind.__module__ != errors.__name__:
        when += f" Defined in `{kind.__module__}`."
    return when, following[0].removeprefix("Next: ")


def page() -> str:
    """The whole page."""
    lines = [HEAD]
    for depth, kind in kinds():
        when, following = sections(kind)
        following = following[0].upper() + following[1:]
        name = f"{'&emsp;' * depth}`{kind.__name__}`"
        lines.append(f"| {kind.id} | {when} *Next:* {following} | {name} | {kind.exit:d} |")
    return between_comments(PAGE, "errors", "\n".join(lines) + "\n")
