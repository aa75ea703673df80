"""Writes the target frontier as lease rows; what has to change, and in which order.

Only rows whose simulated start differs are changed, each with a condition. Rows have the shape that
KCL writes, with the attributes of the table's other rows. A move is KCL 3.x's own eviction with a
new position, which 1.x and 2.x take for an unowned lease (run on 1.15.3, 2.7.2 and 3.5.1). In every
step, children come before the end of their parent.

An application that lost all of its leases gets them at the frontier that a sink proves. Every
listed shard gets a lease, ended ones included: an ended parent without a lease would be refilled
where its child has none, and a merge ends only if both of its parents have a lease (runs of KCL
2.7.2 and 3.5.1, Nov 2026). KCL itself deletes the finished ones in time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from reshardctl.consumers.kcl.behaviour import fails_unasked, simulate_start
from reshardctl.consumers.kcl.beside import shape_of
from reshardctl.consumers.kcl.flaws import LAST_COUNTER, OLD_OWNER
from reshardctl.consumers.kcl.processed import cut_of, wrong_parents
from reshardctl.consumers.kcl.releases import App
from reshardctl.consumers.kcl.rows import LeaseTable, Row, parse
from reshardctl.consumers.kcl.steps import TRANSACTION, in_steps
from reshardctl.consumers.kcl.sync import swept
from reshardctl.consumers.kcl.writes import Form, Order, marked, write_of
from reshardctl.consumers.sequence_numbers import unborn
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    Cause,
    Cut,
    ShardId,
    Step,
    TargetFrontier,
    WillRead,
    WontRead,
    Write,
    after,
    awaited,
    in_birth_order,
    index_of,
)
from reshardctl.model.images import batched


def encode(
    lineage: Lineage, table: LeaseTable, want: TargetFrontier, app: App, leave: Collection[ShardId]
) -> list[Step]:
    """Steps after which KCL reads from the target frontier. leave: shards not to be written."""
    orders = _Orders(lineage, table, want, app, leave).all()
    form = Form(app.traits, shape_of(table, app.traits))
    writes = {o.shard: write_of(lineage, table, orders, o, form) for o in orders.values()}
    if missed := _missed(lineage, table, want, app, leave, writes):
        orders |= missed
        writes = {o.shard: write_of(lineage, table, orders, o, form) for o in orders.values()}
    steps = in_steps(lineage, table, writes, app)
    return marked(lineage, table, steps, want, app)


def _missed(
    lineage: Lineage, table: LeaseTable, want: TargetFrontier, app: App, leave: Collection[ShardId],
    writes: Mapping[ShardId, Write],
) -> dict[ShardId, Order]:
    """Orders for absent rows that become wrong only after `writes`.

    KCL's hash-range auditor would have refilled them, but refills other holes once some are mended.
    """
    step = Step("", tuple(writes.values()))
    mended = parse(after(table.images(), [step]), named=table.named)
    again = _Orders(lineage, mended, want, app, leave).all() if writes else {}
    return {shard: order for shard, order in again.items() if shard not in mended.rows}


def bootstrap(lineage: Lineage, want: TargetFrontier, app: App) -> list[Step]:
    """First rows for an application of one stream that has none, at the target frontier."""
    chosen = [
        s for s in lineage
        if want[s] != DONE and all(want[p] == DONE for p in lineage.parents(s))
    ]
    table = LeaseTable({}, {}, (), False, False)
    writes = begun(lineage, table, want, app, chosen, "first lease of a new application")
    return in_steps(lineage, table, writes, app)


def begun(
    lineage: Lineage,
    table: LeaseTable,
    want: TargetFrontier,
    app: App,
    chosen: Collection[ShardId],
    why: str,
) -> dict[ShardId, Write]:
    """Creates a row at the target frontier for each of `chosen`, none of which has one.

    And a finished one for each expired parent without which a merge would never end.
    """
    orders = {s: Order(s, want[s], why) for s in chosen}
    for shard in chosen:
        for other in _expired_beside(lineage, table, shard, app) if want[shard] != DONE else ():
            orders[other] = Order(other, DONE, f"the shard has expired; {shard} merges with it")
    form = Form(app.traits, shape_of(table, app.traits))
    return {s: write_of(lineage, table, orders, o, form) for s, o in orders.items()}


class _Orders:
    """Collects what has to change, in one pass over the shards, parents first."""

    def __init__(
        self, lineage: Lineage, table: LeaseTable, want: TargetFrontier, app: App,
        leave: Collection[ShardId],
    ) -> None:
        self._lineage, self._table, self._want, self._leave = lineage, table, want, leave
        self._app = app
        self._fates = lineage.memo(simulate_start, lineage, table, app).fates
        self._orders: dict[ShardId, Order] = {}
        self._coming: set[ShardId] = set()
        """Absent rows that the library itself creates after the orders are carried out."""
        self._with_lease = set(table.rows)
        """Shards with a row, now or after the orders, or with an order for it."""

    def all(self) -> dict[ShardId, Order]:
        """Every order, by shard."""
        for shard in self._table.rows:
            if shard not in self._leave and shard not in self._lineage:
                self._unlisted(shard)
        for shard in self._lineage:
            row = self._table.rows.get(shard)
            if row is None:
                if self._parent_will_create(shard):
                    self._coming.add(shard)
                    self._with_lease.add(shard)
                elif self._want[shard] is DONE:
                    continue  # processed, as most of a long history is
            if shard not in self._leave and shard not in self._orders:
                if row is not None:
                    self._with_row(row)
                elif not self._comes_right(shard):
                    self._create(shard, self._fates[shard].why)
        for shard in in_birth_order(self._with_lease):
            if shard in self._lineage:
                self._complete_merge(shard)
        for shard in reversed(self._lineage):
            if shard in self._orders or shard in self._table.rows:
                self._put_parents_first(shard)
        for row in self._table.rows.values():
            if row.shard not in self._orders and row.shard not in self._leave:
                self._free_of_new_leases(row)
        return self._orders

    def _unlisted(self, shard: ShardId) -> None:
        fate, row = self._fates[shard], self._table.rows[shard]
        if self._app.traits.syncs_fully and not swept(self._lineage, row):
            why = "KCL takes a lease without a shard for a reshard under way while its parents are"
            self._order(Order(shard, None, f"{why} listed, and does not start", delete=True))
        elif unborn(self._lineage, shard):
            why = "a lease of a shard that does not exist yet would be taken for its end"
            self._order(Order(shard, None, why, delete=True))
        elif isinstance(fate, WontRead) and fate.cause is not Cause.UNREADABLE:
            self._order(Order(shard, DONE, f"the shard is gone, and {fate.why}"))
        elif isinstance(fate, WontRead):
            fails = fails_unasked(self._lineage, row, self._app)
            at = DONE if fails else None
            self._order(Order(shard, at, fate.why))
        elif wrong := self._waits_wrongly(row):
            self._order(Order(shard, DONE, f"the shard is gone, and {_waits_for(wrong)}"))

    def _order(self, order: Order) -> None:
        self._orders[order.shard] = order
        self._with_lease.add(order.shard)

    def _with_row(self, row: Row) -> None:
        shard = row.shard
        want, fate = self._want[shard], self._fates[shard]
        if want == DONE and not row.ended:
            self._end(shard, fate.why)
        elif self._misplaced(row, want):
            self._order(Order(shard, want, fate.why))
        elif isinstance(fate, WontRead) and fate.cause is Cause.UNREADABLE and self._flawed(row):
            self._order(Order(shard, None, fate.why))
        elif self._mistyped(row) or self._ungated(row):
            self._order(Order(shard, None, "its parents are not named on it"))
        elif wrong := self._waits_wrongly(row):
            self._order(Order(shard, None, _waits_for(wrong)))

    def _flawed(self, row: Row) -> bool:
        """Whether the release leaves the row out, or assigns it to nobody."""
        unread = row.unread(self._app.traits) or row.counter == LAST_COUNTER
        return bool(unread) or row.has_flaw(OLD_OWNER)

    def _waits_wrongly(self, row: Row) -> list[ShardId]:
        """Unfinished shards that the row waits for although they are no parents of its shard.

        And those that it may wait for: their leases may be created before a worker takes this one.
        """
        held = awaited(self._fates[row.shard])
        wrong = wrong_parents(self._lineage, row) if not row.ended else ()
        return sorted(p for p in wrong if p in held or self._may_come(p, row))

    def _may_come(self, shard: ShardId, row: Row) -> bool:
        """Whether the library may create the shard's lease while the row's waits for a worker."""
        if shard in self._table.rows or shard not in self._lineage:
            return False
        return row.shard not in self._lineage or isinstance(self._fates[shard], WillRead)

    def _misplaced(self, row: Row, want: Cut) -> bool:
        fate = self._fates[row.shard]
        if isinstance(fate, WillRead):
            return not fate.at.exact or fate.at.lo != want
        if want == DONE:
            return False
        if fate.cause is Cause.UNREADABLE and row.understood:
            return cut_of(row, self._app) != want
        return fate.cause not in (Cause.NO_POSITION, Cause.MERGE_WAITS)

    def _mistyped(self, row: Row) -> bool:
        """Whether an unfinished lease names its parents with the wrong attribute type."""
        there = self._lineage.parents(row.shard) if not row.ended else ()
        return row.parents_mistyped and bool(there)

    def _ungated(self, row: Row) -> bool:
        """Whether a parent with unread records is missing on an unfinished row."""
        if row.ended or self._want[row.shard] == DONE:
            return False
        return any(
            parent not in row.parents
            and self._want.get(parent, DONE) != DONE
            for parent in self._lineage[row.shard].parents
        )

    def _end(self, shard: ShardId, why: str) -> None:
        """Ends a lease, but only together with leases for its children."""
        missing = [
            child for child in self._lineage.children(shard)
            if child not in self._table.rows and self._want[child] != DONE
        ]
        if self._lineage.is_open(shard) or not self._leave_allows(missing):
            return
        self._order(Order(shard, DONE, why))
        for child in missing:
            self._create(child, "its parent's lease is marked as finished")

    def _leave_allows(self, shards: Collection[ShardId]) -> bool:
        return not any(shard in self._leave for shard in shards)

    def _comes_right(self, shard: ShardId) -> bool:
        """Whether an absent row needs no write: processed, or KCL creates it as wanted."""
        want, fate = self._want[shard], self._fates[shard]
        if shard in self._coming:
            return want == START
        if want == DONE:
            return True
        if isinstance(fate, WontRead) or fate.at.lo != want or not fate.at.exact:
            return False
        return not self._rests_on_a_bad_refill(shard)

    def _parent_will_create(self, shard: ShardId) -> bool:
        """Whether the end of a parent, with a row now or with one ordered, will create it."""
        if self._app.traits.syncs_fully:
            return self._made_below_a_lease(shard)
        above = self._lineage.parents(shard)
        return not self._with_lease.isdisjoint(above) and any(map(self._makes_children, above))

    def _made_below_a_lease(self, shard: ShardId) -> bool:
        """Whether the synchronisation at the start creates it, at the target frontier."""
        fate = self._fates[shard]
        if not isinstance(fate, WillRead) or fate.cause is not Cause.CREATED_AT_PARENT_END:
            return False
        return fate.at.exact and fate.at.lo == self._want[shard]

    def _makes_children(self, shard: ShardId) -> bool:
        order, row = self._orders.get(shard), self._table.rows.get(shard)
        if order is not None and order.at is not None:
            return order.at != DONE
        if row is not None:
            return not row.ended
        return shard in self._coming and self._want[shard] != DONE

    def _rests_on_a_bad_refill(self, shard: ShardId) -> bool:
        """Whether it is created only because an ancestor is refilled at a wrong position."""
        for ancestor in (shard, *self._lineage.ancestors(shard)):
            fate = self._fates[ancestor]
            if not isinstance(fate, WillRead) or fate.cause is not Cause.REFILLED:
                continue
            if not fate.at.exact or fate.at.lo != self._want[ancestor]:
                return True
        return False

    def _create(self, shard: ShardId, why: str) -> None:
        if shard not in self._orders and shard not in self._leave:
            self._order(Order(shard, self._want[shard], why))

    def _put_parents_first(self, shard: ShardId) -> None:
        """Creates an unread parent's lease: a child waits only for parents that have one."""
        order, row = self._orders.get(shard), self._table.rows.get(shard)
        if order is None and (row is None or row.ended):
            return
        if self._want[shard] == DONE:
            return
        for parent in self._lineage.parents(shard):
            if parent not in self._table.rows and self._want[parent] != DONE:
                self._create(parent, f"{shard} waits only for parents that have a lease")

    def _complete_merge(self, shard: ShardId) -> None:
        """Creates the lease without which an unfinished parent of a merge cannot end.

        Where ends do not depend on it, a lease ordered for the child removes the proof that the
        other parent is processed. One that has expired gets a finished lease, with whatever else
        of the merge may be written: no listing names it by itself. A parent that is left alone
        waits for the other one too, if it is read.
        """
        row, children = self._table.rows.get(shard), self._lineage.children(shard)
        left = shard in self._leave
        if left and not isinstance(self._fates[shard], WillRead):
            return
        if self._app.traits.syncs_fully and self._orders.keys().isdisjoint(children):
            return
        if self._want[shard] == DONE or (row is not None and row.ended) or len(children) != 1:
            return
        why = f"the merge of {shard} ends only if it has a lease"
        for other in self._lineage.parents(children[0]) if row is not None else ():
            if other not in self._table.rows and not self._parent_will_create(other):
                self._create(other, why)
        if left and children[0] in self._leave:
            return
        for other in _expired_beside(self._lineage, self._table, shard, self._app):
            if other not in self._leave:
                self._order(Order(other, DONE, f"the shard has expired, and {why}"))

    def _free_of_new_leases(self, row: Row) -> None:
        """Mends a row that would wait for one of the new leases, which is no parent of it."""
        wrong = wrong_parents(self._lineage, row) if not row.ended else frozenset()
        new = {p for p in wrong if p in self._orders and p not in self._table.rows}
        if any(self._orders[shard].at != DONE for shard in new):
            self._order(Order(row.shard, None, _waits_for(sorted(new))))


