"""Options of the commands that write: what is moved where, and on whose word."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli import completion

WatchFirst = Annotated[
    str | None,
    typer.Option(
        "--watch", metavar="DURATION",
        help="How long to look for signs of life.  [default: 30s, or as long as the consumer "
        "needs, or as reshardctl.toml says]",
    ),
]
Recreated = Annotated[
    str | None,
    typer.Option(
        "--recreated",
        metavar="TIME",
        help="The stream was deleted and made again at TIME, its creation time: start over.",
    ),
]
Positions = Annotated[
    str | None,
    typer.Option(
        "--positions", metavar="FILE",
        help="Move every shard in FILE to its position there: a file of export, or a snapshot.",
        show_default=False,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="SHARD=POSITION",
        help="Move one shard to a sequence number, TRIM_HORIZON, LATEST, SHARD_END or "
        "AT_TIMESTAMP:TIME. Repeatable.",
        show_default=False,
    ),
]
Shift = Annotated[
    str | None,
    typer.Option(
        "--shift", metavar="-DURATION", help="Move every position back by that time, e.g. -2h.",
        show_default=False,
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", "-n", help="Show the proven plan; write nothing.")
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="PLAN", help="Save the plan to a new file.")
]
Plan = Annotated[
    Path | None, typer.Option("--plan", metavar="PLAN", help="Apply exactly that plan.")
]
Resume = Annotated[
    str | None,
    typer.Option(
        "--resume", metavar="JOURNAL", autocompletion=completion.journals,
        help="Finish what was interrupted; a journal's name, path or s3://BUCKET/KEY.",
    ),
]
Created = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="The positions belong to the stream created at TIME, where no number shows it.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Apply without asking.")]
AssumeStopped = Annotated[
    bool,
    typer.Option(
        "--assume-stopped", help="You know that every worker is stopped; it is journaled."
    ),
]
Journal = Annotated[
    str | None,
    typer.Option(
        "--journal", metavar="PLACE",
        help="Where to keep the journal: a file, a directory, or s3://BUCKET/PREFIX.",
    ),
]
