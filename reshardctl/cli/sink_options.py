"""Options that say what a sink is, and which Spark reads it."""

from __future__ import annotations

from typing import Annotated

import typer

Form = Annotated[
    str | None,
    typer.Option(
        "--form", metavar="parquet|delta|json|csv|table",
        help="What the sink is, where its path does not tell.", show_default=False,
    ),
]
Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="number=NAME",
        help="Which column is the number, sub, shard, key, stream, arrival or order. Repeatable; "
        "usual names are found.",
        show_default=False,
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        "--master", metavar="URL", help="Spark's master. Default: local[*].", show_default=False
    ),
]
Remote = Annotated[
    str | None,
    typer.Option(
        "--remote", metavar="sc://HOST", help="A Spark Connect server instead.",
        show_default=False,
    ),
]
