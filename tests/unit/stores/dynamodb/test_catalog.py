"""The tables of an account, as they are listed.

ListTables gives at most 100 names a page, and the last of them to go on from (Amazon DynamoDB API
Reference, ListTables).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reshardctl.errors import CannotTell
from reshardctl.stores.dynamodb.catalog import Catalog
from tests.support.faults import DENIED, TIMEOUT_BEFORE, FaultySession
from tests.support.lease_server import session

KEY: dict[str, Any] = {
    "KeySchema": [{"AttributeName": "leaseKey", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "leaseKey", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
NAMES = [f"app-{n:03}" for n in range(201)]
CROWDED, EMPTY = "ap-south-1", "sa-east-1"
"""Regions in which no other test makes a table: all servers of a process hold the same ones."""


@pytest.fixture(scope="module")
def crowded(server: str) -> Iterator[str]:
    boto = session().client("dynamodb", endpoint_url=server, region_name=CROWDED)
    for name in NAMES:
        boto.create_table(TableName=name, **KEY)
    yield server
    for name in NAMES:
        boto.delete_table(TableName=name)


def catalog(url: str, boto_session: Any, region: str = CROWDED) -> Catalog:
    return Catalog(
        boto_session, region=region, endpoint_url=url, clock=lambda: 0.0, sleep=lambda _: None
    )


@pytest.fixture
def faulty() -> FaultySession:
    return FaultySession(session())


def test_names_are_those_of_every_page_each_asked_for_when_it_is_needed(crowded, faulty):
    names = catalog(crowded, faulty).names()
    assert faulty.calls == []
    assert [next(names) for _ in range(100)] == NAMES[:100] and len(faulty.calls) == 1
    assert list(names) == NAMES[100:]
    assert [asked for _, asked in faulty.calls] == [
        {}, {"ExclusiveStartTableName": NAMES[99]}, {"ExclusiveStartTableName": NAMES[199]},
    ]


def test_an_account_without_tables_has_no_names(server):
    assert list(catalog(server, session(), EMPTY).names()) == []


def test_a_page_that_is_lost_is_asked_for_again(crowded, faulty):
    faulty.faults[2] = TIMEOUT_BEFORE
    assert list(catalog(crowded, faulty).names()) == NAMES
    assert len(faulty.calls) == 4


def test_a_list_that_is_denied_in_its_middle_is_no_list(crowded, faulty):
    faulty.faults[2] = DENIED
    with pytest.raises(CannotTell, match="listing the tables: no permission for dynamodb:ListTab"):
        list(catalog(crowded, faulty).names())
