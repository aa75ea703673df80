"""A case's table where it is more than one stream's leases: multi-stream tables, side tables.

Cases with any of these keys are in ``cases/kcl-tables``; the rest of the form is that of
``tests/support/case.py``::

    [multi]                       # the application is a multi-stream one (KCL 2.3 and later)
    epoch = 1795219200            # in its keys; default: the stream's creation time

    [[multi.others]]              # another stream of the same application
    stream = "123456789012:invoices:1795000000"     # account:name:epoch
    [[multi.others.rows]]         # as [[rows]]; a checkpoint is a sentinel or a literal number,
    shard = 0                     # and parents and hash keys are there only if they are named
    checkpoint = "TRIM_HORIZON"

    [[side]]                      # one item of a side table of KCL 3.0-3.4, in DynamoDB JSON
    table = "CoordinatorState"    # behind "<table>-": CoordinatorState | WorkerMetricStats
    item = { key = { S = "Migration3.0" }, cv = { S = "CLIENT_VERSION_3X" } }

``Case.items()`` and ``Case.with_writes()`` give the rows as a multi-stream application stores them
(full key, ``streamName``, ``shardId``), those of the other streams with them; ``Case.identifier``
is the stream as ``StreamIdentifier.multiStreamInstance`` takes it, "" in a single-stream case;
``Case.key(shard)`` is a row's key, and ``Case.side`` maps a side table's name to its items.
``delivers`` and ``writes`` speak of the case's own stream; every other row has to stay as it is.
The real application is started with a MultiStreamTracker over ``Case.identifier`` and with
NoLeaseDeletionStrategy; it holds the leases of other streams and asks Kinesis for them in vain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.case_rows import Item, item_of
from tests.support.case_stream import only

SIDE_KEYS = {"CoordinatorState": "key", "WorkerMetricStats": "wid"}
"""Side table, behind the application's name → its partition key (KCL 3.1.3)."""


@dataclass(frozen=True, slots=True)
class Multi:
    """``identifier``: the case's own stream; ``others``: rows of other streams, as stored."""

    identifier: str
    others: tuple[Item, ...]


def multi_of(table: dict[str, Any], stream: dict[str, Any]) -> Multi:
    """The ``[multi]`` table of a case."""
    only(table, {"epoch", "others"}, "multi")
    epoch = table.get("epoch", stream["created"])
    rows = []
    for other in table.get("others", []):
        only(other, {"stream", "rows"}, "multi.others")
        rows += [stored(item_of(row, {}), other["stream"]) for row in other["rows"]]
    return Multi(f"{stream['account']}:{stream['name']}:{epoch}", tuple(rows))


def stored(item: Item, identifier: str) -> Item:
    """A row as a multi-stream application stores it (DynamoDBMultiStreamLeaseSerializer)."""
    shard = item["leaseKey"]["S"]
    names = {"streamName": {"S": identifier}, "shardId": {"S": shard}}
    return {**names, **item, "leaseKey": {"S": f"{identifier}:{shard}"}}


def unnamed(item: Item) -> Item:
    """A row without the attributes that ``stored`` writes: a write to it makes them whole."""
    return {name: value for name, value in item.items() if name not in ("streamName", "shardId")}


def side_of(entries: list[dict[str, Any]]) -> Mapping[str, tuple[Item, ...]]:
    """The ``[[side]]`` tables of a case, by name."""
    found: dict[str, tuple[Item, ...]] = {}
    for entry in entries:
        only(entry, {"table", "item"}, "side")
        name, item = entry["table"], entry["item"]
        if SIDE_KEYS[name] not in item:
            raise ValueError(f"an item of {name} has no {SIDE_KEYS[name]}")
        found[name] = (*found.get(name, ()), item)
    return found
