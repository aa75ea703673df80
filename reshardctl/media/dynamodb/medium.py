"""A DynamoDB table as a medium."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

from reshardctl.errors import UsageError
from reshardctl.media.base import Landed
from reshardctl.media.dynamodb import reading, writing
from reshardctl.media.dynamodb.beside import Beside
from reshardctl.media.dynamodb.client import Client
from reshardctl.model import Image, SideTable, Step

if TYPE_CHECKING:
    from boto3.session import Session


class DynamoDb:
    """One table whose rows have one string key. Nothing but the named actions is ever called.

    clock: monotonic seconds, sleep: waits that many; both only pace reads and retries.
    """

    max_writes = writing.MAX_WRITES

    def __init__(
        self,
        session: Session,
        table: str,
        *,
        region: str | None = None,
        endpoint_url: str | None = None,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        key: str = "leaseKey",
        side: Sequence[SideTable] = (),
    ) -> None:
        """session: a boto3 Session. side: tables to read along, where they are there.

        Raises UsageError without a region; calls nothing yet.
        """
        self._client = Client(session, table, region, endpoint_url, sleep)
        self._beside = Beside(self._client, side, lambda: reading.Pace(0, clock, sleep))
        self._key = key
        self._clock = clock
        self._sleep = sleep
        self._pace: reading.Pace | None = None

    def identity(self) -> Mapping[str, str]:
        """The table's `arn`, `id` (where the service gives one) and `created` (UTC), asked anew.

        Raises UsageError for a table that is absent or has another key.
        """
        table = self._describe()
        created = table["CreationDateTime"].astimezone(UTC).isoformat(timespec="milliseconds")
        found = {
            "medium": "dynamodb",
            "arn": table["TableArn"],
            "created": created.replace("+00:00", "Z"),
        }
        return found | ({"id": table["TableId"]} if "TableId" in table else {})

    def read(self) -> list[Image]:
        """Every row in key order: a consistent scan of all pages, and the side tables' rows."""
        rows = reading.scan(self._client, self._key, self._paced())
        return sorted([*rows, *self._beside.read()], key=lambda image: image.key)

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows as they are now."""
        return reading.get(self._client, self._key, keys, self._paced())

    def write(self, step: Step, token: str) -> Landed:
        """All writes of the step or none. token: at most 36 characters (ClientRequestToken)."""
        return writing.write(self._client, self._key, step, token, self.get)

    def _paced(self) -> reading.Pace:
        if self._pace is None:
            self._pace = self._pace_of(self._describe())
        return self._pace

    def _pace_of(self, table: Mapping[str, Any]) -> reading.Pace:
        units = table.get("ProvisionedThroughput", {}).get("ReadCapacityUnits", 0)
        billing = table.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED")
        provisioned = units if billing == "PROVISIONED" else 0
        return reading.Pace(provisioned, self._clock, self._sleep)

    def _describe(self) -> Mapping[str, Any]:
        answer = self._client.read(
            "describe_table",
            "dynamodb:DescribeTable",
            "looking at the table",
            TableName=self._client.table,
        )
        table: Mapping[str, Any] = answer["Table"]
        self._check_key(table)
        return table

    def _check_key(self, table: Mapping[str, Any]) -> None:
        types = {a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]}
        found = [(k["KeyType"], k["AttributeName"]) for k in table["KeySchema"]]
        if found == [("HASH", self._key)] and types.get(self._key) == "S":
            return
        keys = ", ".join(f"{kind} {name} ({types.get(name, '?')})" for kind, name in sorted(found))
        raise UsageError(
            f"table {self._client.table} in {self._client.region} holds no leases: its key is "
            f"{keys}, a lease table's is HASH {self._key} (S)",
            f"aws dynamodb list-tables --region {self._client.region}",
        )
