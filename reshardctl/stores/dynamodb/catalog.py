"""The tables of an account: their keys, and samples of their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from reshardctl.model import Image
from reshardctl.stores.dynamodb.client import Client
from reshardctl.stores.dynamodb.reading import Pace, read_units

if TYPE_CHECKING:
    from boto3.session import Session

SAMPLE = 50
"""Rows of a sample. One sequence number in them is enough; a lease has 300 to 500 bytes."""

Key = tuple[tuple[str, str, str], ...]


class Catalog:
    """Lists and samples tables.

    Every call raises CannotTell if it is not permitted or not answered.
    """

    def __init__(
        self, session: Session, *, region: str | None, endpoint_url: str | None,
        clock: Callable[[], float], sleep: Callable[[float], None],
    ) -> None:
        """Calls nothing yet. clock: monotonic seconds. Raises UsageError without a region."""
        self._client = Client(session, "*", region, endpoint_url, sleep)
        self._clock, self._sleep = clock, sleep

    @property
    def region(self) -> str:
        """Where the tables are."""
        return self._client.region

    def names(self) -> Iterator[str]:
        """The name of every table of the account in this region, in the service's order.

        A page of names is asked for when those of the page before are used up.
        """
        start: dict[str, str] = {}
        while True:
            answer = self._client.read(
                "list_tables", "dynamodb:ListTables", "listing the tables", **start
            )
            yield from answer["TableNames"]
            if not answer.get("LastEvaluatedTableName"):
                return
            start = {"ExclusiveStartTableName": answer["LastEvaluatedTableName"]}

    def described(self, table: str) -> tuple[Key, float]:
        """A table's primary key, and its read units per second; 0 for on-demand."""
        answer = self._client.of_table(table).read(
            "describe_table", "dynamodb:DescribeTable", "looking at the table", TableName=table
        )["Table"]
        types = {a["AttributeName"]: a["AttributeType"] for a in answer["AttributeDefinitions"]}
        parts = [
            (part["KeyType"], part["AttributeName"], types.get(part["AttributeName"], "?"))
            for part in answer["KeySchema"]
        ]
        return tuple(sorted(parts)), read_units(answer)

    def sample(self, table: str, key: Key, units: float) -> list[Image]:
        """One page of at most SAMPLE rows, at a second's share of the table's capacity."""
        pace = Pace(units, self._clock, self._sleep)
        limit = min(SAMPLE, pace.page().get("Limit", SAMPLE))
        answer = self._client.of_table(table).read(
            "scan", "dynamodb:Scan", "reading a sample", TableName=table, Limit=limit,
            ReturnConsumedCapacity="TOTAL",
        )
        pace.spent(answer.get("ConsumedCapacity"))
        names = [name for _, name, _ in key]
        return [_image(item, names) for item in answer["Items"]]


def _image(item: dict[str, Any], names: list[str]) -> Image:
    parts = [next(iter(item[name].values())) for name in names]
    return Image(str(parts[-1]), item)
