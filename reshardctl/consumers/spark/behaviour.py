"""Simulates what the JVM connectors do when a query starts on a checkpoint.

Their offsets hold the positions at which a batch starts. A committed batch is not run again: the
next one starts where the log of that batch ends. An uncommitted one runs first, from its own line.
Then the listing is compared: unlisted shards are dropped or crash the query, and shards without a
position begin at startingPosition, with all their ancestors up to one with a position. No shard
waits for a parent.

An open shard that is marked as ended is forgotten by the next batch, and begins like a new one in
the batch after it (following.py).

Sources: ShardSyncer.getLatestShardInfo, KinesisSource.getOffset and getBatch of Qubole;
ShardSyncer.updateShard, KinesisV2MicrobatchStream.latestOffset and planInputPartitions of awslabs;
runs of the three builds in November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.consumers.sequence_numbers import furthest
from reshardctl.consumers.spark.app import App, Start
from reshardctl.consumers.spark.checkpoint import Checkpoint
from reshardctl.consumers.spark.crashes import crash
from reshardctl.consumers.spark.cuts import cut_of, start_in
from reshardctl.consumers.spark.following import Following, following
from reshardctl.consumers.spark.heads import Head, passed_by
from reshardctl.consumers.spark.limits import beyond_the_limit
from reshardctl.consumers.spark.notes import notes
from reshardctl.consumers.spark.positions import AT_TIMESTAMP, LATEST, SHARD_END, Position
from reshardctl.consumers.spark.resumed import Resumed, left_over, resumed, standing
from reshardctl.consumers.spark.risks import risks
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cause,
    Cut,
    Fate,
    ShardId,
    Simulation,
    Span,
    WillRead,
    WontRead,
    at_time,
    exactly,
)

NOBODY: frozenset[ShardId] = frozenset()
_NOT_LOOKED_AT = WontRead(
    Cause.NO_POSITION,
    "no batch has a position of it, and nothing below it is new: it is not looked at",
)
_COPIES = (
    "goes on at its stored position or at that of a copy in the connector's log: of files that "
    "speak of one shard, the one that the file system lists last counts"
)
_NEVER_PAST = (
    "with consumerType=SubscribeToShard {} never gets past a start by time that met no record, and "
    "asks for it again in every batch"
)


def simulate_start(lineage: Lineage, checkpoint: Checkpoint, app: App) -> Simulation:
    """Returns a fate for every listed shard and every unlisted one that the newest batch holds."""
    return checkpoint.once("start", (lineage, app), lambda: _simulated(lineage, checkpoint, app))


def _simulated(lineage: Lineage, checkpoint: Checkpoint, app: App) -> Simulation:
    held = resumed(checkpoint, app)
    then = following(lineage, held, app)
    stuck = standing(checkpoint) if app.never_passes_time else {}
    run = _Run(
        lineage, held, then, app, passed_by(lineage, checkpoint), left_over(checkpoint), stuck
    )
    fates: dict[ShardId, Fate] = {s: run.unlisted(s) for s in held if s not in lineage}
    fates |= {shard: run.fate(shard) for shard in lineage}
    return Simulation(
        fates, crash(lineage, checkpoint, held, then, app), tuple(notes(checkpoint, app, fates)),
        tuple(risks(checkpoint)), orders=False,
    )


class _Run:
    """One start: the shards with a position, and those that the listing adds."""

    def __init__(
        self, lineage: Lineage, held: Mapping[ShardId, Resumed], then: Following, app: App,
        heads: Mapping[ShardId, Head], late: Mapping[ShardId, Position],
        stuck: Mapping[ShardId, Position],
    ) -> None:
        self._lineage, self._held, self._app, self._heads = lineage, held, app, heads
        self._then, self._late, self._stuck = then, late, stuck
        self._alike: dict[tuple[Cause, bool, str], WillRead] = {}

    def unlisted(self, shard: ShardId) -> Fate:
        """The fate of an unlisted shard: dropped from the next batch on, if none crashes."""
        at = exactly(cut_of(self._held[shard].at))
        why = "the shard is not listed any more: the connector passes over it"
        return WillRead(at, DONE, NOBODY, True, Cause.GONE, why)

    def fate(self, shard: ShardId) -> Fate:
        """The fate of a listed shard."""
        drops = self._app.traits.drops_closed and not self._lineage.is_open(shard)
        held = self._held.get(shard)
        if shard in self._then.forgotten:
            again = self._begins(shard)
            if held is not None and held.runs and isinstance(again, WillRead):
                return min(self._goes_on(shard, held), again, key=lambda fate: fate.at.lo)
            return again
        if held is not None and held.at == self._stuck.get(shard):
            return self._stands(shard, held)
        if held is not None:
            return self._dropped(shard, held) if drops else self._goes_on(shard, held)
        if drops:
            return self._passed_over("takes every closed shard that it has no position of for read")
        if shard in self._then.added:
            late = self._late.get(shard)
            at_end = furthest(self._lineage, shard)
            return self._begins(shard) if late is None else self._reads(shard, late, at_end)
        return _NOT_LOOKED_AT

    def _goes_on(self, shard: ShardId, held: Resumed) -> WillRead:
        if held.at.kind == SHARD_END and not held.others:
            return self._over(shard)
        return self._reads(shard, held.at, furthest(self._lineage, shard), held.others)

    def _stands(self, shard: ShardId, held: Resumed) -> Fate:
        """The fate of a shard at a start by time, in a query that may never get past it."""
        why = _NEVER_PAST.format(self._app.traits.release)
        if self._app.type_is_told:
            return WontRead(Cause.TIME_NOT_PASSED, why)
        closed = not self._lineage.is_open(shard)
        at = exactly(start_in(self._lineage, shard, held.at))
        until = furthest(self._lineage, shard)
        cause, goes_on = Cause.TIME_NOT_PASSED, "goes on at the time at which it first met it"
        return WillRead(at, until, NOBODY, closed, cause, goes_on, possible=why)

    def _dropped(self, shard: ShardId, held: Resumed) -> Fate:
        """The fate of a closed shard, which only a batch planned already reads."""
        if held.at.kind == SHARD_END and not (held.runs and held.others):
            return self._over(shard)
        if not held.runs:
            why = "takes every closed shard for read to its end, whatever its place"
            return self._passed_over(why)
        until = DONE if held.until is None else cut_of(held.until)
        return self._reads(shard, held.at, until, held.others)

    def _reads(
        self, shard: ShardId, at: Position, until: Cut, others: tuple[Position, ...] = ()
    ) -> WillRead:
        """Reads the shard from its position, or from one that a copy in the log names."""
        closed = not self._lineage.is_open(shard)
        possible = beyond_the_limit(self._lineage, shard, at, self._app) if closed else ""
        cut = start_in(self._lineage, shard, at)
        cuts = {cut, *(start_in(self._lineage, shard, other) for other in others)}
        if len(cuts) > 1:
            span = Span(min(cuts), max(cuts))
            return WillRead(span, until, NOBODY, closed, Cause.POSITION, _COPIES)
        if at.kind == LATEST:
            why = "stored as LATEST: begins at the tip as of each batch"
            return WillRead(exactly(TIP), until, NOBODY, closed, Cause.LATEST, why)
        cause = Cause.REFILLED if at.kind == AT_TIMESTAMP else Cause.POSITION
        why = "goes on at its stored position"
        if at.kind == AT_TIMESTAMP:
            why = "goes on at the time at which the query first met it"
        elif cut != START and shard in self._heads:
            cause, why = Cause.HEAD_PASSED, f"{why}; {self._heads[shard].why}"
        if others:
            why = f"{why}, once more where a copy in the connector's log counts in the batch after"
        return WillRead(exactly(cut), until, NOBODY, closed, cause, why, possible=possible)

    def _begins(self, shard: ShardId) -> Fate:
        """Begins the shard at startingPosition; LATEST is the time of the driver's start."""
        closed = not self._lineage.is_open(shard)
        initial = self._app.initial
        if (named := (self._app.named or {}).get(shard)) is not None:
            return self._begins_as_named(shard, named, closed)
        if initial is Start.LATEST:
            why = "begins where startingPosition=LATEST says: at the time of the query's start"
            return self._shared(TIP, Cause.LATEST, closed, why)
        at = START if initial is Start.TRIM_HORIZON else at_time(self._app.time)
        why = f"begins where startingPosition={initial} says"
        return self._shared(at, Cause.REFILLED, closed, why)

    def _shared(self, at: Cut, cause: Cause, closed: bool, why: str) -> WillRead:
        """One fate for all shards that are alike."""
        if (known := self._alike.get((cause, closed, why))) is None:
            until = DONE if closed else TIP
            known = WillRead(exactly(at), until, NOBODY, closed, cause, why)
            self._alike[cause, closed, why] = known
        return known

    def _begins_as_named(self, shard: ShardId, at: Position, closed: bool) -> Fate:
        """Begins the shard where a startingPosition as JSON says."""
        if at.kind == SHARD_END and closed:
            return self._over(shard)
        why = "startingPosition names it"
        if at.kind == SHARD_END:
            return WontRead(Cause.FALSE_END, f"{why} as ended, while it is open")
        cause = Cause.LATEST if at.kind == LATEST else Cause.REFILLED
        span = exactly(start_in(self._lineage, shard, at))
        return WillRead(span, furthest(self._lineage, shard), NOBODY, closed, cause, why)

    def _over(self, shard: ShardId) -> WillRead:
        cause, why = Cause.FINISHED, "read to its end"
        if shard in self._heads:
            cause, why = Cause.HEAD_PASSED, f"{why}; {self._heads[shard].why}"
        return self._shared(DONE, cause, True, why)

    def _passed_over(self, what: str) -> Fate:
        why = f"{self._app.traits.release} {what}"
        return self._shared(DONE, Cause.TAKEN_FOR_READ, True, why)
