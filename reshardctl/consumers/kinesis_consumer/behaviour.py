"""Simulates what a start does with the rows, and says what they prove to be processed.

Sources: allgroup.go, consumer.go and shard_scan.go of v0.5.0 and of master 31e0042, runs of both,
November 2026; group/consumergroup of v0.5.0; Telegraf's consumer.go at b272631 and f636016.

A row says up to where its shard was read, not whether that was its last record. Where the
application begins at LATEST, a child begins when the library first asks for it: earlier records are
skipped, and the row does not show it (runs on v0.5.0 and master, Nov 2026).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from msgspec.structs import replace

from reshardctl.consumers.kinesis_consumer.releases import App, Start
from reshardctl.consumers.kinesis_consumer.rows import Positions, evidence
from reshardctl.consumers.sequence_numbers import (
    CREATION_SLACK,
    NumberKind,
    furthest,
    unborn,
    written_at,
)
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Basis,
    Cause,
    Crash,
    Cut,
    Fate,
    ShardId,
    Simulation,
    Span,
    WillRead,
    WontRead,
    at_number,
    at_time,
    exactly,
    is_number,
)
from reshardctl.model.cuts import ARRIVAL_SLACK
from reshardctl.model.phrases import listed_shards


def beginning(lineage: Lineage, shard: ShardId, app: App) -> Cut:
    """The cut at which it begins; by time perhaps at the shard's start or end."""
    if app.initial is Start.LATEST:
        return furthest(lineage, shard)
    if app.initial is Start.TRIM_HORIZON:
        return START
    opened, closed = lineage.opened_at(shard), lineage.closed_at(shard)
    if app.time is not None and opened is not None and app.time <= opened:
        return START
    if app.time is not None and closed is not None and closed + ARRIVAL_SLACK < app.time:
        return DONE
    return at_time(app.time)


NEAR = 300.0
"""Seconds before a shard's close within which its stored record counts as its last, if the library
continued below the shard."""
BEGUN_LATE = "begun when it was first asked for: what came before may be missing"
_BEGINNING = exactly(START)
_AT_END = exactly(DONE, why="its position is the shard's EndingSequenceNumber")


def processed(lineage: Lineage, positions: Positions, app: App) -> dict[ShardId, Span]:
    """A span for every listed shard and every row; an empty store proves nothing."""
    rows = _Processed(lineage, positions, app)
    frontier = {shard: rows.unlisted(shard) for shard in positions.rows if shard not in lineage}
    return frontier | {shard: rows.span(shard) for shard in lineage}


