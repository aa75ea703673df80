"""`reshardctl rule`: explains the code of a finding."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Annotated

import typer

from reshardctl.cli import completion


def rule(
    code: Annotated[
        str | None,
        typer.Argument(
            metavar="CODE|NAME", help="RSH203 or child-not-started; none lists all.",
            autocompletion=completion.rules,
        ),
    ] = None,
) -> None:
    """What does this code mean? Works offline. Example: reshardctl rule RSH203"""
    from reshardctl.console.output import PIPED_WIDTH, columns, show
    from reshardctl.diagnosis.rules import RULES
    from reshardctl.diagnosis.rules.pages import find

    if code is None:
        show(line for r in RULES for line in _listed(r.code, r.name, r.page, columns()))
        show(["", "reshardctl rule CODE   # explains one of them"])
        return
    known = find(code)
    width = min(columns() or PIPED_WIDTH, WIDEST)
    show([f"{known.code} {known.name}", "", *_page(known.page.strip(), width)])
    verb = "audit SINK" if known.code.startswith("RSH5") else "inspect CONSUMER"
    show([f"reshardctl {verb} --stream STREAM"])


WIDEST = 100
"""Columns of running text at most."""
BESIDE = 42
"""Columns in front of what a rule is about."""


def _listed(code: str, name: str, page: str, width: int | None) -> list[str]:
    """A rule on one line, or as its terminal has room; in a pipe always on one."""
    about = page.strip().splitlines()[0]
    if width is None:
        return [f"{code}  {name:32}  {about}"]
    if width < 2 * BESIDE - 4:
        return [f"{code}  {name}", *_wrapped(about, width, " " * 4)]
    first, *others = _wrapped(about, width, " " * BESIDE)
    return [f"{code}  {name:32}  {first.strip()}", *others]


def _page(page: str, width: int) -> Iterator[str]:
    """The page with its running text wrapped at words; headings and examples stay as they are."""
    for block in page.split("\n\n"):
        lines = block.splitlines()
        if len(lines) > 1 and set(lines[1]) == {"-"}:
            yield from lines[:2]
            lines = lines[2:]
        if any(line.startswith(" ") for line in lines):
            yield from lines
        elif lines:
            yield from _wrapped(" ".join(lines), width)
        yield ""


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False,
        break_on_hyphens=False,
    )
