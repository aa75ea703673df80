"""Writes the target frontier as rows, or says why they cannot hold it and what to do instead.

Only rows whose simulated start differs are changed, each with a condition. A shard's start is
written as its StartingSequenceNumber, after which all its records lie: read whole by v0.5.0 and
master from all four stores (runs, Nov 2026). Its end has no spelling: the EndingSequenceNumber
would end the library's process, only Telegraf takes it. For master a row means that all ancestors
are processed, so nothing is written below an unread one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from reshardctl.codec.values import number_of
from reshardctl.consumers.base import Cannot
from reshardctl.consumers.kinesis_consumer.behaviour import never_reached, simulate_start
from reshardctl.consumers.kinesis_consumer.releases import App, Start
from reshardctl.consumers.kinesis_consumer.rows import Positions, Row, evidence
from reshardctl.consumers.kinesis_consumer.spec import NAMESPACE, NUMBER, SHARD, key_of
from reshardctl.consumers.sequence_numbers import NumberKind, classify, unborn
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Attributes,
    Cause,
    Create,
    Cut,
    Delete,
    Fate,
    Rank,
    ShardId,
    Step,
    TargetFrontier,
    Update,
    WillRead,
    Write,
    in_birth_order,
    short,
)
from reshardctl.model.images import NO_TRANSACTIONS, batched
from reshardctl.model.phrases import listed

OLDER = (
    "run v0.5.0 (release=0.5) on these rows until that shard has been read, then master again: "
    "v0.5.0 reads it first, whatever rows there are below it"
)


def _names(shards: Sequence[ShardId]) -> str:
    return ", ".join(sorted(map(short, shards))[:4])


def unread_above(shard: ShardId, unread: Sequence[ShardId], app: App) -> Cannot:
    """A new row would end an unread ancestor."""
    read = "--probe: where nothing is left in it, the rows below it can be written"
    ways = [OLDER, read]
    if app.initial is not Start.TRIM_HORIZON:
        ways.insert(0, (
            "start it with TRIM_HORIZON (WithShardIteratorType) instead of "
            f"{app.initial}: shards with a row go on from it, the others are read from their "
            "beginning"
        ))
    return Cannot(
        f"master takes a row of shard {short(shard)} as proof that shard {_names(unread)} was read "
        "to its end, and would never read what is left in it: no row can be written there",
        tuple(ways), tuple(unread), read,
    )


def rows_below(shard: ShardId, below: Sequence[ShardId]) -> Cannot:
    """Rows that were read from keep master from reading an ancestor."""
    read = "--probe tells whether anything is left"
    return Cannot(
        f"the rows of shard {_names(below)} keep master from reading shard {short(shard)}, and "
        "whether anything is left in it is stored nowhere",
        (read, OLDER), (shard,), read,
    )


def not_guarded(why: str) -> Cannot:
    """A table in which a write could meet another row, or half of a step could stay."""
    if why == NO_TRANSACTIONS:
        return Cannot(
            "the table's engine has no transactions, so that no write there can be guarded",
            ("ALTER TABLE … ENGINE=InnoDB, then run this again",),
        )
    return Cannot(
        "the table has no unique key that keeps rows of one shard apart, so that no write there "
        "can be guarded",
        (f"leave one row for each {NAMESPACE} and {SHARD}, then ALTER TABLE … ADD PRIMARY KEY "
         f"({NAMESPACE}, {SHARD}), and run this again",),
    )


def holds_no_string(row: Row) -> Cannot:
    """A key of Redis that holds something else."""
    return Cannot(
        f"the key of shard {short(row.shard)} holds no string, and what it holds could not be put "
        "back",
        ("look at it, delete it by hand, and run this again",),
    )


def waits_for_gone(shard: ShardId, gone: ShardId, app: App) -> Cannot:
    """A shard that is not listed any more holds back its children."""
    ways = ("upgrade to Telegraf 1.36.4 or later, which does not wait for it; with that release in "
            "the locator, inspect tells what it then reads",)
    if app.traits.leases:
        ways = ("stop the group and delete the lease of that shard: a shard is claimed once the "
                "leases of its parents are completed or missing; then inspect again",)
    return Cannot(
        f"shard {short(shard)} waits for ever for shard {short(gone)}, which is not listed any "
        "more: no position changes that",
        ways,
    )


def no_tip(app: App) -> Cannot:
    """Only the start mode can begin a shard at its tip as of each start."""
    return Cannot(
        "no row says that a shard begins at its tip as of each start: only a missing row does, "
        f"and this application then begins at {app.initial}",
        ("--policy latest pins every shard at its present tip",
         "start it with LATEST and add initial=LATEST to the locator"),
    )


RUNNING = "nothing in the store tells whether somebody reads the shard, and it would not look"


class _Order(Struct, frozen=True):
    """What a shard's row should become. number: `None` to delete it."""

    number: str | None
    why: str


