"""Simulates what a start does with the rows.

Sources: allgroup.go, consumer.go and shard_scan.go of v0.5.0 and of master 31e0042, runs of both,
November 2026; group/consumergroup of v0.5.0; Telegraf's consumer.go at b272631 and f636016.
"""

from __future__ import annotations

from itertools import chain

from reshardctl.consumers.kinesis_consumer.app import App
from reshardctl.consumers.kinesis_consumer.beginning import beginning
from reshardctl.consumers.kinesis_consumer.evidence import evidence
from reshardctl.consumers.kinesis_consumer.notes import notes
from reshardctl.consumers.kinesis_consumer.rows import Positions
from reshardctl.consumers.sequence_numbers import NumberKind, unborn
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Cause,
    Crash,
    Fate,
    ShardId,
    Simulation,
    Span,
    WillRead,
    WontRead,
    at_number,
    exactly,
    is_number,
)

REPAIRED = "its row is repaired"
_BEGINNING = exactly(START)
_NOBODY: frozenset[ShardId] = frozenset()


def never_reached(lineage: Lineage, positions: Positions, app: App) -> dict[ShardId, ShardId]:
    """The shards below one that is not listed and holds its children back for ever: shard → it.

    No row of theirs is looked at, whatever it holds.
    """
    run, held_by = _Run(lineage, positions, app), dict[ShardId, ShardId]()
    for shard in lineage:
        above = (held_by[parent] for parent in lineage.parents(shard) if parent in held_by)
        unlisted = filter(run.holds_back, lineage.unlisted_parents(shard))
        if (gone := next(chain(above, unlisted), None)) is not None:
            held_by[shard] = gone
    return held_by


def simulate_start(lineage: Lineage, positions: Positions, app: App) -> Simulation:
    """A fate for every listed shard and every row."""
    return positions.once("start", (lineage, app), lambda: _simulated(lineage, positions, app))


def _simulated(lineage: Lineage, positions: Positions, app: App) -> Simulation:
    if app.traits.strings_only:
        positions = positions.once("as strings", (), positions.strings_only)
    run = _Run(lineage, positions, app)
    gone = {s: run.unlisted(s) for s in positions.rows if s not in lineage}
    fates = {**gone, **{shard: run.fate(shard) for shard in lineage}}
    return Simulation(fates, run.crash(fates), tuple(notes(lineage, positions, app, fates)))


