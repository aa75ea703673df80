"""Whole, consistent reads of tables that leave the tables' consumers their capacity.

Side tables are read if they exist and may be read. They cannot be written: a write's table is
always one of the store's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC
from typing import Any

from msgspec.structs import replace

from reshardctl.errors import CannotTell, UsageError
from reshardctl.model import Image, SideTable, TableShape
from reshardctl.stores.dynamodb.client import Client, Denied, image_of, key_of

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


def check_account(arn: str, account: str) -> None:
    """UsageError for a table (by its ARN) of another account. account: "" for any."""
    if account and account != arn.split(":")[4]:
        raise UsageError(
            f"the table's ARN names account {account}, and these credentials reach {arn}",
            "check --table-profile and --table-role-arn, or name the table alone",
        )


class Table:
    """Reads one table, below half of its own capacity."""

    def __init__(
        self, client: Client, shape: TableShape, clock: Callable[[], float],
        sleep: Callable[[float], None], progress: Callable[[int], None], account: str = "",
    ) -> None:
        """Calls nothing yet. client: of this table. progress: called with the rows read so far.

        account: whose table it has to be, "" for any.
        """
        self._client, self.shape, self._account = client, shape, account
        self._clock, self._sleep, self._progress = clock, sleep, progress
        self._pace: Pace | None = None
        self._described: Mapping[str, Any] | None = None

    def identity(self) -> dict[str, str]:
        """The table's `arn`, `id` (if the service gives one) and `created` (UTC), read anew.

        Raises UsageError for a table that is absent or has another key.
        """
        table = self._described = self._describe()
        created = table["CreationDateTime"].astimezone(UTC).isoformat(timespec="milliseconds")
        identity = {"arn": table["TableArn"], "created": created.replace("+00:00", "Z")}
        return identity | ({"id": table["TableId"]} if "TableId" in table else {})

    def made_at(self) -> float | None:
        """Unix seconds at which the table was made empty, as it was described last.

        `None` if it may hold rows that are older: it was restored from a backup, or has replicas
        (RestoreSummary and Replicas of DescribeTable).
        """
        table = self._described or self._describe()
        if table.get("RestoreSummary") or table.get("Replicas"):
            return None
        made: float = table["CreationDateTime"].timestamp()
        return made

    def read(self) -> list[Image]:
        """Every row that belongs to the store, in key order."""
        pace = self._paced()
        if self.shape.fixed is None:
            return scan(self._client, self.shape, pace, self._progress)
        return query(
            self._client, self.shape, self.shape.fixed, pace, self._progress
        )

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows as they are now."""
        return get(self._client, self.shape, keys, self._paced())

    def _paced(self) -> Pace:
        if self._pace is None:
            units = read_units(self._described or self._describe())
            self._pace = Pace(units, self._clock, self._sleep)
        return self._pace

    def _describe(self) -> Mapping[str, Any]:
        answer = self._client.read(
            "describe_table",
            "dynamodb:DescribeTable",
            "looking at the table",
            TableName=self._client.table,
        )
        table: Mapping[str, Any] = answer["Table"]
        check_account(table["TableArn"], self._account)
        self._check_key(table)
        return table

    def _check_key(self, table: Mapping[str, Any]) -> None:
        types = {a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]}
        parts = sorted((k["KeyType"], k["AttributeName"]) for k in table["KeySchema"])
        wanted = list(zip(("HASH", "RANGE"), self.shape.names, strict=False))
        if parts == wanted and all(types.get(name) == "S" for name in self.shape.names):
            return
        theirs = ", ".join(f"{kind} {name} ({types.get(name, '?')})" for kind, name in parts)
        ours = ", ".join(f"{kind} {name} (S)" for kind, name in wanted)
        raise UsageError(
            f"table {self._client.table} in {self._client.region} holds no {self.shape.holds}: "
            f"its key is {theirs}, and that of a table of {self.shape.holds} is {ours}",
            self._client.search,
        )


Paced = Callable[[], Pace]


class Beside:
    """The side tables of one table. If the first is absent, the others are not looked for."""

    def __init__(self, client: Client, tables: Sequence[SideTable], unpaced: Paced) -> None:
        """Calls nothing. unpaced: makes a pace without a limit; side tables are small."""
        self._client, self._tables, self._unpaced = client, tables, unpaced
        self._absent = False

    def read(self) -> list[Image]:
        """The side tables' rows as `<table>/<key>`.

        A table that may not be read gives `<table>/` alone, with the reason as its attribute
        `unread`. Raises CannotTell when reading fails for another reason.
        """
        found: list[Image] = []
        for table in () if self._absent else self._tables:
            try:
                rows = list(self._rows(table))
            except UsageError:
                self._absent = table is self._tables[0]
                break
            except Denied as denied:
                found.append(Image(f"{table.name}/", {"unread": {"S": denied.what}}))
                break
            found += [replace(row, key=f"{table.name}/{row.key}") for row in rows]
        return found

    def _rows(self, table: SideTable) -> Iterator[Image]:
        client = self._client.of_table(table.name)
        shape = TableShape(table.name, hash=table.key)
        if not table.rows:
            yield from scan(client, shape, self._unpaced())
            return
        for key in table.rows:
            answer = client.read(
                "get_item", "dynamodb:GetItem", f"reading {key}", TableName=table.name,
                Key={table.key: {"S": key}}, ConsistentRead=True,
            )
            if "Item" in answer:
                yield image_of(answer["Item"], shape)
