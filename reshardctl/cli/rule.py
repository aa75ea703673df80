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
    from reshardctl.errors import UsageError
    from reshardctl.rules import RULES

    if code is None:
        for one in RULES:
            typer.echo(f"{one.code}  {one.name:32}  {one.page.strip().splitlines()[0]}")
        return
    for one in RULES:
        if code.casefold() in (one.code.casefold(), one.name):
            typer.echo(f"{one.code} {one.name}\n\n{one.page.strip()}")
            return
    raise UsageError(f"no rule is called {code!r}", "reshardctl rule lists all of them")
