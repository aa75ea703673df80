"""DynamoDB tables as a store: one step is one guarded request, also if no answer to it came.

Conditions repeat what was read. Names and values always go through placeholders: lease tables use
reserved words, and a store may hold attributes with any name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from reshardctl.at_once import together
from reshardctl.model import (
    AttributeValue,
    Create,
    Delete,
    Image,
    SideTable,
    Step,
    TableShape,
    Update,
    Write,
    table_of,
)
from reshardctl.model.images import check
from reshardctl.model.write_state import Get, WriteResult, applied
from reshardctl.stores.base import checked
from reshardctl.stores.dynamodb.client import Client, item_of, key_of, list_tables, sent
from reshardctl.stores.dynamodb.reading import Beside, Pace, Table

if TYPE_CHECKING:
    from boto3.session import Session


class _Placeholders(Struct):
    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, Any]] = field(default_factory=dict)

    def name(self, attribute: str) -> str:
        return self.names.setdefault(attribute, f"#n{len(self.names)}")

    def value(self, value: AttributeValue) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = sent(value)
        return placeholder

    def arguments(self) -> dict[str, Any]:
        named = {"ExpressionAttributeNames": {p: name for name, p in self.names.items()}}
        return named | ({"ExpressionAttributeValues": self.values} if self.values else {})


def request(write: Write, shape: TableShape) -> tuple[str, dict[str, Any]]:
    """The operation ("Put", "Update" or "Delete") and the arguments of a write.

    Together they are one entry of TransactWriteItems; with "Item" appended to the name, the
    operation of a single write. ValueError for a write that no plan may hold: an update of nothing,
    of the key, or of a row of another table.
    """
    places = _Placeholders()
    condition = _condition(write, shape.hash, places)
    arguments: dict[str, Any] = {"TableName": shape.name, "ConditionExpression": condition}
    key = key_of(shape, write.key)
    match write.change:
        case Create(attributes):
            if any(attributes.get(name, value) != value for name, value in key.items()):
                raise ValueError(f"{write.key}: the row to create carries another key")
            arguments["Item"] = key | item_of(attributes)
            return "Put", arguments | places.arguments()
        case Update() as update:
            arguments["Key"] = key
            arguments["UpdateExpression"] = _update(write.key, update, shape.names, places)
            return "Update", arguments | places.arguments()
        case Delete():
            arguments["Key"] = key
            return "Delete", arguments | places.arguments()


def _condition(write: Write, key: str, places: _Placeholders) -> str:
    if isinstance(write.change, Create):
        return f"attribute_not_exists({places.name(key)})"
    assert write.before is not None, "checked before"
    terms = [f"attribute_exists({places.name(key)})"]
    for attribute in write.guard:
        seen = write.before.attributes.get(attribute)
        name = places.name(attribute)
        held = f"attribute_not_exists({name})"
        terms.append(held if seen is None else f"{name} = {places.value(seen)}")
    return " AND ".join(terms)


def _update(row: str, update: Update, key: tuple[str, ...], places: _Placeholders) -> str:
    add = update.add or {}
    if not {*update.set, *update.remove, *add}.isdisjoint(key):
        raise ValueError(f"{row}: a row's key cannot be changed")
    setting = [f"{places.name(n)} = {places.value(v)}" for n, v in update.set.items()]
    removing = [places.name(name) for name in update.remove]
    adding = [f"{places.name(n)} {places.value({'N': str(by)})}" for n, by in add.items()]
    clauses = [("SET", setting), ("REMOVE", removing), ("ADD", adding)]
    if not any(parts for _, parts in clauses):
        raise ValueError(f"{row}: an update that changes nothing")
    return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses if parts)


MAX_WRITES = 100
"""Writes of one TransactWriteItems (API reference)."""


def write(
    client: Client, tables: Sequence[TableShape], step: Step, token: str, get: Get
) -> WriteResult:
    """Sends a step until its outcome is certain. client: of any of the tables.

    Raises AnswerLost when it stays unknown; CannotTell, Refused or UsageError when nothing of the
    step is in place and a retry would not help.
    """
    operation, arguments = _call(step, tables, token)
    named = {table_of(tables, write.key).name for write in step.writes}
    client = client.of_table(*(table.name for table in tables if table.name in named))
    verb = {"put_item": "PutItem", "delete_item": "DeleteItem", "update_item": "UpdateItem"}
    action = f"dynamodb:{verb.get(operation, 'PutItem, UpdateItem or DeleteItem')}"

    def send() -> WriteResult:
        client.once(operation, **arguments)
        return WriteResult.APPLIED

    return client.retry.write(
        send, lambda: applied(step, get),
        lambda error: client.failure(error, action, step.title, writing=True),
    )


def _call(
    step: Step, tables: Sequence[TableShape], token: str
) -> tuple[str, dict[str, Any]]:
    requests = [
        request(write, table_of(tables, write.key)) for write in checked(step, MAX_WRITES)
    ]
    if len(requests) == 1:
        ((name, arguments),) = requests
        return f"{name.lower()}_item", arguments
    items = [{name: arguments} for name, arguments in requests]
    return "transact_write_items", {"TransactItems": items, "ClientRequestToken": token}


class DynamoDb:
    """The tables of one application. Calls only the actions of `ACTIONS`.

    clock: monotonic seconds, sleep: waits that many; both only pace reads and retries.
    """

    max_writes = MAX_WRITES

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
        account: str = "",
    ) -> None:
        """Makes the clients and calls nothing yet. Raises UsageError without a region.

        session: a boto3 Session. store: its tables, the main one first; a name means one lease
        table. side: tables to read as well, if they exist. progress: called with the number of
        rows of a table that are read so far. search: region → the command that shows which tables
        there are, for a name that was mistyped. account: the twelve digits of the account whose
        tables they have to be, "" for that of the session.
        """
        self._shapes = (TableShape(store),) if isinstance(store, str) else tuple(store)
        check(self._shapes)
        self._client = Client(session, self._shapes[0].name, region, endpoint_url, sleep, search)
        self._beside = Beside(self._client, side, lambda: Pace(0, clock, sleep))
        self._tables = [
            Table(self._client.of_table(shape.name), shape, clock, sleep, progress, account)
            for shape in self._shapes
        ]

    def identity(self) -> Mapping[str, str]:
        """The main table's `arn`, `id` (if the service gives one) and `created` (UTC), read anew.

        Those of the other tables follow under their names (`app_clients.arn`). Raises UsageError
        for a table that is absent or has another key.
        """
        main, *others = together([table.identity for table in self._tables])
        identity = {"medium": "dynamodb"} | main
        for table, other in zip(self._tables[1:], others, strict=True):
            identity |= {f"{table.shape.name}.{n}": v for n, v in other.items()}
        return identity

    def made_at(self) -> float | None:
        """Unix seconds before which none of its rows was written; `None` if that is not known."""
        return self._tables[0].made_at()

    def read(self) -> list[Image]:
        """Every row in key order: consistent reads of all pages, and the side tables' rows."""
        jobs: list[Callable[[], list[Image]]] = [table.read for table in self._tables]
        jobs.append(self._beside.read)
        return sorted(chain.from_iterable(together(jobs)), key=lambda image: image.key)

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
        return write(self._client, self._shapes, step, token, self.get)