def encode(
    lineage: Lineage,
    positions: Positions,
    want: TargetFrontier,
    app: App,
    leave: Collection[ShardId],
) -> list[Step] | Cannot:
    """Steps after which it reads from the target frontier. leave: shards not to be written."""
    orders = _Orders(lineage, positions, want, app, frozenset(leave))
    orders.collect()
    unguarded = positions.unguarded if orders.by_shard else ""
    steps = [] if unguarded else _steps(positions, orders.by_shard, app.writes_together)
    if orders.cannot is not None:
        return replace(orders.cannot, apart=orders.obstacles, others=tuple(steps))
    return not_guarded(unguarded) if unguarded else steps


def bootstrap(
    lineage: Lineage, want: TargetFrontier, app: App, namespace: str
) -> list[Step] | Cannot:
    """First rows for an application that has none, at each shard's start.

    For master only where the frontier begins, because a row further on would end its ancestors.
    """
    empty = Positions(namespace, {}, {}, {}, ())
    orders = _Orders(lineage, empty, want, app, frozenset())
    orders.collect()
    if orders.cannot is not None:
        return orders.cannot
    for shard in lineage:
        if want[shard] == DONE:
            orders.pass_over(shard)
        if want[shard] in (DONE, TIP) or want[shard].by_time:
            continue
        if not app.traits.infers_ends or shard not in orders.late:
            orders.order(shard, orders.spelled(shard, want[shard]), "it begins there")
    return _steps(empty, orders.by_shard, app.writes_together)


def rewound(lineage: Lineage, want: TargetFrontier) -> dict[ShardId, Cut]:
    """The frontier without progress below unread shards, as releases need that infer ends."""
    late = lineage.descendants(*(shard for shard in lineage if want[shard] != DONE))
    return {shard: START if shard in late else want[shard] for shard in lineage}


