"""Simulates what Quickwit's Kinesis source does when it starts, and says what it has published.

Every listed shard is read at once, whatever its parents do; a shard whose position Kinesis refuses
stalls alone, while the source looks healthy. The whole source crashes at every start because of `~`
on a listed shard, and because of a known child in some releases. Sources: `kinesis_source.rs` and
`shard_consumer.rs` of 0.8.2 and 0.9.0; the same states run on both, Nov 2026.

What it has published is known by its stored positions only. Quickwit never deletes an entry, so a
shard without one was never published from, unless a reset removed the source's key with all of its
entries.

Closed shards announce their children to the source. GetRecords names the children once a closed
shard is read to its end, even if nothing is left to read. A shard consumer passes on those whose
first parent it is (`shard_consumer.rs:214`), so of a merge only `ParentShardId` announces the
child. A shard whose position Kinesis refuses reads nothing and announces nothing.

No position prevents two races: the source fails and restarts, perhaps for ever. Both were seen on
the real source of 0.9.0 (runs of November 2026): a closed shard that leaves the source's map before
its own parent announces it is started once more, from a position that the batch in flight has
passed; the batch does not follow, and nothing of it is published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reshardctl.consumers.quickwit.document import NOT_LOADED
from reshardctl.consumers.quickwit.releases import App
from reshardctl.consumers.quickwit.rows import (
    Checkpoint,
    PositionKind,
    ReadPosition,
    enabled,
    places_in,
)
from reshardctl.consumers.sequence_numbers import furthest
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    Basis,
    Cause,
    Crash,
    Fate,
    Frontier,
    Rank,
    Risk,
    ShardId,
    Simulation,
    Span,
    WillRead,
    WontRead,
    exactly,
    short,
    time_of,
)
from reshardctl.model.times import instant

_OVER = exactly(DONE, Basis.INFERRED, "the shard is not listed any more: nothing reads it again")


_NO_KEY = "the source's key is gone: what was published is not known"


def processed(lineage: Lineage, checkpoint: Checkpoint, app: App) -> Frontier:
    """A span for every listed shard and every entry; a missing key may mean nothing published."""
    if app.traits.needs_key and not checkpoint.known:
        return {s: Span(START, furthest(lineage, s), Basis.INFERRED, _NO_KEY) for s in lineage}
    frontier: dict[ShardId, Span] = {s: _OVER for s in checkpoint.rows if s not in lineage}
    places = places_in(lineage, checkpoint)
    return frontier | {shard: place.span for shard, place in places.items()}


def announces(lineage: Lineage, shard: ShardId) -> bool:
    """Whether a listed shard, read to its end, would name a listed child."""
    if lineage.is_open(shard):
        return False
    return any(lineage.first_parent(child) == shard for child in lineage.children(shard))


def announcing(lineage: Lineage, checkpoint: Checkpoint) -> list[ShardId]:
    """Closed shards that will announce children from their stored positions, parents first."""
    places = places_in(lineage, checkpoint).items()
    return [shard for shard, at in places if not at.refused and announces(lineage, shard)]


BEHIND = 300.0
"""Seconds of stream time before a shard's close: fewer are drained in one answer."""


def risks(lineage: Lineage, checkpoint: Checkpoint) -> tuple[Risk, ...]:
    """Risks of a source that does start."""
    parents = announcing(lineage, checkpoint)
    if checkpoint.backfill and parents:
        return (_backfill(parents),)
    loops = tuple(dict.fromkeys(_loops(lineage, places_in(lineage, checkpoint), parents)))
    return (_livelock(loops),) if loops else ()


def _backfill(parents: list[ShardId]) -> Risk:
    return Risk(
        Cause.BACKFILL, tuple(parents),
        "in backfill mode a child may come to its tip before its parent announces it: the source "
        "then fails (failed to record partition delta) and starts again, until the parent comes "
        "first",
        "turn enable_backfill_mode off until these shards are no longer listed",
    )


def _livelock(shards: tuple[ShardId, ...]) -> Risk:
    return Risk(
        Cause.LIVELOCK, shards,
        "closed shards with unread records have parents with unread records: if one drains before "
        "its parent does and before a commit, the batch is refused (does not follow indexer "
        "checkpoint) and the source starts again, perhaps for ever",
        "lower commit_timeout_secs below the time in which the parents drain; no position helps",
    )


def _loops(
    lineage: Lineage, places: Mapping[ShardId, ReadPosition], parents: list[ShardId]
) -> Iterator[ShardId]:
    """Closed children with unread records whose announcing parent has unread records too."""
    for parent in parents:
        if not _behind(lineage, parent, places[parent]):
            continue
        for child in lineage.children(parent):
            if lineage.first_parent(child) == parent and not lineage.is_open(child) and _behind(
                lineage, child, places[child]
            ):
                yield child


