"""Options that several commands take; each is named as it is spelled.

Some are of the commands that write positions; others say what a sink is, and which Spark reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.main import get_click_type
from typer.models import ParameterInfo

from reshardctl.cli import completion
from reshardctl.console import destinations
from reshardctl.render.formats import BY_HAND, METRICS, REPORTS, formats_of

if TYPE_CHECKING:
    from reshardctl.commands.requests import Account as Account
    from reshardctl.commands.requests import Files as Files
else:  # loaded by a command that runs; what they stand for is in `PARTS`
    Account = Files = object

Consumer = Annotated[
    str,
    typer.Argument(
        metavar="CONSUMER",
        help="Where the positions are: a locator, as 'kcl://my-application?initial=TRIM_HORIZON', "
        "or a name in reshardctl.toml.",
        show_default=False,
        autocompletion=completion.consumers,
    ),
]
Consumers = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CONSUMER...",
        help="Where the positions are: locators, as 'kcl://my-application?initial=TRIM_HORIZON', "
        "or names of consumers or streams in reshardctl.toml.",
        show_default=False,
        autocompletion=completion.consumers,
    ),
]
Stream = Annotated[
    str | None,
    typer.Option(
        "--stream", help="Name or ARN of the stream.", show_default=False,
        autocompletion=completion.streams,
    ),
]
Region = Annotated[str | None, typer.Option("--region", help="AWS region.")]
Profile = Annotated[str | None, typer.Option("--profile", help="AWS profile.")]
RoleArn = Annotated[str | None, typer.Option("--role-arn", help="Role to assume first.")]
TableRegion = Annotated[
    str | None,
    typer.Option(
        "--table-region", metavar="REGION", help="Region of the table or S3 bucket "
        "with the positions, if not --region. A table's ARN names its own.",
    ),
]
TableProfile = Annotated[
    str | None,
    typer.Option(
        "--table-profile", metavar="PROFILE",
        help="Profile for it; '' for the environment's credentials.",
    ),
]
TableRoleArn = Annotated[
    str | None,
    typer.Option(
        "--table-role-arn", metavar="ARN",
        help="Role to assume for it; '' for none.",
    ),
]
EndpointUrl = Annotated[
    list[str] | None,
    typer.Option(
        "--endpoint-url",
        metavar="SERVICE=URL",
        help="Endpoint of kinesis, dynamodb, sts or s3; repeatable. A bare URL is for all.",
    ),
]
Accept = Annotated[
    str | None,
    typer.Option(
        "--accept",
        metavar="skip=12m,reread=3h,disorder",
        help="The limit of what a plan may cost a shard; what costs more is left alone. Without it "
        "fix asks; --yes alone takes reread=1h and no disorder.",
    ),
]
Probe = Annotated[
    bool | None,
    typer.Option(
        "--probe/--no-probe", help="Read a few records (GetRecords) to turn guesses into facts."
    ),
]
FailOn = Annotated[
    destinations.FailOn | None,
    typer.Option(
        "--fail-on",
        help="Exit 1 from this severity on.  [default: error, or as reshardctl.toml says]",
    ),
]
Forgive = Annotated[
    destinations.Forgiving | None,
    typer.Option(
        "--fail-on",
        help="With --dry-run: end with 0, not 1, although there is something to do.",
    ),
]
ProbeBudget = Annotated[
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
Count = Annotated[
    bool,
    typer.Option("--count", help="Read and count the records that are skipped or read again."),
]
Shards = Annotated[
    list[str] | None,
    typer.Option(
        "--shards",
        metavar="4,5|4-9|ID|FILE",
        help="Only these shards: by number, range or id. Or a file: the stream, as aws kinesis "
        "list-shards or describe-stream printed it. Repeatable; - is stdin.",
        show_default=False,
        autocompletion=completion.shards_and_files,
    ),
]
ListedShards = Annotated[
    list[str] | None,
    typer.Option(
        "--shards", metavar="FILE", show_default=False, autocompletion=completion.files,
        help="What aws kinesis list-shards or describe-stream printed, in place of the stream. "
        "Repeatable, for pages; - is stdin.",
    ),
]
Summary = Annotated[
    Path | None,
    typer.Option(
        "--summary", metavar="FILE", show_default=False,
        help="What aws kinesis describe-stream-summary printed, beside list-shards.",
    ),
]
Rows = Annotated[
    list[str] | None,
    typer.Option(
        "--rows", metavar="[TABLE=]FILE", show_default=False, autocompletion=completion.files,
        help="The positions as printed, in place of their store: aws dynamodb scan, an export to "
        "S3, CSV; redis-cli, psql --csv, mysql --batch; tar of a checkpoint directory. Repeatable.",
    ),
]
Taken = Annotated[
    str | None,
    typer.Option(
        "--taken", metavar="TIME", show_default=False,
        help="When these files were made. Default: when the newest was written.",
    ),
]
Rule = Annotated[
    list[str] | None,
    typer.Option(
        "--rule", metavar="CODE", help="Only findings of this rule, e.g. RSH203; repeatable.",
        show_default=False, autocompletion=completion.rules,
    ),
]
NotRule = Annotated[
    list[str] | None,
    typer.Option(
        "--not-rule", metavar="CODE", help="No findings of this rule; repeatable.",
        show_default=False, autocompletion=completion.rules,
    ),
]
Wait = Annotated[
    str | None,
    typer.Option(
        "--wait", metavar="DURATION", help="Wait so long for --until; exit 3 if it takes longer.",
        show_default=False,
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="settled|shards=N|crossed|past=TIME",
        help="With --wait: the stream has settled (default), with N open shards; or this consumer "
        "has ended every parent and started every child, or processed all that arrived before TIME "
        "(reads records).",
        show_default=False,
    ),
]
Watch = Annotated[
    str | None,
    typer.Option(
        "--watch",
        metavar="DURATION",
        help="Judge the running consumer as well: what is renewed and gets on in that time.",
        show_default=False,
    ),
]
IfReshard = Annotated[
    list[str] | None,
    typer.Option(
        "--if-reshard",
        metavar="N|split=SHARD[@KEY]|merge=A,B",
        help="Forecast: the first start after that reshard, were it made now. Repeatable; nothing "
        "is resharded.",
        show_default=False,
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Every write, full ids.")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Write there, not to stdout.")
]
Format = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="NAME[=FILE]",
        help=f"{', '.join(REPORTS)}. Default: text. Repeatable: others go to their FILE. concise: "
        "a line for each finding. diff: the rows that are written, for reviews. With --dry-run of "
        f"fix and rebuild also {', '.join(BY_HAND)}: a script that writes the plan.",
        show_default=False,
        autocompletion=completion.formats,
    ),
]
MetricsFormat = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="NAME[=FILE]",
        help=f"{', '.join([*REPORTS, *METRICS])}. "
        "Default: text. Repeatable: others go to their FILE. concise: a line for each finding. "
        "openmetrics: gauges for Prometheus; with --probe the age of unread records too.",
        show_default=False,
        autocompletion=completion.formats_and_metrics,
    ),
]


def one_format(says: str, *views: str) -> Any:
    """`--format` of a command that writes one. says: its help. views: those of its document."""
    known = {form.name: form.value for form in formats_of(*views)}
    names = StrEnum("Names", known)  # type: ignore[misc]  # of this command alone
    kind = get_click_type(annotation=names, parameter_info=ParameterInfo())
    return typer.Option("--format", help=says, click_type=kind)


Every = Annotated[
    str | None,
    typer.Option(
        "--every",
        metavar="DURATION",
        help="Inspect again in every such period and write all files anew, until Ctrl-C. Without a "
        "terminal: one line a round.",
        show_default=False,
    ),
]
PerShard = Annotated[
    bool,
    typer.Option(
        "--per-shard", help="With --format openmetrics: a series for each shard, not the worst."
    ),
]
Policy = Annotated[
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
Config = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="Streams and consumers by name. Default: reshardctl.toml, "
        "here or in a folder above.",
        show_default=False,
    ),
]
Color = Annotated[destinations.ColorMode, typer.Option("--color", help="When to use colour.")]
Skipped = Annotated[
    Path | None,
    typer.Option(
        "--skipped", metavar="FILE",
        help="Save the records that the next start skips to a new file, as intervals by shard, for "
        "a batch of kinesis-lineage.",
        show_default=False,
    ),
]
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


REACH = {
    "region": Region, "profile": Profile, "role": RoleArn, "table_region": TableRegion,
    "table_profile": TableProfile, "table_role": TableRoleArn, "endpoints": EndpointUrl,
}
"""The options that say how AWS is reached, by their fields of an `Account`."""
PARTS = {"account": REACH, "files": {"summary": Summary, "rows": Rows, "taken": Taken}}
"""Parameters of commands that stand for several options, and the field of each."""
_OF_TABLE = frozenset({"table_region", "table_profile", "table_role"})
"""Those of which an empty value says something: not as the stream."""


def takes(verb: Callable[..., None]) -> Callable[..., None]:
    """The command as typer reads it: in place of a parameter of `PARTS` it has its options."""
    hints = get_type_hints(verb, include_extras=True)
    if not hints.keys() & PARTS.keys():
        return verb
    typed: dict[str, tuple[Any, object]] = {}
    for name, each in signature(verb).parameters.items():
        if name in PARTS:
            typed |= {part: (kind, None) for part, kind in PARTS[name].items()}
        else:
            typed[name] = (hints[name], each.default)

    @wraps(verb)
    def command(**given: Any) -> None:
        from reshardctl.commands.requests import Account, Files

        made = {"account": Account, "files": Files}
        for part in hints.keys() & PARTS.keys():
            fields = {
                name: value for name in PARTS[part]
                if (value := given.pop(name)) or (value == "" and name in _OF_TABLE)
            }
            given[part] = made[part](**fields)
        verb(**given)

    command.__annotations__ = {name: kind for name, (kind, _) in typed.items()}
    command.__signature__ = Signature([  # type: ignore[attr-defined]
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in typed.items()
    ])
    return command
