"""How an order for a shard becomes a write of its row: KCL's own attributes, and what guards them.

Apart from `encode.py`, which says what has to change and in which order.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from reshardctl.consumers.kcl.fingerprints import Shape
from reshardctl.consumers.kcl.flaws import COUNTER, COUNTER_WITH_ROOM, PARENTS
from reshardctl.consumers.kcl.keys import Named, key_of
from reshardctl.consumers.kcl.mended_attributes import mended
from reshardctl.consumers.kcl.positions import wrong_parents
from reshardctl.consumers.kcl.releases import Traits
from reshardctl.consumers.kcl.rows import LATEST, SHARD_END, TRIM_HORIZON, LeaseTable, Row
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    AttributeValue,
    Create,
    Cut,
    Delete,
    Rank,
    ShardId,
    Update,
    Write,
)

GUARDED = (
    "checkpoint", "checkpointSubSequenceNumber", "leaseCounter", "leaseOwner", "checkpointOwner",
    "ownerSwitchesSinceCheckpoint", "pendingCheckpoint", "parentShardId", "childShardIds",
)
_PENDING = ("pendingCheckpoint", "pendingCheckpointSubSequenceNumber", "pendingCheckpointState")
_ZERO: AttributeValue = {"N": "0"}


@dataclass(frozen=True, slots=True)
class Form:
    """How rows are written: for which release, and with which optional attributes."""

    traits: Traits
    shape: Shape


@dataclass(frozen=True, slots=True)
class Order:
    """What one shard's row should become. `at` is `None` where only attributes change."""

    shard: ShardId
    at: Cut | None
    why: str
    delete: bool = False


def spelling(cut: Cut) -> tuple[str, int]:
    """A cut as checkpoint and sub-sequence number; a start by time has no spelling in a row."""
    if cut.rank is Rank.INSIDE:
        assert not cut.by_time, "a time is resolved to a number before it is written"
        return cut.text or str(cut.number), cut.sub
    return {Rank.START: TRIM_HORIZON, Rank.TIP: LATEST, Rank.DONE: SHARD_END}[cut.rank], 0


def write_of(
    lineage: Lineage, table: LeaseTable, ordered: Collection[ShardId], order: Order,
    form: Form,
) -> Write:
    """The write that carries out one order. ordered: every shard that is written."""
    row = table.rows.get(order.shard)
    if order.delete:
        assert row is not None
        guard = tuple(row.image.attributes)
        return Write(row.image.key, Delete(), row.image, order.why, guard)
    named = lineage[order.shard].parents if order.shard in lineage else ()
    parents = sorted(
        p for p in named
        if p in lineage or p in table.rows or p in ordered
    )
    if row is None:
        assert order.at is not None
        key = key_of(table.named, order.shard)
        return Write(key, _new(lineage, table, order, parents, form), None, order.why)
    change = _move(lineage, row, order, parents, form)
    flawed = (flaw.name for flaw in row.flaws if flaw.name not in GUARDED)
    return Write(row.image.key, change, row.image, order.why, (*GUARDED, *flawed))


def _new(
    lineage: Lineage, table: LeaseTable, order: Order, parents: list[ShardId], form: Form
) -> Create:
    assert order.at is not None
    listed = order.shard in lineage
    position, sub = spelling(order.at)
    item: dict[str, AttributeValue] = {
        "leaseKey": {"S": key_of(table.named, order.shard)},
        **_names(table.named, order.shard),
        "checkpoint": {"S": position},
        "leaseCounter": _ZERO,
        "ownerSwitchesSinceCheckpoint": _ZERO,
    }
    if form.shape.subs or sub:
        item["checkpointSubSequenceNumber"] = {"N": str(sub)}
    if form.shape.audited and listed:
        shard = lineage[order.shard]
        item["startingHashKey"] = {"S": str(shard.hash_start)}
        item["endingHashKey"] = {"S": str(shard.hash_end)}
    if parents:
        item["parentShardId"] = {"SS": parents}
    children = lineage.children(order.shard) if form.shape.audited else ()
    if position == SHARD_END and children:
        item["childShardIds"] = {"SS": sorted(children)}
    if table.marks_entities:
        item["entityType"] = {"S": "LEASE"}
    return Create(item)


def _names(named: Named | None, shard: ShardId) -> dict[str, AttributeValue]:
    """What DynamoDBMultiStreamLeaseSerializer reads a lease's stream and shard from."""
    return {"streamName": {"S": named.text}, "shardId": {"S": shard}} if named else {}


def _move(
    lineage: Lineage, row: Row, order: Order, parents: list[ShardId], form: Form
) -> Update:
    mends = mended(lineage, row)
    values: dict[str, AttributeValue] = {
        **mends.values, "ownerSwitchesSinceCheckpoint": _ZERO,
    }
    remove = ["leaseOwner", "checkpointOwner", *mends.remove]
    if order.at is not None:
        position, sub = spelling(order.at)
        values["checkpoint"] = {"S": position}
        if form.shape.subs or sub:
            values["checkpointSubSequenceNumber"] = {"N": str(sub)}
        remove += _PENDING
        children = lineage.children(order.shard) if form.shape.audited else ()
        if position == SHARD_END and children:
            values["childShardIds"] = {"SS": sorted(children)}
    over = row.ended if order.at is None else order.at == DONE
    wrong = wrong_parents(lineage, row)
    named = sorted({*parents, *(row.parents - wrong)})
    if named and (row.parents_mistyped or wrong or not set(parents) <= row.parents) and not over:
        values[PARENTS] = {"SS": named}
    elif wrong and not over:
        remove.append(PARENTS)
    add = {} if row.has_flaw(COUNTER) else {COUNTER: 1}
    if row.counter is not None and row.counter > COUNTER_WITH_ROOM:
        values[COUNTER], add = _ZERO, {}  # one more, here or in KCL, could not be read
    present = dict.fromkeys(n for n in remove if n in row.image.attributes and n not in values)
    return Update(values, tuple(present), add)
