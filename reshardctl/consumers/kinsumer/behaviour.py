"""Simulates what kinsumer does with its tables when it starts, and says what they prove.

Sources: refreshShards, capture, consume, getShardIterator and performLeaderActions of
twitchscience/kinsumer 9a48088 and snowplow-devops/kinsumer v1.6.0 and v1.7.0, and the same states
run on 9a48088 and v1.7.0, November 2026. It never orders: every shard is read at once.

The library deletes no checkpoint and orders nothing: a shard without a row is not begun, and
progress in a child proves nothing of its parents.

Signs that an application runs are its clients' rows and its leader's. A client refreshes its row
every shardCheckFrequency and the leader its own every leaderActionFrequency, a minute each by
default; a stop deletes the former and removes ID from the latter. A checkpoint's LastUpdate is no
sign: the original leaves it alone while a shard is quiet (run on 9a48088, Nov 2026).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.consumers.base import ShardOwner, Worker
from reshardctl.consumers.kinsumer.clocks import NANOS, Clocks, clocks, named
from reshardctl.consumers.kinsumer.releases import App
from reshardctl.consumers.kinsumer.rows import (
    LATEST,
    NOT_BEGUN,
    PositionKind,
    Row,
    Tables,
    asked_first,
    beginning,
    cut_of,
    ends_elsewhere,
    kind_of,
)
from reshardctl.consumers.kinsumer.spec import CACHE, CLIENTS, LEADER
from reshardctl.consumers.sequence_numbers import furthest, unborn
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Basis,
    Cause,
    Crash,
    Cut,
    Delay,
    Fate,
    Frontier,
    Image,
    Risk,
    ShardId,
    Simulation,
    Span,
    WillRead,
    WontRead,
    at_number,
    exactly,
    short,
)
from reshardctl.model.times import instant

ROUND = 60.0
"""Seconds; shardCheckFrequency and leaderActionFrequency, both a minute unless configured."""
TAKEOVER = 6 * ROUND
"""A killed owner's shards are taken over after clientRecordMaxAge, five checks by default."""

_NOBODY: frozenset[ShardId] = frozenset()
_WHOLE = exactly(DONE)
_OVER = WillRead(
    _WHOLE, DONE, _NOBODY, True, Cause.FINISHED, "it is finished", Delay(0.0, 2 * ROUND)
)
_OVER_AND_OWNED = replace(_OVER, delay=Delay(0.0, TAKEOVER + 2 * ROUND))


def simulate_start(lineage: Lineage, tables: Tables, app: App) -> Simulation:
    """A fate for every listed shard and every row."""
    start = _Start(lineage, tables, app, asked_first(lineage, tables), clocks(lineage, tables))
    shards = tables.shards(lineage)
    fates = {s: start.fate(s) for s in shards}
    risks = tuple(start.risks(fates))
    return Simulation(fates, _crash(tables), tuple(start.notes()), risks, orders=False)


def _crash(tables: Tables) -> Crash | None:
    if tables.cache is None or not tables.cache.broken:
        return None
    why = f"Run() ends with an error at every start: the ShardCache's {tables.cache.broken}"
    return Crash(why, "the ShardCache is repaired", cause=Cause.UNREADABLE)


