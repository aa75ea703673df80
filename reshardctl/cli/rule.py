"""`reshardctl rule`: what does this code mean?"""

from __future__ import annotations

from typing import Annotated

import typer


def rule(
    code: Annotated[
        str | None,
        typer.Argument(metavar="[CODE|NAME]", help="RSH203 or child-not-started; none lists all."),
    ] = None,
) -> None:
    """What does this code mean? Works offline. Example: reshardctl rule RSH203"""
    from reshardctl.cli.output import show
    from reshardctl.errors import UsageError
    from reshardctl.rules import RULES

    if code is None:
        show(f"{r.code}  {r.name:32}  {r.page.strip().splitlines()[0]}" for r in RULES)
        return
    for one in RULES:
        if code.casefold() in (one.code.casefold(), one.name):
            show([f"{one.code} {one.name}", "", *one.page.strip().splitlines()])
            return
    raise UsageError(f"no rule is called {code!r}", "reshardctl rule lists all of them")
