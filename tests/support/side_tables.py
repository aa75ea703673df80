"""Side tables beside a lease table of the test servers, as KCL 3.0-3.4 names and keys them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.case import Case
from tests.support.case_rows import Item
from tests.support.case_tables import SIDE_KEYS


@contextmanager
def side_tables(boto: Any, table: str, case: Case) -> Iterator[None]:
    """The case's side tables are there. boto: a DynamoDB client. table: the lease table's name."""
    for name, items in case.side.items():
        key = SIDE_KEYS[name]
        boto.create_table(
            TableName=f"{table}-{name}", BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": key, "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"}],
        )
        for item in items:
            boto.put_item(TableName=f"{table}-{name}", Item=item)
    yield
    for name in case.side:
        boto.delete_table(TableName=f"{table}-{name}")


def side_items(boto: Any, table: str, case: Case) -> dict[str, list[Item]]:
    """What the side tables hold now."""
    return {
        name: sorted(boto.scan(TableName=f"{table}-{name}")["Items"], key=str)
        for name in case.side
    }
