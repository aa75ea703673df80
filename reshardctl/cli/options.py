"""Options that several verbs take."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

LocatorArgument = Annotated[
    str,
    typer.Argument(
        metavar="CONSUMER",
        help="Where the positions are, e.g. 'kcl://my-application?initial=TRIM_HORIZON', or a name "
        "in reshardctl.toml.",
        show_default=False,
    ),
]
ConsumersArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CONSUMER",
        help="Where the positions are, e.g. 'kcl://my-application?initial=TRIM_HORIZON', or names "
        "of consumers or streams in reshardctl.toml.",
        show_default=False,
    ),
]
StreamOption = Annotated[
    str | None, typer.Option("--stream", help="Name or ARN of the stream.", show_default=False)
]
RegionOption = Annotated[str | None, typer.Option("--region", help="AWS region.")]
ProfileOption = Annotated[str | None, typer.Option("--profile", help="AWS profile.")]
RoleOption = Annotated[str | None, typer.Option("--role-arn", help="Role to assume first.")]
EndpointOption = Annotated[
    list[str] | None,
    typer.Option(
        "--endpoint-url",
        metavar="SERVICE=URL",
        help="Endpoint of kinesis, dynamodb, sts or s3; repeatable. A bare URL is for all.",
    ),
]
AcceptOption = Annotated[
    str | None,
    typer.Option(
        "--accept",
        metavar="skip=12m,reread=3h,disorder",
        help="The limit of what a plan may cost a shard; what costs more is left alone. Without it "
        "fix asks; --yes alone takes reread=1h and no disorder.",
    ),
]
ProbeOption = Annotated[
    bool,
    typer.Option("--probe", help="Read a few records (GetRecords) to turn guesses into facts."),
]
BudgetOption = Annotated[
    str | None,
    typer.Option(
        "--probe-budget",
        metavar="calls=N,time=DURATION",
        help="What reading records may take in all, for --probe, --count and policies by time. "
        "Default: calls=1000,time=2m; two reads a second a shard at most.",
        show_default=False,
    ),
]
CountOption = Annotated[
    bool,
    typer.Option("--count", help="Read and count the records that are skipped or read again."),
]
RecreatedOption = Annotated[
    str | None,
    typer.Option(
        "--recreated",
        metavar="TIME",
        help="The stream was deleted and made again at TIME, its creation time: start over.",
    ),
]
WaitOption = Annotated[
    str | None,
    typer.Option(
        "--wait", metavar="DURATION", help="Wait so long for --until; exit 3 if it takes longer.",
        show_default=False,
    ),
]
UntilOption = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="settled|shards=N|crossed",
        help="With --wait: the stream has settled (default), with N open shards, or this consumer "
        "has ended every parent and started every child.",
        show_default=False,
    ),
]
WatchOption = Annotated[
    str | None,
    typer.Option(
        "--watch",
        metavar="DURATION",
        help="Judge the running consumer as well: what is renewed and gets on in that time.",
        show_default=False,
    ),
]
IfReshardOption = Annotated[
    list[str] | None,
    typer.Option(
        "--if-reshard",
        metavar="N|split=SHARD[@KEY]|merge=A,B",
        help="Forecast: the first start after that reshard, were it made now. Repeatable; nothing "
        "is resharded.",
        show_default=False,
    ),
]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="Every write, full ids.")]
OutputOption = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Write there, not to stdout.")
]


class FormatName(StrEnum):
    """Formats of a report."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    JSONL = "jsonl"
    MARKDOWN = "markdown"
    GITHUB = "github"
    JUNIT = "junit"
    SARIF = "sarif"


class FailOn(StrEnum):
    """From which severity on `inspect` exits 1."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NEVER = "never"


class ColorMode(StrEnum):
    """When to use colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


FormatOption = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="NAME[=FILE]",
        help=f"{', '.join(FormatName)}. Default: text on a terminal, concise in a pipe. "
        "Repeatable: others go to their FILE.",
        show_default=False,
    ),
]
PolicyOption = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="lossless|latest|at-timestamp=TIME|latest-at-start",
        help="Which line to want. TIME: 2026-09-22T09:14:00Z, -90m or @reshard. latest and "
        "at-timestamp read records (GetRecords). Default: lossless.",
        show_default=False,
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="Streams and consumers by name. Default: reshardctl.toml.",
        show_default=False,
    ),
]
ColorOption = Annotated[ColorMode, typer.Option("--color", help="When to use colour.")]
