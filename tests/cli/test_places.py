"""What the options of a stream's and of a table's place mean, without a call."""

from __future__ import annotations

from typing import Any

import pytest

from reshardctl.codec.argv import words
from reshardctl.commands.connect import ports_of
from reshardctl.commands.observer import SILENT
from reshardctl.commands.places import account_of, table_of, together
from reshardctl.commands.requests import Account
from reshardctl.config.entries import Reach
from reshardctl.consumers.locator import parse

REACHED = [
    (Account(), (None, None, None)),
    (Account("a", "p", "r"), ("a", "p", "r")),
    (Account("a", "p", "r", "b"), ("b", "p", "r")),
    (Account("a", "p", "r", table_profile="q"), ("a", "q", "r")),
    (Account("a", "p", "r", table_role="s"), ("a", "p", "s")),
    (Account("a", "p", "r", "b", "q", "s"), ("b", "q", "s")),
    (Account("a", "p", "r", "", "", ""), (None, None, None)),
    (Account(table_region="b"), ("b", None, None)),
]


@pytest.mark.parametrize(("account", "expected"), REACHED, ids=str)
def test_what_the_table_is_reached_with(account, expected):
    table = table_of(account)
    assert (table.region, table.profile, table.role) == expected
    stream = account_of(Reach(), account)
    assert (stream.region, stream.profile, stream.role) == (
        account.region, account.profile, account.role
    )


@pytest.mark.parametrize("stream", [Account(), Account("a", "p", "r"), Account("b", None, "r")])
@pytest.mark.parametrize("table", [Account(), Account("a", "q", "r"), Account("c", "p", None)])
def test_what_reaches_two_places_is_typed_as_one(stream, table):
    """A command with these words reaches both again."""
    typed = words(together(stream, table))
    given = {name.removeprefix("--"): value for name, value in zip(typed[::2], typed[1::2],
                                                                   strict=True)}  # fmt: skip
    again = Account(
        given.get("region"), given.get("profile"), given.get("role-arn"),
        given.get("table-region"), given.get("table-profile"), given.get("table-role-arn"),
    )
    for there, wanted in ((table_of(again), table), (account_of(Reach(), again), stream)):
        assert (there.region, there.profile, there.role) == (
            wanted.region, wanted.profile, wanted.role
        )


@pytest.mark.parametrize("locator", ["spark+s3://lake/jobs", "quickwit+s3://lake/indexes"])
def test_a_bucket_is_in_the_region_of_the_table(locator):
    account = Account("us-east-1", table_region="eu-west-1")
    ports: Any = ports_of(account, parse(locator), SILENT, "orders")
    assert ports.kinesis.region == "us-east-1"
    assert ports.store._blobs._boto.meta.region_name == "eu-west-1"