class _Orders(Struct):
    lineage: Lineage
    positions: Positions
    want: TargetFrontier
    app: App
    leave: frozenset[ShardId]
    by_shard: dict[ShardId, _Order] = field(default_factory=dict)
    obstacles: dict[ShardId, Cannot] = field(default_factory=dict)
    """The shards for which no row can be written."""
    fates: Mapping[ShardId, Fate] = field(default_factory=dict)
    late: set[ShardId] = field(default_factory=set)
    """Shards below an unread one that no row has ended yet."""

    def collect(self) -> None:
        """Collect orders for shards not created yet, then for listed ones, parents first."""
        start = self.lineage.memo(simulate_start, self.lineage, self.positions, self.app)
        self.fates = start.fates
        self.late = self.lineage.descendants(*filter(self._is_unread, self.lineage))
        for shard in self.positions.rows:
            if unborn(self.lineage, shard) and shard not in self.leave:
                self.order(shard, None, "the shard does not exist yet")
        unreached = never_reached(self.lineage, self.positions, self.app)
        for shard in self.lineage:
            left = shard in self.leave or shard in unreached
            if not left and not self._comes_right(shard):
                self._place(shard)
        if self.app.traits.infers_ends:
            self._keep_proven()
        self._keep_numbers()
        if unreached and not self.by_shard:
            shard, gone = next(iter(unreached.items()))
            self.obstacles[shard] = waits_for_gone(shard, gone, self.app)

    @property
    def cannot(self) -> Cannot | None:
        """Why the frontier cannot be held as a whole, `None` if it can."""
        return next(iter(self.obstacles.values()), None)

    def order(self, shard: ShardId, number: str | None, why: str) -> None:
        """Note what a row is to become, `None` to delete it; or why there would be no way back."""
        row = self.positions.blank.get(shard)
        if row is not None and row.other_type:
            self.obstacles[shard] = holds_no_string(row)
        else:
            self.by_shard[shard] = _Order(number, why)

    def _comes_right(self, shard: ShardId) -> bool:
        fate, want = self.fates[shard], self.want[shard]
        if not isinstance(fate, WillRead) or fate.cause is Cause.AT_END:
            return fate.cause is Cause.FALSE_END
        return fate.at.exact and fate.at.lo == want

    def _place(self, shard: ShardId) -> None:
        fate, want = self.fates[shard], self.want[shard]
        if fate.cause is Cause.TAKEN_FOR_READ:
            self._give_back(shard)
        elif want == DONE:
            self._finish(shard)
        elif want == TIP:
            self._to_the_tip(shard)
        elif not want.by_time:
            self._move(shard, self.spelled(shard, want), fate.why)

    def spelled(self, shard: ShardId, cut: Cut) -> str:
        """A start or a number as a row holds it."""
        if cut.rank is Rank.START:
            return self.lineage[shard].start
        return cut.text or str(cut.number)

    def _move(self, shard: ShardId, number: str, why: str) -> None:
        """Writes a row, unless a new row would end an unread ancestor."""
        if self.app.traits.infers_ends and shard in self.late and shard not in self.positions.rows:
            above = in_birth_order(self.lineage.ancestors(shard))
            unread = list(filter(self._is_unread, above))
            self.obstacles[shard] = unread_above(shard, unread, self.app)
            return
        self.order(shard, number, why)

    def _is_unread(self, shard: ShardId) -> bool:
        """Whether a listed shard is unread and no row has ended it yet."""
        return self.want[shard] != DONE and self.fates[shard].cause is not Cause.TAKEN_FOR_READ

    def _finish(self, shard: ShardId) -> None:
        """Ends a processed shard by Telegraf's mark; elsewhere removes a number that crashes."""
        fate, end = self.fates[shard], self.lineage[shard].end
        if self.app.traits.takes_end and end is not None:
            if not self._read_inside(shard):
                self.order(shard, end, "it is done: Telegraf takes this number for its end")
        elif fate.cause is Cause.AT_END or self._null(shard):
            self._without_its_end(shard, fate.why)

    def pass_over(self, shard: ShardId) -> None:
        """Lets a new application begin after the last record of a shard, if that is known.

        Nothing else keeps v0.5.0 from reading it.
        """
        last = number_of(self.want[shard])
        known = shard in self.by_shard or shard in self.late or self._comes_right(shard)
        if last is not None and not known:
            self.order(shard, last, "nothing of it is to be read")

    def _without_its_end(self, shard: ShardId, why: str) -> None:
        """Removes a refused end.

        Where rows below prove that the shard was read, it needs no row. For master rows below end
        it, and its number is never asked for (runs, Nov 2026). Otherwise it is read again, and its
        row says so.
        """
        if self.app.traits.infers_ends:
            for child in self.lineage.children(shard):
                if child not in self.positions.rows and self.want[child] == START:
                    self._move(child, self.lineage[child].start, why)
            if self._null(shard):
                self.order(shard, None, why)
        elif any(self._read_inside(descendant) for descendant in self.lineage.descendants(shard)):
            self.order(shard, None, why)
        else:
            self.order(shard, self.lineage[shard].start, why)

    def _null(self, shard: ShardId) -> bool:
        row = self.positions.rows.get(shard)
        return row is not None and row.null

    def _keep_proven(self) -> None:
        """Keeps the proof that a shard without a row was read: numbers in rows below it.

        If the last of them is moved back to its start, the shard gets a row at its own end: master
        never asks for it.
        """
        proven: set[ShardId] = set()
        lost: set[ShardId] = set()
        for shard in reversed(self.lineage):
            for child in self.lineage.children(shard):
                if child in proven or (self._read_inside(child) and not self._begins_again(child)):
                    proven.add(shard)
                elif child in lost or self._read_inside(child):
                    lost.add(shard)
        for shard in self.lineage:
            if shard in proven or shard not in lost or shard in self.positions.rows:
                continue
            end = self.lineage[shard].end
            left = shard in self.leave or shard in self.by_shard
            if self.want[shard] == DONE and end is not None and not left:
                self.order(shard, end, "its end: the rows below do not prove it any more")

    def _keep_numbers(self) -> None:
        """Keeps a number that is written over in the row of its own shard, if the two were swapped.

        It alone tells how far that shard was read, whether or not a start looks at its row.
        """
        rows, seen = self.positions.rows, evidence(self.lineage, self.positions)
        over = {rows[shard].text: shard for shard in self.by_shard if shard in rows}
        for shard in rows:
            number = seen.own_number(shard)
            if number in over and shard not in self.by_shard and shard not in self.leave:
                self.order(shard, number, f"the row of {short(over[number])} held its number")

    def _begins_again(self, shard: ShardId) -> bool:
        """Whether the shard's row is moved to its start."""
        return shard in self.by_shard and self.by_shard[shard].number == self.lineage[shard].start

    def _read_inside(self, shard: ShardId) -> bool:
        row = self.positions.rows.get(shard)
        return row is not None and classify(self.lineage, shard, row.text) is NumberKind.INSIDE

    def _to_the_tip(self, shard: ShardId) -> None:
        if self.app.initial is not Start.LATEST:
            self.obstacles[shard] = no_tip(self.app)
        elif shard in self.positions.rows:
            self.order(shard, None, "without a row it begins at LATEST, at every start")

    def _give_back(self, shard: ShardId) -> None:
        """Deletes rows that keep master from an unread shard, if nothing was read from them."""
        descendants = in_birth_order(self.lineage.descendants(shard))
        below = [s for s in descendants if s in self.positions.rows]
        seeds = [
            s for s in below
            if classify(self.lineage, s, self.positions.rows[s].text) is NumberKind.START
        ]
        if len(seeds) == len(below) and self._begins_whole() and not self.leave & set(seeds):
            for seed in seeds:
                self.order(seed, None, f"its row keeps master from reading {shard}")
        else:
            self.obstacles[shard] = rows_below(shard, below)

    def _begins_whole(self) -> bool:
        return self.app.initial is Start.TRIM_HORIZON


