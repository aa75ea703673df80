"""`reshardctl rule`: explains the code of a finding."""

from __future__ import annotations

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
    from reshardctl.console.output import show
    from reshardctl.diagnosis.rules import RULES
    from reshardctl.diagnosis.rules.pages import find

    if code is None:
        show(f"{r.code}  {r.name:32}  {r.page.strip().splitlines()[0]}" for r in RULES)
        return
    known = find(code)
    show([f"{known.code} {known.name}", "", *known.page.strip().splitlines()])
