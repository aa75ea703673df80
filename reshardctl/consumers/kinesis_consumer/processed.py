"""What the rows prove to be processed, shard by shard, for a configured application.

A row says up to where its shard was read, not whether that was its last record. Where the
application begins at LATEST, a child begins when the library first asks for it: earlier records are
skipped, and the row does not show it (runs on v0.5.0 and master, Nov 2026).
"""

from __future__ import annotations

from dataclasses import replace

from reshardctl.consumers.kinesis_consumer.app import App, Start
from reshardctl.consumers.kinesis_consumer.beginning import beginning
from reshardctl.consumers.kinesis_consumer.evidence import evidence
from reshardctl.consumers.kinesis_consumer.rows import Positions
from reshardctl.consumers.sequence_numbers import (
    CREATION_SLACK,
    NumberKind,
    furthest,
)
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Basis,
    ShardId,
    Span,
    at_number,
    exactly,
    is_number,
    time_of,
)

NEAR = 300.0
"""Seconds before a shard's close within which its stored record counts as its last, if the library
continued below the shard."""
BEGUN_LATE = "begun when it was first asked for: what came before may be missing"
_BEGINNING = exactly(START)


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
            case NumberKind.START:
                return _BEGINNING
            case NumberKind.AT_END:
                return exactly(DONE, why="its position is the shard's EndingSequenceNumber")
            case NumberKind.INSIDE:
                return self._read(shard, row.text)
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
        if begun:
            why = "a shard below it has begun; whether it is done is stored nowhere"
            return Span(at.lo, DONE, Basis.INFERRED, why, head)
        return replace(at, head=head) if head else at

    def _near_its_end(self, shard: ShardId, text: str) -> bool:
        """Whether its stored record came shortly before its close."""
        written, closed = time_of(text), self._closed(shard)
        return written is not None and closed is not None and closed - written <= NEAR

    def _closed(self, shard: ShardId) -> float | None:
        if shard in self._lineage:
            return self._lineage.closed_at(shard)
        opened = [self._lineage.opened_at(child) for child in self._lineage.children(shard)]
        return min((time for time in opened if time is not None), default=None)

    def _begun_late(self, shard: ShardId) -> bool:
        """Whether it began while the application ran, and not at its start."""
        born = self._lineage.first_parent(shard) is not None
        if not born or not self._starts_late(shard):
            return False
        return self._seen.ran_before(shard) and not self._seen.expired(shard)

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
        why, number = "born while the application was at work", self._seen.elsewhere(shard)
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
