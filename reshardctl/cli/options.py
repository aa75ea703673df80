"""Options that several verbs take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reshardctl.cli import completion
from reshardctl.console.choices import ColorMode, FailOn, FormatName, MetricsFormat

LocatorArgument = Annotated[
    str,
    typer.Argument(
        metavar="CONSUMER",
        help="Where the positions are, e.g. 'kcl://my-application?initial=TRIM_HORIZON', or a name "
        "in reshardctl.toml.",
        show_default=False,
        autocompletion=completion.consumers,
    ),
]
ConsumersArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CONSUMER...",
        help="Where the positions are, e.g. 'kcl://my-application?initial=TRIM_HORIZON', or names "
        "of consumers or streams in reshardctl.toml.",
        show_default=False,
        autocompletion=completion.consumers,
    ),
]
StreamOption = Annotated[
    str | None,
    typer.Option(
        "--stream", help="Name or ARN of the stream.", show_default=False,
        autocompletion=completion.streams,
    ),
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
    bool | None,
    typer.Option(
        "--probe/--no-probe", help="Read a few records (GetRecords) to turn guesses into facts."
    ),
]
PatienceOption = Annotated[
    str | None,
    typer.Option(
        "--watch", metavar="DURATION",
        help="How long to look for signs of life.  [default: 30s, or as reshardctl.toml says]",
    ),
]
FailOnOption = Annotated[
    FailOn | None,
    typer.Option(
        "--fail-on",
        help="Exit 1 from this severity on.  [default: error, or as reshardctl.toml says]",
    ),
]
BudgetOption = Annotated[
    str | None,
    typer.Option(
        "--probe-budget",
        metavar="calls=N,time=DURATION",
        help="What reading records may take in all, for --probe, --count and policies by time. "
        "Default: 22 calls and half a second for each shard, at least calls=1000,time=2m; two "
        "reads a second a shard at most.",
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
ShardsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--shards",
        metavar="4,5|4-9|ID",
        help="Only these shards: by number, range or id; repeatable.",
        show_default=False,
        autocompletion=completion.shards,
    ),
]
RuleOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rule", metavar="CODE", help="Only findings of this rule, e.g. RSH203; repeatable.",
        show_default=False, autocompletion=completion.rules,
    ),
]
NotRuleOption = Annotated[
    list[str] | None,
    typer.Option(
        "--not-rule", metavar="CODE", help="No findings of this rule; repeatable.",
        show_default=False, autocompletion=completion.rules,
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
FormatOption = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="NAME[=FILE]",
        help=f"{', '.join(FormatName)}. Default: text on a terminal, concise in a pipe. "
        "Repeatable: others go to their FILE. json1: JSON documents of version 1, for one release. "
        "diff: the rows that are written, for reviews.",
        show_default=False,
        autocompletion=completion.formats,
    ),
]
MetricsFormatOption = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="NAME[=FILE]",
        help=f"{', '.join([*FormatName, *MetricsFormat])}. Default: text on a terminal, concise in "
        "a pipe. Repeatable: others go to their FILE. json1: JSON documents of version 1, for one "
        "release. openmetrics: gauges for Prometheus; with --probe the age of unread records too.",
        show_default=False,
        autocompletion=completion.formats_and_metrics,
    ),
]
EveryOption = Annotated[
    str | None,
    typer.Option(
        "--every",
        metavar="DURATION",
        help="Inspect again in every such period and write all files anew, until Ctrl-C. Without a "
        "terminal: one line a round.",
        show_default=False,
    ),
]
PerShardOption = Annotated[
    bool,
    typer.Option(
        "--per-shard", help="With --format openmetrics: a series for each shard, not the worst."
    ),
]
PolicyOption = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="lossless|latest|at-timestamp=TIME|latest-at-start",
        help="Where each shard should start. TIME: 2026-09-22T09:14:00Z, -90m or @reshard. latest "
        "and at-timestamp read records (GetRecords). Default: lossless.",
        show_default=False,
        autocompletion=completion.policies,
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="Streams and consumers by name. Default: reshardctl.toml, "
        "here or in a folder above.",
        show_default=False,
    ),
]
ColorOption = Annotated[ColorMode, typer.Option("--color", help="When to use colour.")]
FormOption = Annotated[
    str | None,
    typer.Option(
        "--form", metavar="parquet|delta|json|csv|table",
        help="What the sink is, where its path does not tell.", show_default=False,
    ),
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="number=NAME",
        help="Which column is the number, sub, shard, key, stream, arrival or order. Repeatable; "
        "usual names are found.",
        show_default=False,
    ),
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master", metavar="URL", help="Spark's master. Default: local[*].", show_default=False
    ),
]
RemoteOption = Annotated[
    str | None,
    typer.Option(
        "--remote", metavar="sc://HOST", help="A Spark Connect server instead.",
        show_default=False,
    ),
]
PositionsOption = Annotated[
    str | None,
    typer.Option(
        "--positions", metavar="FILE",
        help="Move every shard in FILE to its position there: a file of export, or a snapshot.",
        show_default=False,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="SHARD=POSITION",
        help="Move one shard to a sequence number, TRIM_HORIZON, LATEST, SHARD_END or "
        "AT_TIMESTAMP:TIME. Repeatable.",
        show_default=False,
    ),
]
ShiftOption = Annotated[
    str | None,
    typer.Option(
        "--shift", metavar="-DURATION", help="Move every position back by that time, e.g. -2h.",
        show_default=False,
    ),
]