class _Start(Struct, frozen=True):
    """One start: shards `asked` for before the leader's first round, rows `ahead` of time."""

    lineage: Lineage
    store: Tables
    app: App
    asked: frozenset[ShardId]
    ahead: Clocks

    def fate(self, shard: ShardId) -> Fate:
        row = self.store.rows.get(shard)
        if row is not None and row.mistyped and shard in self.lineage:
            return WontRead(Cause.UNREADABLE, f"capture fails: {', '.join(row.mistyped)} mistyped")
        if row is not None and shard not in self.lineage:
            return self._unlisted(row)
        if row is not None and row.finished is not None:
            return self._finished(row)
        if shard not in self.asked and (unfound := self._unfound()) is not None:
            return unfound
        if (until := self.ahead.owners.get(shard)) is not None:
            why = f"has an owner until {instant(until)}, by a LastUpdate that lies in the future"
            return WontRead(Cause.CLOCK_AHEAD, f"{why}: nobody takes it over before")
        return self._without_row(shard) if row is None else self._unfinished(row)

    def _unfound(self) -> WontRead | None:
        """Why no leader's round finds a shard that is not in the ShardCache."""
        if blind := next(iter(self.store.unreadable.values()), None):
            why = f"the leader's rounds fail on the row of {blind}: nobody finds it"
            return WontRead(Cause.UNREADABLE, f"not in the ShardCache, and {why}")
        if (until := self.ahead.blind) is None:
            return None
        key = LEADER if self.ahead.leader == until else CACHE
        why = (
            "not in the ShardCache, which nobody compares with the stream before "
            f"{instant(until)}: {named(key)} has a LastUpdate that lies in the future"
        )
        return WontRead(Cause.CLOCK_AHEAD, why)

    def _unlisted(self, row: Row) -> Fate:
        at = DONE if row.finished is not None else cut_of(self.lineage, row, self.app) or START
        born = not unborn(self.lineage, row.shard)
        why = "the shard is not listed; the leader drops it from the ShardCache"
        return self._reads(row.shard, exactly(at), Cause.GONE if born else Cause.UNBORN, why)

    def _finished(self, row: Row) -> Fate:
        """The fate of a finished shard; only the leader checks Finished."""
        shard = row.shard
        foreign = ends_elsewhere(self.lineage, row)
        if foreign and shard in self.asked:
            return self._unfinished(row)
        if shard not in self.asked and not self.lineage.is_open(shard):
            over = _OVER if row.owner is None else _OVER_AND_OWNED
            why = "marked as finished at a number of another shard: the leader leaves it out"
            return replace(over, cause=Cause.FALSE_END, why=why) if foreign else over
        at = cut_of(self.lineage, row, self.app)
        if self.lineage.is_open(shard):
            why = "marked as finished although it is open: the leader leaves it out"
            if shard not in self.asked or at is None:
                return WontRead(Cause.FALSE_END, why)
            why = f"{why} unless a record arrives before its first round"
            return self._reads(shard, exactly(at), Cause.FALSE_END, why, possible=why)
        if row.number is None:
            why = "finished without a number and asked for once more: all of it is read again"
            return self._reads(shard, exactly(at or START), Cause.FINISHED, why)
        why = "finished, and asked for once more after its last number"
        after = Span(at, DONE, Basis.INFERRED) if at is not None else exactly(DONE)
        return self._reads(shard, after, Cause.FINISHED, why)

    def _without_row(self, shard: ShardId) -> WillRead:
        at = beginning(self.lineage, shard, self.app)
        cause = Cause.REFILLED if self.store.rows else Cause.BOOTSTRAP
        why = f"has no checkpoint: it starts at {self.app.initial}, and waits for no parent"
        return self._reads(shard, exactly(at), cause, why)

    def _unfinished(self, row: Row) -> Fate:
        shard, at = row.shard, cut_of(self.lineage, row, self.app)
        match kind_of(self.lineage, row):
            case PositionKind.FOREIGN:
                why = "its number is none of this shard; GetShardIterator refuses it at every start"
                return WontRead(Cause.FOREIGN_NUMBER, why)
            case PositionKind.NONSENSE:
                return WontRead(Cause.UNREADABLE, "its SequenceNumber is no number")
            case PositionKind.AT_END:
                why = (
                    "Kinesis refuses to go on after the EndingSequenceNumber at every start: the "
                    "shard is never marked as finished"
                )
                return self._reads(shard, exactly(DONE), Cause.AT_END, why, possible=why)
            case PositionKind.AHEAD:
                why = "its number lies in the future: after it nothing is found, or it is refused"
                cause = Cause.FOREIGN_NUMBER
            case PositionKind.LATEST:
                why = "at LATEST: at the tip at every start until a record is acknowledged"
                cause = Cause.LATEST
            case PositionKind.UNREAD if self.app.by_time:
                why, cause = "not begun: it starts at the application's time", Cause.REFILLED
            case _:
                why, cause = "resumes at its checkpoint", Cause.POSITION
        assert at is not None
        return self._reads(shard, exactly(at), cause, why)

    def _reads(
        self, shard: ShardId, at: Span, cause: Cause, why: str, possible: str = ""
    ) -> WillRead:
        until: Cut = furthest(self.lineage, shard)
        row = self.store.rows.get(shard)
        most = TAKEOVER if row is not None and row.owner is not None else 0.0
        most += 0.0 if shard in self.asked else 2 * ROUND
        closed = shard not in self.lineage or not self.lineage.is_open(shard)
        if self.ahead.clients and at.hi != DONE:
            possible = possible or _share(self.ahead)
        return WillRead(at, until, _NOBODY, closed, cause, why, Delay(0.0, most), possible)

    def risks(self, fates: Mapping[ShardId, Fate]) -> Iterator[Risk]:
        """Clients that do not exist but count as alive, so that they get shards."""
        if self.ahead.clients:
            shards = tuple(
                s for s, f in fates.items() if isinstance(f, WillRead) and f.at.hi != DONE
            )
            rows = ", ".join(map(named, self.ahead.clients))
            yield Risk(Cause.CLOCK_AHEAD, shards, _share(self.ahead), f"remove {rows}")

    def notes(self) -> Iterator[str]:
        """Facts that are no findings but worth knowing."""
        bare = [
            short(r.shard) for r in self.store.rows.values()
            if r.finished is not None and r.number is None and r.shard in self.lineage
        ]
        if bare:
            yield (
                f"finished without a number: {', '.join(sorted(bare, key=int))}; read again from "
                "the beginning if the ShardCache is ever deleted"
            )
        strange = [n for s, n in self.store.unreadable.items() if s not in self.store.rows]
        if strange:
            yield (
                f"the leader's rounds fail on the row of {', '.join(strange)}: until it is deleted "
                "no shard of a later reshard is found"
            )
        if any(row.owner is not None for row in self.store.rows.values()):
            yield (
                "some shards have an owner: if it was killed, they are taken over after five times "
                "shardCheckFrequency (five minutes unless configured)"
            )


