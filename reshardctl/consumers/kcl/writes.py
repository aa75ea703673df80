"""How orders for shards become writes of rows.

Attributes that some release cannot read are mended in rows that are written anyway, so that the
next release, and any later one, reads the row. Values known from the lineage are written anew,
numbers that a file turned into strings get their type back, and attributes that KCL does not need,
or writes itself, are removed.

While the application runs, two kinds of writes are safe; both were run on working KCL 1.15.3,
2.7.2, 3.1.3 and 3.5.1, November 2026. An eviction, as KCL 3.x does it
(DynamoDBLeaseRefresher.evictLease), with a new position: KCL reads the position once per
acquisition, so the owner has to lose the lease; its next renewal or checkpoint fails on the
counter, and the next owner starts at the written position. And the creation of an absent row, which
every worker takes for a lease without owner. If only the position is edited, the owner's next
checkpoint overwrites it (the same runs).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.consumers.kcl.beside import Shape
from reshardctl.consumers.kcl.flaws import (
    CHILDREN,
    COUNTER,
    COUNTER_WITH_ROOM,
    HASH_END,
    HASH_START,
    KIND,
    LEASE,
    OLD_OWNER,
    PARENTS,
    PENDING,
    PENDING_STATE,
    PENDING_SUB,
    SHARD_NAME,
    STREAM_NAME,
    SUB,
    SWITCHES,
    THROUGHPUT,
    meant,
)
from reshardctl.consumers.kcl.processed import processed, wrong_parents
from reshardctl.consumers.kcl.releases import App, Traits
from reshardctl.consumers.kcl.rows import LATEST, SHARD_END, TRIM_HORIZON, LeaseTable, Row
from reshardctl.consumers.kcl.table import Named, key_of, split
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    AttributeValue,
    Create,
    Cut,
    Delete,
    Frontier,
    Rank,
    ShardId,
    Step,
    TargetFrontier,
    Update,
    Write,
    in_birth_order,
    short,
)

_COUNTERS = frozenset({COUNTER, SWITCHES, SUB})
_KNOWN = frozenset({PARENTS, CHILDREN, HASH_START, HASH_END})
_DISPENSABLE = frozenset({THROUGHPUT, OLD_OWNER, PENDING_STATE})
_PENDING = (PENDING, PENDING_SUB, PENDING_STATE)


class Mended(Struct, frozen=True):
    """Attributes to set, and those to remove."""

    values: Mapping[str, AttributeValue]
    remove: tuple[str, ...]


def mended(lineage: Lineage, row: Row) -> Mended:
    """The changes that make the row readable to every release; none where it is."""
    flawed = {flaw.name for flaw in row.flaws}
    if flawed & {HASH_START, HASH_END}:
        flawed |= {HASH_START, HASH_END}  # each may be valid alone, and both be no range
    values = {name: value for name in sorted(flawed) if (value := _value(lineage, row, name))}
    remove = sorted((flawed - values.keys()) & (_KNOWN | _DISPENSABLE))
    if PENDING_SUB in flawed - values.keys():
        remove += [name for name in _PENDING if name not in remove]
    return Mended(values, tuple(remove))


def _value(lineage: Lineage, row: Row, name: str) -> AttributeValue | None:
    """What the attribute should be, `None` where it is not known."""
    item, (named, shard) = row.image.attributes, split(row.image.key)
    number = meant(item, name)
    if name in _COUNTERS:
        return {"N": str(number or 0)}
    if name in _KNOWN:
        return _known(lineage, shard, name)
    plain: dict[str, AttributeValue] = {
        KIND: {"S": LEASE}, STREAM_NAME: {"S": named.text if named else ""},
        SHARD_NAME: {"S": str(shard)},
    }
    if name == PENDING_SUB and number is not None:
        return {"N": str(number)}
    return plain.get(name)


def _known(lineage: Lineage, shard: ShardId, name: str) -> AttributeValue | None:
    """The attribute's value by the lineage."""
    if shard not in lineage:
        return None
    listed = lineage[shard]
    if name in (HASH_START, HASH_END):
        return {"S": str(listed.hash_start if name == HASH_START else listed.hash_end)}
    members = sorted(map(str, listed.parents if name == PARENTS else lineage.children(shard)))
    return {"SS": members} if members else None


PROVEN = {1: (1, 14), 2: (2, 3), 3: (3, 0)}
"""Generation → the first release that synchronises and takes leases like the one that was run."""

CREATED = "the row is absent, and a worker takes up a new lease like any without an owner"
EVICTED = (
    "an eviction as the library's own: the owner loses the lease, the next one begins here, and "
    "what was read and not checkpointed comes again"
)


def marked(
    lineage: Lineage, table: LeaseTable, steps: Sequence[Step], want: TargetFrontier, app: App
) -> list[Step]:
    """The same steps; every write says whether it is live, and why or why not."""
    judge = _Judge(lineage, table, steps, want, app)
    return [replace(step, writes=tuple(map(judge.mark, step.writes))) for step in steps]


