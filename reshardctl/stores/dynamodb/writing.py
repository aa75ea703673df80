"""One step as one guarded request, and what became of it when no answer came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reshardctl.aws.client import ATTEMPTS, CAUGHT
from reshardctl.model import Step, TableShape, table_of
from reshardctl.model.write_state import Get, Landed, uncertain
from reshardctl.model.write_state import landed as in_place
from reshardctl.stores.dynamodb.client import Client, pauses
from reshardctl.stores.dynamodb.conditions import request
from reshardctl.stores.dynamodb.faults import WAITED_FOR, Kind, kind_of

MAX_WRITES = 100
"""Writes of one TransactWriteItems, API reference."""


def write(
    client: Client, tables: Sequence[TableShape], step: Step, token: str, get: Get
) -> Landed:
    """Send a step until its fate is certain. client: of any of the tables.

    Raises AnswerLost when it stays unknown; CannotTell, Refused or UsageError when nothing of the
    step is in place and trying again would not help.
    """
    operation, arguments = _call(step, tables, token)
    named = {table_of(tables, write.key).name for write in step.writes}
    client = client.of_table(*(table.name for table in tables if table.name in named))
    lost = False
    for pause in (*pauses(), None):
        try:
            client.once(operation, **arguments)
            return Landed.DONE
        except CAUGHT as error:
            kind = kind_of(error)
            lost = lost or kind in (Kind.LOST, Kind.PENDING)
            if lost:
                landed = _look(step, kind, get)
                if landed is not None:
                    return landed
            elif kind is Kind.MOVED:
                return Landed.MOVED
            if kind not in WAITED_FOR or pause is None:
                raise _failure(client, step, operation, error, kind, lost) from None
        client.pause(pause)
    raise AssertionError("unreachable")


def _call(
    step: Step, tables: Sequence[TableShape], token: str
) -> tuple[str, dict[str, Any]]:
    if not 1 <= len(step.writes) <= MAX_WRITES:
        raise ValueError(f"a step of {len(step.writes)} writes; 1 to {MAX_WRITES} are possible")
    if len({write.key for write in step.writes}) < len(step.writes):
        raise ValueError("a step that writes one row twice")
    requests = [request(write, table_of(tables, write.key)) for write in step.writes]
    if len(requests) == 1:
        ((name, arguments),) = requests
        return f"{name.lower()}_item", arguments
    items = [{name: arguments} for name, arguments in requests]
    return "transact_write_items", {"TransactItems": items, "ClientRequestToken": token}


def _look(step: Step, kind: Kind, get: Get) -> Landed | None:
    """What a step's rows say after an answer was lost; `None`: not (yet) written, send it again.

    A lost request may land after we looked. The one sent again then meets its own values, which
    is why a condition that fails from now on is judged by the rows too.
    """
    if in_place(step, get):
        return Landed.DONE
    return Landed.MOVED if kind is Kind.MOVED else None


def _failure(
    client: Client, step: Step, operation: str, error: Exception, kind: Kind, lost: bool
) -> Exception:
    verb = {"put_item": "PutItem", "delete_item": "DeleteItem", "update_item": "UpdateItem"}
    action = f"dynamodb:{verb.get(operation, 'PutItem, UpdateItem or DeleteItem')}"
    failed = client.failure(error, kind, action, step.title, tries=ATTEMPTS, writing=True)
    return uncertain(failed) if lost else failed
