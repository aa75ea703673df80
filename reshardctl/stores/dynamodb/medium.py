"""DynamoDB tables as a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from reshardctl.model import Image, SideTable, Step, TableShape, table_of
from reshardctl.model.images import check
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.dynamodb import reading, writing
from reshardctl.stores.dynamodb.beside import Beside
from reshardctl.stores.dynamodb.client import Client, list_tables
from reshardctl.stores.dynamodb.table import Table

if TYPE_CHECKING:
    from boto3.session import Session


class DynamoDb:
    """The tables of one application. Calls only the actions of `ACTIONS`.

    clock: monotonic seconds, sleep: waits that many; both only pace reads and retries.
    """

    max_writes = writing.MAX_WRITES

    def __init__(
        self,
        session: Session,
        store: str | Sequence[TableShape],
        *,
        region: str | None = None,
        endpoint_url: str | None = None,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        side: Sequence[SideTable] = (),
        progress: Callable[[int], None] = lambda _rows: None,
        search: Callable[[str], str] = list_tables,
    ) -> None:
        """Makes the clients and calls nothing yet. Raises UsageError without a region.

        session: a boto3 Session. store: its tables, the main one first; a name means one lease
        table. side: tables to read as well, if they exist. progress: called with the number of
        rows of a table that are read so far. search: region → the command that shows which tables
        there are, for a name that was mistyped.
        """
        self._shapes = (TableShape(store),) if isinstance(store, str) else tuple(store)
        check(self._shapes)
        self._client = Client(session, self._shapes[0].name, region, endpoint_url, sleep, search)
        self._beside = Beside(self._client, side, lambda: reading.Pace(0, clock, sleep))
        self._tables = [
            Table(self._client.of_table(shape.name), shape, clock, sleep, progress)
            for shape in self._shapes
        ]

    def identity(self) -> Mapping[str, str]:
        """The main table's `arn`, `id` (if the service gives one) and `created` (UTC), read anew.

        Those of the other tables follow under their names (`app_clients.arn`). Raises UsageError
        for a table that is absent or has another key.
        """
        main, *others = self._tables
        identity = {"medium": "dynamodb"} | main.identity()
        for other in others:
            identity |= {f"{other.shape.name}.{n}": v for n, v in other.identity().items()}
        return identity

    def made_at(self) -> float | None:
        """Unix seconds before which none of its rows was written; `None` if that is not known."""
        return self._tables[0].made_at()

    def read(self) -> list[Image]:
        """Every row in key order: consistent reads of all pages, and the side tables' rows."""
        rows = [image for table in self._tables for image in table.read()]
        return sorted([*rows, *self._beside.read()], key=lambda image: image.key)

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows as they are now."""
        rows: dict[str, Image | None] = dict.fromkeys(keys)
        for table in self._tables:
            own = [key for key in rows if table_of(self._shapes, key) is table.shape]
            rows |= table.get(own) if own else {}
        return rows

    def write(self, step: Step, token: str) -> WriteResult:
        """Makes all writes of the step or none, in whichever of the tables.

        token: at most 36 characters (ClientRequestToken).
        """
        return writing.write(self._client, self._shapes, step, token, self.get)
