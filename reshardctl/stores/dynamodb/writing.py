"""One step as one guarded request, and its outcome when no answer came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reshardctl.model import Step, TableShape, table_of
from reshardctl.model.write_state import Get, WriteResult, applied
from reshardctl.stores.dynamodb.client import Client
from reshardctl.stores.dynamodb.conditions import request
from reshardctl.stores.guards import checked

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
