"""One table of a store: its identity, its capacity and its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from typing import Any

from reshardctl.errors import UsageError
from reshardctl.model import Image, TableShape
from reshardctl.stores.dynamodb import reading
from reshardctl.stores.dynamodb.client import Client


class Table:
    """Reads one table, below half of its own capacity."""

    def __init__(
        self, client: Client, shape: TableShape, clock: Callable[[], float],
        sleep: Callable[[float], None], progress: Callable[[int], None],
    ) -> None:
        """Calls nothing yet. client: of this table. progress: called with the rows read so far."""
        self._client, self.shape = client, shape
        self._clock, self._sleep, self._progress = clock, sleep, progress
        self._pace: reading.Pace | None = None
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
            return reading.scan(self._client, self.shape, pace, self._progress)
        return reading.query(
            self._client, self.shape, self.shape.fixed, pace, self._progress
        )

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows as they are now."""
        return reading.get(self._client, self.shape, keys, self._paced())

    def _paced(self) -> reading.Pace:
        if self._pace is None:
            units = reading.read_units(self._describe())
            self._pace = reading.Pace(units, self._clock, self._sleep)
        return self._pace

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
