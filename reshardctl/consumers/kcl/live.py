"""Which writes are safe while the application runs, and why each of the others is not.

Two kinds are safe; both were run on working KCL 1.15.3, 2.7.2, 3.1.3 and 3.5.1, November 2026. An
eviction, as KCL 3.x does it (DynamoDBLeaseRefresher.evictLease), with a new position: KCL reads the
position once per acquisition, so the owner has to lose the lease; its next renewal or checkpoint
fails on the counter, and the next owner starts at the written position. And the creation of an
absent row, which every worker takes for a lease without owner. If only the position is edited, the
owner's next checkpoint overwrites it (the same runs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reshardctl.consumers.kcl.app import App
from reshardctl.consumers.kcl.flaws import PARENTS
from reshardctl.consumers.kcl.keys import split
from reshardctl.consumers.kcl.processed import processed
from reshardctl.consumers.kcl.releases import Traits
from reshardctl.consumers.kcl.rows import SHARD_END, TRIM_HORIZON, LeaseTable, Row
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Create,
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
        self._processed: Frontier = processed(lineage, table, app)
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
    """Why moving this row is unsafe, whatever the new position."""
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