class _Processed:
    def __init__(self, lineage: Lineage, positions: Positions, app: App) -> None:
        self._lineage, self._positions, self._app = lineage, positions, app
        self._seen = evidence(lineage, positions)

    def unlisted(self, shard: ShardId) -> Span:
        """The span of a row whose shard is gone, or not created yet."""
        text = self._positions.rows[shard].text
        if not is_number(text):
            return Span(START, DONE)
        if self._seen.read_below(shard):
            return exactly(DONE, Basis.INFERRED, "a shard below it has begun")
        if self._near_its_end(shard, text):
            why = "its number is of its last minutes; whether it is the last one is stored nowhere"
            return Span(at_number(text), DONE, Basis.INFERRED, why)
        return exactly(at_number(text))

    def span(self, shard: ShardId) -> Span:
        """The span of one listed shard."""
        lease = self._positions.leases.get(shard) if self._app.traits.leases else None
        if lease is not None and lease.completed:
            if self._lineage.is_open(shard):
                return Span(START, TIP, Basis.INFERRED, "completed, while it is open")
            return exactly(DONE, why="its lease is completed")
        row = self._positions.rows.get(shard)
        if row is None or row.null:
            return self._absent(shard)
        match self._seen.kinds[shard]:
            case NumberKind.INSIDE:
                return self._read(shard, row.text)
            case NumberKind.START:
                return _BEGINNING
            case NumberKind.AT_END:
                return _AT_END
            case NumberKind.AHEAD:
                why = "its number lies in the future, and is of no record"
                return Span(START, at_number(row.text), Basis.INFERRED, why)
            case _:
                return self._misread(shard)

    def _misread(self, shard: ShardId) -> Span:
        """The span of a text that is no position in the shard, though it may show one."""
        if meant := self._seen.meant(shard):
            why = "its number is in another row, or between blanks, or follows zeros"
            return exactly(at_number(meant), why=why)
        return Span(START, furthest(self._lineage, shard))

    def _read(self, shard: ShardId, text: str) -> Span:
        """The span of a row that was read from; with shards below begun, it may be processed."""
        infers, at = self._app.traits.infers_ends, self._seen.at_row(shard)
        begun = self._seen.row_below(shard) if infers else self._seen.read_below(shard)
        if infers and begun and self._near_its_end(shard, text):
            return exactly(DONE, Basis.INFERRED, "a shard below it has begun")
        head = BEGUN_LATE if self._begun_late(shard) else ""
        return self._lineage.memo.last(_read_up_to, self._lineage, shard, at, begun, head)

    def _near_its_end(self, shard: ShardId, text: str) -> bool:
        """Whether its stored record came shortly before its close."""
        written, closed = written_at(self._lineage, text), self._closed(shard)
        return written is not None and closed is not None and closed - written <= NEAR

    def _closed(self, shard: ShardId) -> float | None:
        if shard in self._lineage:
            return self._lineage.closed_at(shard)
        opened = [self._lineage.opened_at(child) for child in self._lineage.children(shard)]
        return min((time for time in opened if time is not None), default=None)

    def _begun_late(self, shard: ShardId) -> bool:
        """Whether it began while the application ran, and not at its start."""
        born = self._lineage.first_parent(shard) is not None
        return born and self._starts_late(shard) and self._seen.began_at_work(shard)

    def _starts_late(self, shard: ShardId) -> bool:
        match self._app.initial:
            case Start.LATEST:
                return True
            case Start.AT_TIMESTAMP:
                opened, time = self._lineage.opened_at(shard), self._app.time
                return time is None or opened is None or time > opened
            case _:
                return False

    def _born_at_work(self, shard: ShardId) -> Span:
        why, number = "born while the application was at work", self._seen.set_aside(shard)
        return Span(START, at_number(number) if number else START, Basis.INFERRED, why)

    def _absent(self, shard: ShardId) -> Span:
        if self._seen.read_below(shard):
            return exactly(DONE, Basis.INFERRED, "a shard below it was read")
        if not self._starts_late(shard):
            return exactly(START, Basis.INFERRED, "it begins with its first record")
        if self._seen.ran_before(shard):
            return self._born_at_work(shard)
        if self._app.initial is Start.AT_TIMESTAMP and self._app.time is not None:
            at = beginning(self._lineage, shard, self._app)
            if self._seen.ran_at(self._app.time - CREATION_SLACK):
                why = "the application was at work before that time, so it began otherwise then"
                return Span(START, at, Basis.INFERRED, why)
            return exactly(at, Basis.INFERRED, "it begins at that time")
        why = "left out when the application began, or without a record ever since"
        return Span(START, furthest(self._lineage, shard), Basis.INFERRED, why)


def _read_up_to(_lineage: Lineage, _shard: ShardId, at: Span, begun: bool, head: str) -> Span:
    """The span of a row that was read from."""
    if begun:
        why = "a shard below it has begun; whether it is done is stored nowhere"
        return Span(at.lo, DONE, Basis.INFERRED, why, head)
    return replace(at, head=head) if head else at


NAMED = 4