class _Judge:
    def __init__(
        self,
        lineage: Lineage,
        table: LeaseTable,
        steps: Sequence[Step],
        want: TargetFrontier,
        app: App,
    ) -> None:
        self._lineage, self._table, self._want, self._app = lineage, table, want, app
        self._processed: Frontier = lineage.memo(processed, lineage, table, app)
        self._step = {
            split(write.key)[1]: number
            for number, step in enumerate(steps) for write in step.writes
        }

    def mark(self, write: Write) -> Write:
        """The write with its mark."""
        against = self._against(write)
        if against:
            return replace(write, live=False, running=against)
        fits = CREATED if isinstance(write.change, Create) else EVICTED
        return replace(write, live=True, running=fits)

    def _against(self, write: Write) -> str:
        """Why the write is unsafe while a worker runs; "" if it is safe."""
        shard = split(write.key)[1]
        if not proven(self._app.traits):
            return f"not tried on a running KCL {self._app.traits.release}"
        if self._table.named:
            return "not tried on a running application of several streams"
        match write.change:
            case Delete():
                return "whoever reads the shard would lose its lease and its position"
            case Create():
                return self._against_place(shard) or self._against_new(shard)
            case Update() as update:
                row = self._table.rows[shard]
                return (
                    _against_update(update, row) or self._against_place(shard)
                    or self._against_move(shard)
                )

    def _against_place(self, shard: ShardId) -> str:
        if shard not in self._lineage:
            return "the shard is not listed any more"
        want = self._want[shard]
        if want.rank is Rank.DONE:
            return "it ends a shard that may still be read"
        if want.rank is Rank.TIP:
            return "LATEST is the tip at some later moment, not now"
        if not want <= self._processed[shard].lo:
            return "it skips records"
        return ""

    def _against_new(self, shard: ShardId) -> str:
        """Why a new row is unsafe; it is safe if the lease never existed or is surely lost."""
        span = self._processed[shard]
        if span.lo != span.hi and not self._named_by_an_ended_parent(shard):
            return "its lease may have been there before: records may be read again"
        for below in in_birth_order(self._lineage.descendants(shard)):
            if below in self._table.rows:
                return f"shard {short(below)} below it has a lease and would not wait for it"
        return self._against_parts(shard)

    def _named_by_an_ended_parent(self, shard: ShardId) -> bool:
        """Whether an ended parent names the shard's lease, which is therefore lost.

        The former owner lost the lease at its next renewal, and its checkpoint fails on the new
        row's counter: what it had read is read again, which the plan's cost includes.
        """
        rows = (self._table.rows.get(parent) for parent in self._lineage.parents(shard))
        return any(row is not None and row.ended and shard in row.children for row in rows)

    def _against_move(self, shard: ShardId) -> str:
        """Why moving the lease back is unsafe: a descendant that does not wait for it."""
        held = {shard}
        for below in in_birth_order(self._lineage.descendants(shard)):
            row = self._table.rows.get(below)
            if row is None:
                continue
            if row.position != TRIM_HORIZON or held.isdisjoint(row.parents):
                return f"shard {short(below)} after it may be read already, and would not wait"
            held.add(below)
        return self._against_parts(shard)

    def _against_parts(self, shard: ShardId) -> str:
        """Why the write is unsafe if an ancestor is written in another transaction, before it."""
        here = self._step[shard]
        for above in in_birth_order(self._lineage.ancestors(shard)):
            if self._step.get(above, here) != here:
                return f"shard {short(above)} before it is written in another transaction"
        return ""


def proven(traits: Traits) -> bool:
    """Whether both kinds of write were run on a working library of this generation."""
    version = tuple(int(part) for part in traits.release.split(".") if part.isdigit())
    return bool(version) and version >= PROVEN.get(version[0], (version[0] + 1,))


def _against_update(update: Update, row: Row) -> str:
    """Why moving this row is unsafe while a worker runs, by the row and the update alone."""
    position = update.set.get("checkpoint")
    if position is None or PARENTS in {*update.set, *update.remove}:
        return "it changes more than a position, or something else"
    if row.ended:
        return "nobody has seen a running worker take up a finished lease again"
    if position == {"S": SHARD_END}:
        return "it ends a shard that may still be read"
    if row.flaws or row.position is None:
        return "the row cannot be read by every worker"
    if row.hand_off_from is not None:
        return f"a hand-off from {row.hand_off_from} is in progress"
    if row.pending is not None:
        return "a checkpoint that the application has prepared would go with it"
    return ""


GUARDED = (
    "checkpoint", "checkpointSubSequenceNumber", "leaseCounter", "leaseOwner", "checkpointOwner",
    "ownerSwitchesSinceCheckpoint", "pendingCheckpoint", "parentShardId", "childShardIds",
)
_ZERO: AttributeValue = {"N": "0"}


class Form(Struct, frozen=True):
    """How rows are written: for which release, and with which optional attributes."""

    traits: Traits
    shape: Shape


class Order(Struct, frozen=True):
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