def _waits_for(shards: Iterable[ShardId]) -> str:
    names = ", ".join(str(index_of(shard)) for shard in shards)
    return f"it waits for {names}, and that is no parent of it"


def _expired_beside(
    lineage: Lineage, table: LeaseTable, shard: ShardId, app: App
) -> list[ShardId]:
    """The other parent of the shard's merge, if it is not listed any more and has no row.

    ShutdownTask of 1.14+ and 2.3+ ends a parent only where both have a lease, or neither.
    """
    children = lineage.children(shard)
    if app.traits.syncs_fully or len(children) != 1:
        return []
    return [p for p in lineage.unlisted_parents(children[0]) if p not in table.rows]


def rebuild(lineage: Lineage, table: LeaseTable, want: TargetFrontier, app: App) -> list[Step]:
    """Creates leases for unread shards first, parents before children, then for ended ones.

    An application that starts after a part of the steps waits for the existing leases and starts
    absent shards at their beginning.
    """
    shards = sorted(lineage, key=lambda shard: want[shard] == DONE)
    writes = begun(lineage, table, want, app, shards, "lost; as the sink has it")
    ordered = [writes.pop(shard) for shard in shards]
    ordered = [*writes.values(), *ordered]  # expired parents of merges, which end nothing
    parts = list(batched(ordered, TRANSACTION))
    title = "leases at the positions of the sink"
    return [
        Step(title if len(parts) == 1 else f"{title}, part {n}", part)
        for n, part in enumerate(parts, start=1)
    ]