def notes(
    lineage: Lineage, positions: Positions, app: App, fates: Mapping[ShardId, Fate]
) -> Iterator[str]:
    """The notes, the most important first."""
    if app.initial is Start.LATEST and positions.rows:
        yield (
            "started at LATEST, this library reads a new shard from the moment at which it first "
            "asks for it: every reshard loses what came before that; start it with TRIM_HORIZON, "
            "which rows override wherever there are any"
        )
    if app.traits.out_of_order and positions.rows:
        yield (
            "Telegraf stores the number that was delivered last, in whatever order: after a kill, "
            "or a stop while an output fails, records before the stored numbers may be "
            "undelivered. They are fewer than max_undelivered_messages (999 at most by default) "
            "over all shards together, but may lie as far back as where that process began, and "
            "no row shows which; --policy at-timestamp=T, T before its start, reads them again"
        )
    taken = [s for s, fate in fates.items() if fate.cause is Cause.TAKEN_FOR_READ]
    if taken:
        yield (
            f"master does not read {listed_shards(taken, NAMED)}: shards below have rows; "
            "whether anything is left in it is stored nowhere, --probe tells"
        )
    closed = [
        s for s, fate in fates.items()
        if isinstance(fate, WillRead) and s in lineage and not lineage.is_open(s)
        and fate.cause is not Cause.FINISHED
    ] if app.traits.takes_end else []
    if closed:
        yield (
            f"Telegraf drops the last answer of a closed shard where it still holds records: the "
            f"very end of {listed_shards(closed, NAMED)} may go missing, and no position changes "
            "that"
        )


REPAIRED = "its row is repaired"
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
    if app.traits.strings_only:
        positions = lineage.memo(_strings_only, lineage, positions)
    run = _Run(lineage, positions, app)
    gone = {s: run.unlisted(s) for s in positions.rows if s not in lineage}
    fates = {**gone, **{shard: run.fate(shard) for shard in lineage}}
    return Simulation(fates, run.crash(fates), tuple(notes(lineage, positions, app, fates)))


def _strings_only(_lineage: Lineage, positions: Positions) -> Positions:
    return positions.strings_only()


def _gates_of(_lineage: Lineage, parents: tuple[ShardId, ...]) -> frozenset[ShardId]:
    return frozenset(parents)


def _will_read(
    lineage: Lineage, shard: ShardId, at: Span, gates: frozenset[ShardId], cause: Cause, why: str
) -> WillRead:
    """The fate of a listed shard that is read."""
    ends = not lineage.is_open(shard)
    return WillRead(at, DONE if ends else TIP, gates, ends, cause, why)


def _over(_lineage: Lineage, place: tuple[Cause, str]) -> WillRead:
    """The fate of shards that count as read to their end."""
    return WillRead(exactly(DONE), DONE, _NOBODY, True, *place)


class _Run:
    def __init__(self, lineage: Lineage, positions: Positions, app: App) -> None:
        self._lineage, self._positions, self._app = lineage, positions, app
        self._seen = evidence(lineage, positions)
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
        crashing: dict[Cause, list[ShardId]] = {}
        for shard, fate in fates.items():
            if fate.cause in (Cause.AT_END, Cause.UNREADABLE) and shard in self._lineage:
                crashing.setdefault(fate.cause, []).append(shard)
        crashes = [
            Crash(fates[by[0]].why, REPAIRED, True, cause, tuple(by))
            for cause, by in crashing.items()
        ]
        return replace(crashes[0], others=tuple(crashes[1:])) if crashes else None

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
        return self._lineage.memo.once(_over, self._lineage, (cause, why))

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
        gates = self._gates(shard)
        return self._lineage.memo.last(_will_read, self._lineage, shard, at, gates, cause, why)

    def _gates(self, shard: ShardId) -> frozenset[ShardId]:
        """The parents that a shard waits for; unlisted ones only if `holds_back` says so."""
        if (parents := self._lineage.parents(shard)) is not self._family:  # siblings share theirs
            self._family = parents
            self._listed_gates = self._lineage.memo.once(_gates_of, self._lineage, parents)
        unlisted = self._lineage.unlisted_parents(shard)
        others = frozenset(filter(self.holds_back, unlisted)) if unlisted else _NOBODY
        return self._listed_gates | others if others else self._listed_gates

    def holds_back(self, unlisted: ShardId) -> bool:
        """Whether the children of a shard that is not listed wait for it."""
        traits, lease = self._app.traits, self._positions.leases.get(unlisted)
        left = traits.leases and lease is not None and not lease.completed
        return left or traits.waits_for_unlisted
