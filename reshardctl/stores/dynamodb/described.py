"""What DynamoDB says of a table beside its rows: its description, time to live and backups.

Rows are read only where the time to live is on, to see which of them it deletes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from reshardctl.errors import CannotTell
from reshardctl.model import TableShape
from reshardctl.model.tables import Capacity, SeenIndex, SeenTable, TableKey, key_of
from reshardctl.stores.dynamodb.client import Client
from reshardctl.stores.dynamodb.reading import Pace, check_account, read_units, scan

if TYPE_CHECKING:
    from boto3.session import Session

ON = frozenset({"ENABLED", "ENABLING"})
"""Of TimeToLiveStatus and PointInTimeRecoveryStatus."""


class Described:
    """Asks DynamoDB about tables. Writes nothing."""

    def __init__(
        self, session: Session, *, region: str | None, endpoint_url: str | None,
        clock: Callable[[], float], sleep: Callable[[float], None],
        search: Callable[[str], str], account: str = "",
    ) -> None:
        """Calls nothing yet. clock: monotonic seconds. Raises UsageError without a region.

        search: region → the command that shows which tables there are. account: whose tables they
        have to be, "" for anybody's.
        """
        self._account = account
        self._client = Client(session, "*", region, endpoint_url, sleep, search)
        self._clock, self._sleep = clock, sleep

    @property
    def region(self) -> str:
        """Where the tables are."""
        return self._client.region

    def table(self, shape: TableShape) -> tuple[SeenTable, list[CannotTell]]:
        """A table, and what could not be told of it.

        Raises NoStore for a table that is absent, UsageError for one of another account, and
        CannotTell if it is not described.
        """
        client = self._client.of_table(shape.name)
        answer = _asked(client, "DescribeTable", "looking at the table")["Table"]
        check_account(answer["TableArn"], self._account)
        seen = _seen(answer, self.region)
        failures: list[CannotTell] = []
        try:
            seen = replace(seen, recovery=_recovery(client))
        except CannotTell as failure:
            failures.append(failure)
        try:
            ttl = _ttl(client)
            seen = replace(seen, ttl=ttl)
            if ttl and seen.key == key_of(shape):
                pace = Pace(read_units(answer), self._clock, self._sleep)
                rows = scan(client, shape, pace)
                seen = replace(seen, expiring=tuple(
                    row.key for row in rows if "N" in row.attributes.get(ttl, {})
                ))  # fmt: skip
        except CannotTell as failure:
            seen = replace(seen, ttl=None)
            failures.append(failure)
        return seen, failures


def _asked(client: Client, action: str, where: str) -> Mapping[str, Any]:
    operation = "".join(f"_{c.lower()}" if c.isupper() else c for c in action).lstrip("_")
    return client.read(operation, f"dynamodb:{action}", where, TableName=client.table)


def _recovery(client: Client) -> bool:
    answer = _asked(client, "DescribeContinuousBackups", "asking for its backups")
    told = answer["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
    return told.get("PointInTimeRecoveryStatus") in ON


def _ttl(client: Client) -> str:
    answer = _asked(client, "DescribeTimeToLive", "asking for its time to live")
    told = answer["TimeToLiveDescription"]
    return str(told.get("AttributeName", "")) if told["TimeToLiveStatus"] in ON else ""


def _seen(table: Mapping[str, Any], region: str) -> SeenTable:
    types = {a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]}
    billing = table.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED")
    provisioned = billing == "PROVISIONED"
    stream = table.get("StreamSpecification", {})
    return SeenTable(
        table["TableName"], region, _key(table["KeySchema"], types), table["TableStatus"],
        int(table.get("ItemCount", 0)), _capacity(table) if provisioned else None,
        tuple(
            SeenIndex(
                index["IndexName"], _key(index["KeySchema"], types),
                index.get("IndexStatus", "ACTIVE"),
                index.get("Projection", {}).get("ProjectionType", "?"),
                _capacity(index) if provisioned else None,
            )
            for index in table.get("GlobalSecondaryIndexes", ())
        ),
        stream=stream.get("StreamViewType", "on") if stream.get("StreamEnabled") else "",
        protected=bool(table.get("DeletionProtectionEnabled")),
        replicas=tuple(replica["RegionName"] for replica in table.get("Replicas", ())),
    )


def _key(parts: Iterable[Mapping[str, str]], types: Mapping[str, str]) -> TableKey:
    found = [(p["KeyType"], p["AttributeName"], types.get(p["AttributeName"], "?")) for p in parts]
    return tuple(sorted(found))


def _capacity(part: Mapping[str, Any]) -> Capacity:
    units = part.get("ProvisionedThroughput", {})
    return Capacity(int(units.get("ReadCapacityUnits", 0)), int(units.get("WriteCapacityUnits", 0)))