def _share(ahead: Clocks) -> str:
    until = instant(max(ahead.clients.values()))
    return (
        f"a client that is not there counts as alive until {until}, by a LastUpdate that lies in "
        "the future: nobody reads its share of the shards, and it may be the one to lead"
    )


def processed(lineage: Lineage, tables: Tables, app: App) -> Frontier:
    """A span for every listed shard and every row."""
    shards = tables.shards(lineage)
    return {shard: _span(lineage, tables, app, shard) for shard in shards}


def _span(lineage: Lineage, tables: Tables, app: App, shard: ShardId) -> Span:
    row = tables.rows.get(shard)
    if row is None:
        return _unread(lineage, tables, app, shard)
    if "SequenceNumber" in row.mistyped:
        return Span(START, furthest(lineage, shard))
    if row.finished is not None:
        return _finished(lineage, tables, row, app)
    span = _at_its_word(lineage, tables, row, app)
    if "Finished" in row.mistyped:
        return Span(span.lo, furthest(lineage, shard))
    return span


def _finished(lineage: Lineage, tables: Tables, row: Row, app: App) -> Span:
    """The span of a shard with a mark of its end, which a client makes at its last number."""
    if row.shard not in lineage:
        return _WHOLE
    if not lineage.is_open(row.shard):
        foreign = ends_elsewhere(lineage, row)
        return _at_its_word(lineage, tables, row, app) if foreign else _WHOLE
    at = cut_of(lineage, row, app)
    if kind_of(lineage, row) is PositionKind.NUMBER and at is not None:
        return exactly(at)
    return Span(START, TIP, Basis.INFERRED, "marked as finished while it is open")


