"""Every command that is printed can be copied into a shell as it stands: the real parser takes it.

Explanations stand above it, or behind a `# `, which a shell leaves out. A line ending in a
backslash goes on in the next one.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

import reshardctl
from reshardctl.cli.app import application
from reshardctl.report.report import Report
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import SHOWN, STORED, context, report_of

LONG = pytest.mark.long
WIDTHS = (
    (80, SHOWN), *(pytest.param(width, STORED, marks=LONG) for width in (40, 60, 80, 100))
)  # fmt: skip
BEGINS = re.compile(r"^(?:.*(?:: |; |\s{2,}))?(?P<command>(?:reshardctl|aws) (?!may )[a-z].*)$")
"""`reshardctl may write` is a part of a sentence."""
PACKAGE = Path(reshardctl.__file__).parent
OPTIONS = ("", "initial=LATEST", "initial=LATEST&release=2.7.2")


@cache
def parser() -> Any:
    return typer.main.get_command(application())


def parse(words: list[str]) -> None:
    """As the real command line does, up to where a verb would begin to work."""
    group = parser()
    with group.make_context("reshardctl", list(words), resilient_parsing=False) as root:
        name, verb, rest = group.resolve_command(root, [*root._protected_args, *root.args])
        assert verb is not None
        verb.make_context(name, rest, parent=root)


def commands(shown: str) -> Iterator[str]:
    """The command lines of a view, each with the lines that go on."""
    lines = iter(shown.splitlines())
    for line in lines:
        found = BEGINS.match(line)
        if found is None:
            continue
        text = found["command"].removesuffix(" |")  # a cell of a table in markdown
        while text.endswith("\\"):
            text = text[:-1] + next(lines).strip()
        yield text


def check(shown: str) -> int:
    """How many commands there are. Fails at the first that a shell or the parser refuses."""
    number = 0
    for text in commands(shown):
        number += 1
        copied(text)
    return number


@cache
def copied(text: str) -> None:
    """Into a shell; most reports name the same few commands."""
    first, *words = shlex.split(text, comments=True)
    if first == "aws":
        assert all(re.fullmatch(r"\S+", word) for word in words), text
        return
    assert first == "reshardctl", text
    try:
        parse(words)
    except Exception as error:
        pytest.fail(f"{error!r}: {text}")


def reports(names: Sequence[str]) -> Iterator[Report]:
    for name in names:
        for options in OPTIONS:
            yield report_of(name, options)
    for name in ("a-both", "b", "h"):
        yield report_of(name, "initial=LATEST&release=2.7.2", policy="latest-at-start")


def test_a_comment_that_has_no_room_stands_above():
    report = report_of("a-both", "initial=LATEST&release=2.7.2")
    shown = FORMATS["text"].inspect(report, context(report, width=40, verbose=True))
    assert "  # what this means\n  reshardctl rule RSH203\n" in shown


@pytest.mark.parametrize(("width", "names"), WIDTHS)
def test_text(width, names):
    number = 0
    for report in reports(names):
        wanted = context(report, width=width)
        number += check(FORMATS["text"].inspect(report, wanted))
        number += check(FORMATS["text"].plan(report, wanted))
    assert number > 4 * len(names)


@pytest.mark.parametrize("name", [pytest.param("markdown", marks=LONG), "concise"])
def test_other_formats(name):
    for report in reports(SHOWN):
        check(FORMATS[name].inspect(report, context(report)))
        check(FORMATS[name].plan(report, context(report)))


def literals() -> Iterator[str]:
    """Every text of the package; `X` where a value is put in."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        nodes = list(ast.walk(ast.parse(text))) if "reshardctl " in text else []
        parts = {id(p) for node in nodes if isinstance(node, ast.JoinedStr) for p in node.values}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if id(node) in parts:
                    continue
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "X"
                    for part in node.values
                )


def test_messages_and_pages():
    """What errors, rule pages and the help of each verb name as the next command."""
    verbs = "|".join(sorted(parser().commands))
    begins = re.compile(rf"^(?:.*: )?\s*reshardctl (?:{verbs}) ")
    texts = [line for text in literals() for line in text.splitlines() if begins.match(line)]
    assert sum(check(line) for line in texts) > 80
