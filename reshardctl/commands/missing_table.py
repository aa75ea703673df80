"""The command that shows which DynamoDB tables there are, for a name that was mistyped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from reshardctl.codec.argv import words
from reshardctl.commands.requests import Account
from reshardctl.render.words import command
from reshardctl.stores.dynamodb.client import list_tables


def search_of(stream: str, account: Account, store: Account) -> Callable[[str], str]:
    """Region of the tables → `reshardctl discover`, or AWS's command where that reaches too little.

    account, store: how the stream and the tables are reached; `discover` reaches both in one way.
    """
    reach, other = ((each.region, each.profile, each.role) for each in (account, store))
    if reach != other:
        return lambda region: list_tables(region, store.profile)
    urls = tuple(dict.fromkeys((*account.endpoints, *store.endpoints)))

    def discover(region: str) -> str:
        asked = replace(account, region=region, endpoints=urls, budget=None)
        return " ".join(command("discover", stream, *words(asked)))

    return discover