def _steps(
    positions: Positions, orders: Mapping[ShardId, _Order], together: int
) -> list[Step]:
    """All writes at once: siblings belong together, and each row stands for itself."""
    writes = [_write(positions, shard, order) for shard, order in orders.items()]
    return [Step(title(part), part) for part in batched(writes, together)]


def title(writes: Sequence[Write]) -> str:
    """`rows of 2, 3`: the title of a step."""
    names = listed(writes, 4, lambda write: short(write.key.partition("/")[2]))
    return f"row{'s' if len(writes) > 1 else ''} of {names}"


def _write(positions: Positions, shard: ShardId, order: _Order) -> Write:
    row = positions.row(shard)
    if row is None:
        assert order.number is not None
        new: Attributes = {
            NAMESPACE: {"S": positions.namespace}, SHARD: {"S": shard},
            NUMBER: {"S": order.number},
        }
        key = key_of(positions.namespace, shard)
        return Write(key, Create(new), None, order.why, running=RUNNING)
    if order.number is None:
        guard = tuple(name for name in row.image.attributes if name not in (NAMESPACE, SHARD))
        return Write(row.image.key, Delete(), row.image, order.why, guard, running=RUNNING)
    change = Update({NUMBER: {"S": order.number}})
    return Write(row.image.key, change, row.image, order.why, (NUMBER,), running=RUNNING)
