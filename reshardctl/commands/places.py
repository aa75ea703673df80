"""Where the stream is, and where its table is: options, ARNs, reshardctl.toml, and saved plans.

`--region`, `--profile` and `--role-arn` are of the stream. They are of the table or bucket as well,
each unless the option of the same name with `--table-` is given. An ARN names its region, whatever
is set; an option that says another is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from reshardctl.codec.argv import words
from reshardctl.commands.requests import OF_TABLE, Account
from reshardctl.config.entries import Reach
from reshardctl.consumers.locator import Locator, region_of_table
from reshardctl.errors import UsageError, command_line
from reshardctl.render.words import command

if TYPE_CHECKING:
    from reshardctl.execution.plan_file import SavedPlan

ON_AWS = frozenset({"dynamodb", "s3files", "quickwit-s3"})
"""Media that are reached through AWS."""


def account_of(reach: Reach, overrides: Account) -> Account:
    """How to reach it: the command line takes precedence over the file, "" means the environment's.

    The options of the table alone are kept.
    """
    def chosen(given: str | None, kept: str) -> str | None:
        return (kept if given is None else given) or None

    endpoints = [f"{service}={url}" for service, url in reach.endpoints.items()]
    return replace(
        overrides, region=chosen(overrides.region, reach.region),
        profile=chosen(overrides.profile, reach.profile),
        role=chosen(overrides.role, reach.role), endpoints=(*endpoints, *overrides.endpoints),
    )


def table_of(
    account: Account, locator: Locator | None = None, reach: Reach | None = None
) -> Account:
    """How the table or the bucket of a consumer is reached.

    account: the options. reach: what reshardctl.toml says of the consumer.
    """
    given = (
        (account.table_region, account.region), (account.table_profile, account.profile),
        (account.table_role, account.role),
    )
    region, profile, role = (other if own is None else own for own, other in given)
    alone = Account(region, profile, role, budget=account.budget, endpoints=account.endpoints)
    reached = account_of(reach or Reach(), alone)
    return replace(reached, region=locator.region) if locator and locator.region else reached


def together(stream: Account, table: Account) -> Account:
    """The options that reach a stream and a table as these two do."""
    def own(of_table: str | None, of_stream: str | None) -> str | None:
        return None if of_table == of_stream else of_table or ""

    return replace(
        stream, endpoints=tuple(dict.fromkeys((*stream.endpoints, *table.endpoints))),
        table_region=own(table.region, stream.region),
        table_profile=own(table.profile, stream.profile), table_role=own(table.role, stream.role),
    )


def require_agreeing(account: Account, stream: str, locator: Locator | None = None) -> None:
    """UsageError for a region that contradicts an ARN.

    account: the options as they are given. stream: name or ARN.
    """
    from reshardctl.kinesis.target import region_in

    own = region_in(stream)
    if own and account.region and account.region != own:
        raise UsageError(
            f"stream {stream} is in {own}, and --region is {account.region}",
            "leave --region out, or if it is the table's: "
            + command_line("--table-region", account.region),
        )
    if locator and locator.region and account.table_region not in (None, locator.region):
        raise UsageError(
            f"table {locator.arn} is in {locator.region}, and --table-region is "
            f"{account.table_region or 'empty'}",
            "leave --table-region out",
        )


def require_table(account: Account, locator: Locator | None) -> None:
    """UsageError for options of a table or bucket that there is not.

    locator: of the consumer, `None` for a stream alone.
    """
    typed = words(account, OF_TABLE)
    if typed and (locator is None or not _on_aws(locator)):
        what = (
            "no consumer is named" if locator is None
            else f"the positions of {locator.text} are not on AWS"
        )
        raise UsageError(f"{what}, so {typed[0]} leads nowhere", f"leave {typed[0]} out")


def require_one_region(store: Account, locator: Locator, stream: str) -> None:
    """UsageError where it is open in which region the consumer's DynamoDB table is.

    The stream's ARN names the stream's. Another one that is merely set, in the environment or in a
    profile, is not taken for the table's: a table of the same name may be in both. store: how the
    table is reached.
    """
    from reshardctl.kinesis.target import region_in

    own = region_in(stream)
    if not own or store.region or not _in_dynamodb(locator):
        return
    other = region_set(store)
    if other is None:
        raise UsageError(
            f"no region is set for table {locator.target}",
            f"add --table-region {own}, that of the stream's ARN, or set AWS_DEFAULT_REGION",
        )
    if other != own:
        raise UsageError(
            f"stream {stream.rpartition('/')[2]} is in {own}, and the region that is set is "
            f"{other}: in which of them is the table of {locator.text}?",
            f"add --table-region {own} or --table-region {other}",
        )


def remembered(account: Account, plan: SavedPlan, name: str) -> Account:
    """The options of a command that applies or takes back a plan: its table stays in its region.

    name: of the file. UsageError for a `--table-region` that is another.
    """
    from reshardctl.kinesis.target import region_in

    arn = next((value for value in plan.store.values() if region_of_table(value)), "")
    region = region_of_table(arn)
    if not region:
        return account
    if account.table_region not in (None, region):
        raise UsageError(
            f"{name} is of table {arn}, and --table-region is {account.table_region or 'empty'}",
            "leave --table-region out",
        )
    reached = table_of(account)
    set_for_both = region_in(plan.stream) == region == region_set(reached)
    if reached.region == region or (reached.region is None and set_for_both):
        return account
    return replace(account, table_region=region)


def region_set(account: Account) -> str | None:
    """The region that an option, the environment or the profile sets. Calls nothing."""
    from reshardctl.aws.client import session_of

    region: str | None = session_of(account.profile, account.region, None, None).region_name
    return region


def search_of(stream: str, account: Account, store: Account) -> Callable[[str], str]:
    """Region of the tables → the `reshardctl discover` that lists them.

    account, store: how the stream and the tables are reached.
    """
    from reshardctl.kinesis.target import region_in

    alike = (account.region, account.profile) == (store.region, store.profile)

    def discover(region: str) -> str:
        own = replace(account, region=region) if alike and not region_in(stream) else account
        asked = replace(together(own, replace(store, region=region)), budget=None)
        return " ".join(command("discover", stream, *words(asked)))

    return discover


def _on_aws(locator: Locator) -> bool:
    return locator.medium in ON_AWS or _in_dynamodb(locator)


def _in_dynamodb(locator: Locator) -> bool:
    return locator.medium == "dynamodb" or locator.spec.log_table(locator.options) is not None