class _Run:
    def __init__(self, lineage: Lineage, positions: Positions, app: App) -> None:
        self._lineage, self._positions, self._app = lineage, positions, app
        self._seen = evidence(lineage, positions)
        self._ended: dict[tuple[Cause, str], WillRead] = {}
        self._family: tuple[ShardId, ...] = ()
        self._listed_gates = _NOBODY

    def unlisted(self, shard: ShardId) -> Fate:
        """The fate of an unlisted shard, whose row is ignored."""
        text = self._positions.rows[shard].text
        at = at_number(text) if is_number(text) else START
        cause = Cause.UNBORN if unborn(self._lineage, shard) else Cause.GONE
        why = "the shard is not listed: its row is not looked at"
        ends = not self.holds_back(shard)
        return WillRead(exactly(at), DONE, frozenset(), ends, cause, why)

    def crash(self, fates: dict[ShardId, Fate]) -> Crash | None:
        """The crash at a refused number, unless Kinesis says that the number is another shard's."""
        if self._app.traits.survives:
            return None
        crashing = {
            shard: fate for shard, fate in fates.items()
            if shard in self._lineage and fate.cause in (Cause.AT_END, Cause.UNREADABLE)
        }
        if not crashing:
            return None
        first = next(iter(crashing.values()))
        return Crash(first.why, REPAIRED, True, first.cause, tuple(crashing))

    def fate(self, shard: ShardId) -> Fate:
        """The fate of a listed shard."""
        lease = self._positions.leases.get(shard) if self._app.traits.leases else None
        if lease is not None and lease.completed:
            if self._lineage.is_open(shard):
                why = "its lease is completed although the shard is open: never read again"
                return WontRead(Cause.FALSE_END, why)
            return self._over(Cause.FINISHED, "its lease is completed")
        row = self._positions.rows.get(shard)
        if row is not None and row.null:
            why = f"the row of {shard} is NULL: its store fails to read it, and the process ends"
            return WontRead(Cause.UNREADABLE, why)
        if self._app.traits.infers_ends and self._seen.row_below(shard):
            why = "a shard below it has a row, which is taken as proof that it was read"
            return self._over(Cause.TAKEN_FOR_READ, why)
        if row is None:
            return self._begins(shard)
        return self._resumes(shard)

    def _over(self, cause: Cause, why: str) -> WillRead:
        if (known := self._ended.get((cause, why))) is None:
            known = WillRead(exactly(DONE), DONE, frozenset(), True, cause, why)
            self._ended[cause, why] = known
        return known

    def _resumes(self, shard: ShardId) -> Fate:
        survives = self._app.traits.survives
        match self._seen.kinds[shard]:
            case NumberKind.INSIDE:
                at = self._seen.at_row(shard)
                return self._reads(shard, at, Cause.UNMARKED, "resumes at its row")
            case NumberKind.AHEAD:
                why = "its number lies in the future: after it nothing is found, or it is refused"
                return self._reads(shard, self._seen.at_row(shard), Cause.FOREIGN_NUMBER, why)
            case NumberKind.START:
                why = "its row is the shard's StartingSequenceNumber: it is read whole"
                return self._reads(shard, _BEGINNING, Cause.UNMARKED, why)
            case NumberKind.AT_END if self._app.traits.takes_end:
                return self._over(Cause.FINISHED, "its row is the shard's EndingSequenceNumber")
            case NumberKind.AT_END:
                why = (
                    f"the row of {shard} is its EndingSequenceNumber: Kinesis refuses it, and the "
                    "whole process ends"
                )
                return self._reads(shard, exactly(DONE), Cause.AT_END, why)
            case kind if kind.foreign and survives:
                why = "its number is none of this shard: Kinesis refuses it, once a start"
                return WontRead(Cause.FOREIGN_NUMBER, why)
            case kind if kind.foreign:
                why = (
                    "its number is none of this shard: Kinesis refuses it, and the shard is read "
                    "from the beginning"
                )
                return self._reads(shard, _BEGINNING, Cause.FOREIGN_NUMBER, why)
            case _ if survives:
                return WontRead(Cause.UNREADABLE, "its row is no number: Kinesis refuses it")
            case _:
                why = f"the row of {shard} is no number: Kinesis refuses it, and the process ends"
                return WontRead(Cause.UNREADABLE, why)

    def _begins(self, shard: ShardId) -> Fate:
        """Begins a shard without a row at the application's start mode."""
        mode = str(self._app.initial)
        why = f"it has no row: it begins at {mode}, the application's start mode"
        stored = self._positions.rows or self._positions.blank
        cause = Cause.REFILLED if stored else Cause.BOOTSTRAP
        at = beginning(self._lineage, shard, self._app)
        return self._reads(shard, exactly(at), cause, why)

    def _reads(self, shard: ShardId, at: Span, cause: Cause, why: str) -> Fate:
        ends = not self._lineage.is_open(shard)
        return WillRead(at, DONE if ends else TIP, self._gates(shard), ends, cause, why)

    def _gates(self, shard: ShardId) -> frozenset[ShardId]:
        """The parents that a shard waits for; unlisted ones only if `holds_back` says so."""
        if (parents := self._lineage.parents(shard)) is not self._family:  # siblings share theirs
            self._family, self._listed_gates = parents, frozenset(parents)
        unlisted = self._lineage.unlisted_parents(shard)
        others = frozenset(filter(self.holds_back, unlisted)) if unlisted else _NOBODY
        return self._listed_gates | others if others else self._listed_gates

    def holds_back(self, unlisted: ShardId) -> bool:
        """Whether the children of a shard that is not listed wait for it."""
        traits, lease = self._app.traits, self._positions.leases.get(unlisted)
        left = traits.leases and lease is not None and not lease.completed
        return left or traits.waits_for_unlisted