def _behind(lineage: Lineage, shard: ShardId, position: ReadPosition) -> bool:
    at = position.span.lo
    closed = lineage.closed_at(shard)
    if at.rank is Rank.START:
        return True
    read = time_of(at.number) if at.rank is Rank.INSIDE else None
    return read is not None and closed is not None and closed - read > BEHIND


NAMED = 5
"""Shards that a message names before it counts the rest."""


def simulate_start(lineage: Lineage, checkpoint: Checkpoint, app: App) -> Simulation:
    """A fate for every listed shard and every entry."""
    places = places_in(lineage, checkpoint)
    fates: dict[ShardId, Fate] = {s: _ignored() for s in checkpoint.rows if s not in lineage}
    for shard, position in places.items():
        fates[shard] = lineage.memo.last(_fate, lineage, shard, position)
    crash = _crash(lineage, checkpoint, places, app)
    dangers = () if crash else risks(lineage, checkpoint)
    return Simulation(fates, crash, tuple(_notes(checkpoint)), dangers, orders=False)


def named(shards: list[ShardId]) -> str:
    """`shard 0`, `shards 0 and 4`, `shards 0, 4, 5 and 12 more`."""
    names = [short(shard) for shard in shards[:NAMED]]
    if len(shards) > NAMED:
        return f"shards {', '.join(names)} and {len(shards) - NAMED} more"
    if len(names) == 1:
        return f"shard {names[0]}"
    return f"shards {', '.join(names[:-1])} and {names[-1]}"


def _ignored() -> Fate:
    why = "the shard is not listed: Quickwit keeps its entry for good, and never looks at it"
    return WillRead(exactly(DONE), DONE, frozenset(), True, Cause.GONE, why)


def _fate(lineage: Lineage, shard: ShardId, position: ReadPosition) -> Fate:
    """The fate of a shard at this position."""
    is_open = lineage.is_open(shard)
    if position.kind is PositionKind.END:
        why = "at its EndingSequenceNumber: nothing of it is read, it announces no children"
        return WillRead(exactly(DONE), DONE, frozenset(), True, Cause.FINISHED, why)
    alone = "Kinesis refuses it, so this shard is not read; the source looks healthy and reads on"
    if position.kind is PositionKind.FOREIGN:
        return WontRead(
            Cause.FOREIGN_NUMBER, f"its position is a number of no record here. {alone}"
        )
    if position.kind is PositionKind.NONSENSE:
        return WontRead(Cause.UNREADABLE, f"its position is no sequence number. {alone}")
    if position.kind is PositionKind.AHEAD:
        why = "its number lies in the future: after it nothing is found, or it is refused"
        at, until = exactly(position.span.hi), furthest(lineage, shard)
        return WillRead(at, until, frozenset(), not is_open, Cause.FOREIGN_NUMBER, why)
    why = "resumes after its position" if position.span.lo.text else "is read from its beginning"
    return WillRead(
        position.span, furthest(lineage, shard), frozenset(), not is_open, Cause.UNMARKED, why
    )


def _crash(
    lineage: Lineage, checkpoint: Checkpoint, places: Mapping[ShardId, ReadPosition], app: App
) -> Crash | None:
    if checkpoint.refused:
        return Crash(
            f"{NOT_LOADED}, and no source of it runs: {checkpoint.refused}",
            "its text is mended", cause=Cause.UNREADABLE,
        )
    if app.traits.needs_key and not checkpoint.known:
        return Crash(
            f"the source fails at every start: could not find checkpoint for source "
            f"{checkpoint.source}", "its key is in the checkpoint again",
            cause=Cause.NO_CHECKPOINT,
        )
    if marked := [s for s, p in places.items() if p.kind is PositionKind.END_MARK]:
        return Crash(
            "the source panics at every start (position of a Kinesis shard should never be EOF): "
            f"{named(marked)} stand{'s' if len(marked) == 1 else ''} at ~, and no shard is read",
            "no listed shard is at ~", cause=Cause.UNREADABLE, by=tuple(marked),
        )
    if not app.traits.crashes_at_known_child:
        return None
    parents = announcing(lineage, checkpoint)
    return _crash_at(lineage, parents) if parents else None


def _crash_at(lineage: Lineage, parents: list[ShardId]) -> Crash:
    last = max(parents, key=lambda shard: lineage.closed_at(shard) or 0.0)
    closed = lineage.closed_at(last)
    when = "" if closed is None else f", at {instant(closed + lineage.stream.retention)}"
    return Crash(
        "the source panics at every start, logged as \"channel closed\": "
        f"{named(parents)}, closed, announce{'s' if len(parents) == 1 else ''} children that it "
        "reads already; no shard is read",
        f"{named([last])} is no longer listed{when}", cause=Cause.KNOWN_CHILD, by=tuple(parents),
    )


def _notes(checkpoint: Checkpoint) -> list[str]:
    if enabled(checkpoint.state):
        return []
    return [
        f"source {checkpoint.source} is disabled: the forecast is of its first start after it "
        "is enabled"
    ]
