"""Side tables: read if they exist and may be read, and never written.

They cannot be written: a write's table is always one of the store's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from reshardctl.errors import UsageError
from reshardctl.model import Image, SideTable, TableShape
from reshardctl.stores.dynamodb import reading
from reshardctl.stores.dynamodb.client import Client, Denied
from reshardctl.stores.dynamodb.values import image_of

Paced = Callable[[], reading.Pace]


class Beside:
    """The side tables of one table. If the first is absent, the others are not looked for."""

    def __init__(self, client: Client, tables: Sequence[SideTable], unpaced: Paced) -> None:
        """Calls nothing. unpaced: makes a pace without a limit; side tables are small."""
        self._client, self._tables, self._unpaced = client, tables, unpaced
        self._absent = False

    def read(self) -> Iterator[Image]:
        """The side tables' rows as `<table>/<key>`.

        A table that may not be read gives `<table>/` alone, with the reason as its attribute
        `unread`. Raises CannotTell when reading fails for another reason.
        """
        for table in () if self._absent else self._tables:
            try:
                rows = list(self._rows(table))
            except UsageError:
                self._absent = table is self._tables[0]
                return
            except Denied as denied:
                yield Image(f"{table.name}/", {"unread": {"S": denied.what}})
                return
            yield from (replace(row, key=f"{table.name}/{row.key}") for row in rows)

    def _rows(self, table: SideTable) -> Iterator[Image]:
        client = self._client.of_table(table.name)
        shape = TableShape(table.name, hash=table.key)
        if not table.rows:
            yield from reading.scan(client, shape, self._unpaced())
            return
        for key in table.rows:
            answer = client.read(
                "get_item", "dynamodb:GetItem", f"reading {key}", TableName=table.name,
                Key={table.key: {"S": key}}, ConsistentRead=True,
            )
            if "Item" in answer:
                yield image_of(answer["Item"], shape)