def _at_its_word(lineage: Lineage, tables: Tables, row: Row, app: App) -> Span:
    match kind_of(lineage, row):
        case PositionKind.UNREAD:
            return _unread(lineage, tables, app, row.shard)
        case PositionKind.LATEST:
            return _of_latest(lineage, tables, row)
        case PositionKind.AT_END:
            return exactly(DONE, why="its position is the shard's EndingSequenceNumber")
        case PositionKind.AHEAD:
            why = "its number lies in the future, and is of no record"
            return Span(START, at_number(row.number or ""), Basis.INFERRED, why)
        case PositionKind.FOREIGN | PositionKind.NONSENSE:
            return Span(START, furthest(lineage, row.shard))
        case PositionKind.START | PositionKind.NUMBER:
            at = cut_of(lineage, row, app)
            assert at is not None
            return exactly(at)


def _unread(lineage: Lineage, tables: Tables, app: App, shard: ShardId) -> Span:
    """The span of a shard that is not begun; a start by time holds for roots, not below."""
    if shard in lineage.memo(_below_rows, lineage, tables):
        return exactly(START)
    return exactly(beginning(lineage, shard, app))


def _of_latest(lineage: Lineage, tables: Tables, row: Row) -> Span:
    """The span of LATEST, which only a bootstrap or an operator writes.

    Below a shard that was read, LATEST skips what was written before each start, until a record is
    acknowledged.
    """
    if row.shard in lineage.memo(_below_read, lineage, tables):
        return exactly(START, why="no record of it was ever acknowledged")
    if furthest(lineage, row.shard) == DONE:
        why = "closed before anything of it was acknowledged"
        return Span(START, DONE, Basis.INFERRED, why)
    return exactly(TIP, why="LATEST by choice: a bootstrap or an operator wrote it")


def _below_rows(lineage: Lineage, tables: Tables) -> set[ShardId]:
    return lineage.descendants(*filter(lineage.__contains__, tables.rows))


def _below_read(lineage: Lineage, tables: Tables) -> set[ShardId]:
    read = (shard for shard, row in tables.rows.items() if shard in lineage and _was_read(row))
    return lineage.descendants(*read)


def _was_read(row: Row) -> bool:
    return row.number not in (None, LATEST) and not row.set_aside


LATEST_TIME = 253402300800
"""Unix seconds of the year 10000: what lies beyond it is no time that can be shown."""


def signs_of_life(images: Iterable[Image]) -> dict[str, str]:
    """Row → what its owner changes."""
    return {
        image.key: f"{image.attributes.get('ID')} {image.attributes.get('LastUpdate')}"
        for image in images
        if image.key.startswith(CLIENTS) or (image.key == LEADER and "ID" in image.attributes)
    }


def holds(tables: Tables) -> dict[ShardId, ShardOwner]:
    """Owner, LastUpdate, position and finished mark of every checkpoint."""
    return {
        shard: ShardOwner(
            row.owner or "", str(row.updated), row.number or NOT_BEGUN,
            row.finished is not None,
        )
        for shard, row in tables.rows.items()
    }


def workers(tables: Tables) -> list[Worker]:
    """The clients, by the id that owns shards, each at its LastUpdate (nanoseconds)."""
    leader = next((_id(image) for image in tables.others if image.key == LEADER), "")
    return [
        Worker(name, _seconds(image), name == leader) for image in tables.others
        if image.key.startswith(CLIENTS) and (name := _id(image))
    ]


def _id(image: Image) -> str:
    name = image.attributes.get("ID", {}).get("S")
    return name if isinstance(name, str) else ""


def _seconds(image: Image) -> float | None:
    """LastUpdate in Unix seconds; `None` if it is no time."""
    number = image.attributes.get("LastUpdate", {}).get("N", "")
    known = number.isdecimal() and 0 < int(number) < LATEST_TIME * NANOS
    return int(number) / NANOS if known else None


def saved_at(tables: Tables) -> dict[ShardId, float]:
    """LastUpdate of every checkpoint: the last save, or the last change of its owner."""
    return {
        shard: row.updated / NANOS for shard, row in tables.rows.items()
        if 0 < row.updated < LATEST_TIME * NANOS
    }


def excluded_by(seconds: float) -> str:
    """What a watch of `seconds` without a renewal rules out."""
    return (
        f"{seconds:g} s without a client's or leader's renewal rules out a shardCheckFrequency of "
        f"up to {seconds:g} s (its default is 60 s)"
    )
