"""`reshardctl config`: shows and checks the configuration, prints IAM policies and tables."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from reshardctl.cli.help import Command, CommandGroup
from reshardctl.cli.options import Account, Config, Consumers, takes

config = typer.Typer(
    name="config", cls=CommandGroup, no_args_is_help=True, rich_markup_mode=None,
    help="What reshardctl.toml says, whether it holds together, the permissions that it needs, and "
    "its tables. "
    "Example: reshardctl config check --online",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME...", help="Consumers or streams; none is all.", show_default=False
    ),
]


class Group(StrEnum):
    """What an IAM policy allows."""

    INSPECT = "inspect"
    PROBE = "probe"
    FIX = "fix"
    TABLES = "tables"


class TableFormat(StrEnum):
    """What makes tables; and what a look at them is for."""

    CLI = "cli"
    TERRAFORM = "terraform"
    CLOUDFORMATION = "cloudformation"
    SQL = "sql"
    JSON = "json"


@config.command(cls=Command)
def show(config: Config = None) -> None:
    """The configuration as it takes effect, and where each value is said. Calls nothing.

    Example: reshardctl config show
    """
    from reshardctl.commands.configured import config_of
    from reshardctl.commands.target import Selection
    from reshardctl.config.effective import shown
    from reshardctl.console.output import show as printed

    printed(shown(config_of(Selection(config=config))))


@config.command(cls=Command)
@takes
def check(
    account: Account,
    names: NamesArgument = None,
    config: Config = None,
    online: Annotated[
        bool, typer.Option("--online", help="Look as well whether all can be reached and read.")
    ] = False,
) -> None:
    """Does the configuration hold together? Calls nothing without --online.

    Example: reshardctl config check --online
    """
    from reshardctl.cli.terminal import Terminal
    from reshardctl.commands.config import checked
    from reshardctl.commands.target import Selection
    from reshardctl.console.output import show as printed

    selection = Selection(account=account, config=config)
    lines, code = checked(names or (), selection, online, Terminal())
    printed(lines)
    raise typer.Exit(code)


@config.command(cls=Command)
def iam(
    names: NamesArgument = None,
    config: Config = None,
    wanted: Annotated[
        Group, typer.Option("--for", help="What the policy is to allow.")
    ] = Group.INSPECT,
    account: Annotated[
        str, typer.Option(metavar="ACCOUNT", help="Of streams and tables that no ARN names.")
    ] = "",
    whose: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="IDENTITY",
            help="A role's ARN, a profile's name, or 'environment': its policy alone, as JSON.",
        ),
    ] = None,
) -> None:
    """The least IAM policy for exactly these streams and tables. Calls nothing.

    Example: reshardctl config iam --for fix --account 123456789012
    """
    from reshardctl.commands.config import allowed
    from reshardctl.commands.target import Selection
    from reshardctl.console.output import show as printed

    printed(allowed(names or (), Selection(config=config), wanted, account, whose))


@config.command(cls=Command)
@takes
def tables(
    account: Account,
    consumers: Consumers = None,
    config: Config = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Look at the existing tables: is anything wrong with them?"),
    ] = False,
    form: Annotated[
        TableFormat | None,
        typer.Option(
            "--format", show_default=False,
            help="What is to make them, cli by default. With --check: json, for programs.",
        ),
    ] = None,
) -> None:
    """The DynamoDB tables of consumers, as their libraries make them. Makes none.

    Calls nothing without --check. Example: reshardctl config tables 'kcl://my-app?release=3.5'
    """
    from reshardctl.cli.terminal import Terminal
    from reshardctl.commands.tables import checked, printed
    from reshardctl.commands.target import Selection
    from reshardctl.console.output import show as shown
    from reshardctl.errors import UsageError
    from reshardctl.render.content.tables import looked, looked_json

    if form and check is not (form is TableFormat.JSON):
        raise UsageError(
            f"--format {form} says what is to make tables, and --check makes none" if check else
            "--format json is of a look at the tables",
            "leave --format out, or take json" if check else "add --check",
        )
    selection = Selection(account=account, config=config)
    if not check:
        shown(printed(consumers or (), selection, form or TableFormat.CLI, Terminal()))
        return
    found = checked(consumers or (), selection, Terminal())
    if form is TableFormat.JSON:
        document = looked_json(found.looks, found.exit)
        shown(json.dumps(document, indent=2, ensure_ascii=False).splitlines())
    else:
        shown(looked(found.looks))
    raise found.failure or typer.Exit(found.exit)
