"""Whole, consistent reads that leave the table's consumers their capacity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reshardctl.errors import CannotTell
from reshardctl.model import Image, TableShape
from reshardctl.stores.dynamodb.client import Client
from reshardctl.stores.dynamodb.values import image_of, key_of

BATCH = 100
"""Keys of one BatchGetItem (API reference)."""
SHARE = 0.5
"""The share of a table's provisioned reads per second that we use at most."""
ITEMS_A_UNIT = 8
"""Items assumed per read unit (4 KB, consistent): leases have 300 to 500 bytes."""


class Pace:
    """Keeps our reads below a share of the table's provisioned capacity."""

    def __init__(
        self, units: float, clock: Callable[[], float], sleep: Callable[[float], None]
    ) -> None:
        """Starts the pace. units: the table's read units per second; 0 if it is on-demand."""
        self.budget = units * SHARE
        self._clock = clock
        self._sleep = sleep
        self._free_from = clock()

    def page(self) -> dict[str, int]:
        """How many items to ask for: what about a second's budget reads."""
        return {"Limit": max(1, int(self.budget * ITEMS_A_UNIT))} if self.budget else {}

    def keys(self) -> int:
        """How many keys to ask for at once: each costs at least one unit."""
        return min(BATCH, max(1, int(self.budget))) if self.budget else BATCH

    def spent(self, consumed: list[Any] | Mapping[str, Any] | None) -> None:
        """Books the cost of an answer, and waits until that much was ours to use.

        consumed: the answer's ConsumedCapacity, of one table or a list.
        """
        if not self.budget or not consumed:
            return
        parts = consumed if isinstance(consumed, list) else [consumed]
        units = sum(float(part.get("CapacityUnits") or 0.0) for part in parts)
        now = self._clock()
        self._free_from = max(self._free_from, now) + units / self.budget
        self._sleep(max(0.0, self._free_from - now))


def read_units(table: Mapping[str, Any]) -> float:
    """A table's provisioned reads per second (DescribeTable); 0 if it is on-demand."""
    units = table.get("ProvisionedThroughput", {}).get("ReadCapacityUnits", 0)
    billing = table.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED")
    return float(units) if billing == "PROVISIONED" else 0.0


Progress = Callable[[int], None]
"""Called with the number of rows read so far."""


def scan(
    client: Client, shape: TableShape, pace: Pace, progress: Progress = lambda _rows: None
) -> list[Image]:
    """Every row in key order. CannotTell if any page fails: never a part of the table."""
    return _pages(client, shape, pace, "scan", "dynamodb:Scan", {}, progress)


def query(
    client: Client, shape: TableShape, value: str, pace: Pace,
    progress: Progress = lambda _rows: None,
) -> list[Image]:
    """Every row with this hash value, in key order."""
    asked = {
        "KeyConditionExpression": "#n0 = :v0",
        "ExpressionAttributeNames": {"#n0": shape.hash},
        "ExpressionAttributeValues": {":v0": {"S": value}},
    }
    return _pages(client, shape, pace, "query", "dynamodb:Query", asked, progress)


def _pages(
    client: Client, shape: TableShape, pace: Pace, operation: str, action: str,
    asked: Mapping[str, Any], progress: Progress,
) -> list[Image]:
    images: dict[str, Image] = {}
    start: dict[str, Any] = {}
    page = 1
    while True:
        answer = client.read(
            operation,
            action,
            f"reading page {page}",
            TableName=client.table,
            ConsistentRead=True,
            ReturnConsumedCapacity="TOTAL",
            **asked,
            **pace.page(),
            **start,
        )
        for item in answer["Items"]:
            image = image_of(item, shape)
            images[image.key] = image
        progress(len(images))
        pace.spent(answer.get("ConsumedCapacity"))
        last = answer.get("LastEvaluatedKey")
        if not last:
            return [images[name] for name in sorted(images)]
        if start.get("ExclusiveStartKey") == last:
            raise CannotTell(
                f"table {client.table}: the {operation} does not advance past {last}",
                "run this again later; an endpoint that is not AWS's may be defective",
            )
        start = {"ExclusiveStartKey": last}
        page += 1


def get(
    client: Client, shape: TableShape, keys: Sequence[str], pace: Pace
) -> dict[str, Image | None]:
    """The named rows as they are now; `None` for an absent one."""
    rows: dict[str, Image | None] = dict.fromkeys(keys)
    names = list(rows)
    while names:
        chunk, names = names[: pace.keys()], names[pace.keys() :]
        for item in _batch(client, shape, chunk, pace):
            image = image_of(item, shape)
            rows[image.key] = image
    return rows


def _batch(
    client: Client, shape: TableShape, keys: list[str], pace: Pace
) -> list[Mapping[str, Any]]:
    items: list[Mapping[str, Any]] = []
    asked = {
        client.table: {"Keys": [key_of(shape, name) for name in keys], "ConsistentRead": True}
    }
    for pause in (*client.retry.pauses, None):
        answer = client.read(
            "batch_get_item",
            "dynamodb:BatchGetItem",
            f"reading {len(keys)} rows",
            RequestItems=asked,
            ReturnConsumedCapacity="TOTAL",
        )
        items += answer["Responses"].get(client.table, [])
        pace.spent(answer.get("ConsumedCapacity"))
        asked = answer.get("UnprocessedKeys") or {}
        if not asked:
            return items
        if pause is not None:
            client.retry.sleep(pause)
    raise CannotTell(
        f"table {client.table}: rows stay unread, again and again: throttled",
        "run this again when the table is read less, or raise its read capacity",
    )
