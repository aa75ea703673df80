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
        help="Endpoint of kinesis or dynamodb; repeatable. A bare URL is for both.",
    ),
]
AcceptOption = Annotated[
    str | None,
    typer.Option(
        "--accept",
        metavar="skip=12m,reread=3h,disorder",
        help="What a plan may cost a shard. Default: reread=1h, no skip, no disorder.",
    ),
]
ProbeOption = Annotated[
    bool,
    typer.Option("--probe", help="Read a few records (GetRecords) to turn guesses into facts."),
]
RecreatedOption = Annotated[
    str | None,
    typer.Option(
        "--recreated",
        metavar="TIME",
        help="The stream was deleted and made again at TIME, its creation time: start over.",
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


class PolicyName(StrEnum):
    """Policies."""

    LOSSLESS = "lossless"
    LATEST_AT_START = "latest-at-start"


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
    PolicyName | None,
    typer.Option(
        "--policy", help=f"Which line to want. Default: {PolicyName.LOSSLESS}.", show_default=False
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
