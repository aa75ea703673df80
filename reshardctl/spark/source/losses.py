"""What a query lost and how far it is behind: sentences, and the figures of its progress.

Sentences are about records that cannot be read any more: which shards, which times, what to do.
Progress is told per shard, for the progress of 4.2 and later, and for the log. Times are Unix
seconds.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reshardctl.errors import CannotTell, UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, decode, index_of, short, time_of
from reshardctl.model.phrases import listed
from reshardctl.model.times import duration, instant
from reshardctl.spark.source.offset import Offset, OffsetPosition, unlisted_parents

_NAMED = 8
_SAME = 1.0
_LEAD = 60.0
"""Seconds by which a number may be older than its stream: three were seen (StartingSequenceNumber
of the first shards of seven streams)."""
LEAST_RETENTION = 86_400.0
"""Seconds; no stream keeps its records for less (IncreaseStreamRetentionPeriod API reference)."""
GRACE = 600.0
"""Seconds. Records that expire so soon after a query's first batch, before any record of a shard
was read, do not count as unread: a new query takes what is left."""


class Loss(Struct, frozen=True):
    """Records that may be gone. kind: recreated, trimmed, unlisted or expired."""

    kind: str
    shards: tuple[ShardId, ...]
    why: str


class DataLoss(CannotTell):
    """Unread records of a `kinesis-lineage` query have expired, and `failOnDataLoss` is true.

    Next: inspect the checkpoint and audit the sink; to go on without these records, start the
    query once with `failOnDataLoss` false.
    """

    id = "E307"


def failure(losses: Sequence[Loss], stream: str) -> DataLoss:
    """The error: every loss, what continuing costs, and the next commands."""
    told = "; ".join(loss.why for loss in losses)
    return DataLoss(
        f"stream {stream}: {told}",
        f"reshardctl inspect spark:CHECKPOINT --stream {stream} shows what is lost, and reshardctl "
        f"audit SINK --stream {stream} what the sink lacks. To go on without these records, "
        'start the query once with .option("failOnDataLoss", "false"); it then reads from the '
        "oldest records that are left",
    )


def same_stream(offset: Offset, name: str) -> None:
    """Raises UsageError if the offset is of a stream of another name."""
    if offset.stream and offset.stream != name:
        raise UsageError(
            f"the checkpoint holds positions in stream {offset.stream}, "
            f"but the options name stream {name}",
            "name that stream, or give the query a checkpointLocation of its own",
        )


def recreated(offset: Offset, created: float) -> Loss | None:
    """The loss if the stream was created, at this time, after the offset's stream."""
    if offset.created is not None:
        if abs(offset.created - created) <= _SAME:
            return None
        before = f"the checkpoint is of the one created {instant(offset.created)}"
    else:
        times = [
            time for position in offset.shards.values() if (time := time_of(position.seq or "-"))
        ]
        if not times or max(times) >= created - _LEAD:
            return None
        before = f"the newest position in the checkpoint is of {instant(max(times))}"
    why = (
        f"it was deleted and created again at {instant(created)} ({before}): what the "
        "query had not read of the old stream is lost, and the new one is read from its beginning"
    )
    return Loss("recreated", tuple(sorted(offset.shards)), why)


def all_born(offset: Offset, lineage: Lineage) -> None:
    """Raises CannotTell for a shard newer than all listed ones: the listing is behind."""
    newest = lineage.newest_index()
    ahead = sorted(shard for shard in offset.shards if (index_of(shard) or 0) > newest)
    if ahead:
        raise CannotTell(
            f"shard {short(ahead[0])} is newer than every listed shard: the listing of "
            f"stream {lineage.stream.name} lags, or the checkpoint is not of this stream",
            "start the query again; if that does not help: reshardctl inspect spark:CHECKPOINT "
            f"--stream {lineage.stream.name}",
        )


def trimmed(places: Mapping[ShardId, OffsetPosition], lineage: Lineage) -> Loss | None:
    """The loss of unlisted shards that were not read to their end."""
    gone = [
        shard
        for shard, position in sorted(places.items())
        if not position.end and shard not in lineage
    ]
    if not gone:
        return None
    spans = [_span(lineage, shard, places[shard]) for shard in gone]
    return Loss("trimmed", tuple(gone), _all("unread records have expired in", spans))


def skipped(
    offset: Offset, lineage: Lineage, entering: Collection[ShardId]
) -> Loss | None:
    """The loss of shards that were created, closed and expired before the query came to them."""
    pairs = list(unlisted_parents(lineage, offset.shards, entering))
    if not pairs:
        return None
    gone = sorted({parent for _, parent in pairs})
    spans = [
        f"shard {short(parent)} (all of it, until {_time(lineage.opened_at(child))})"
        for child, parent in {parent: (child, parent) for child, parent in pairs}.values()
    ]
    why = _all("these shards, and perhaps their parents, expired before the query read them:",
               spans)  # fmt: skip
    return Loss("unlisted", tuple(gone), why)


def from_birth(lineage: Lineage, shard: ShardId, position: OffsetPosition) -> OffsetPosition:
    """The position of an entering shard, with the time of its creation as its tip."""
    if stands_for(position) is not None or shard not in lineage:
        return position
    return replace(position, tip=lineage.opened_at(shard))


def kept_for(offset: Offset, lineage: Lineage) -> float:
    """Seconds of retention since this offset was planned; a later increase does not count."""
    now = lineage.stream.retention
    return now if offset.retention is None else min(now, offset.retention)


def suspects(
    places: Mapping[ShardId, OffsetPosition], lineage: Lineage, now: float, begun: float | None,
    horizon: float,
) -> Iterator[tuple[ShardId, float]]:  # fmt: skip
    """Positions before the horizon, with the time up to which each is known to be read.

    Whether something was lost is not certain: the shard may have been idle. begun: when the query's
    first batch was planned, if known.
    """
    for shard, position in sorted(places.items()):
        then = stands_for(position)
        if position.end or shard not in lineage or then is None or then >= horizon:
            continue
        if position.seq or not young(now, begun):
            yield shard, then


def to_look_up(
    places: Mapping[ShardId, OffsetPosition], lineage: Lineage, now: float
) -> Iterator[tuple[ShardId, str]]:
    """Positions whose own record must still exist, unless retention was shorter recently."""
    for shard, position in sorted(places.items()):
        read = time_of(position.seq) if position.seq else None
        if position.end or shard not in lineage or read is None:
            continue
        if now - lineage.stream.retention <= read < now - LEAST_RETENTION:
            yield shard, position.seq


def shortened(places: Sequence[tuple[ShardId, str]], now: float) -> Loss | None:
    """The loss of shards whose position's own record is gone before its time."""
    if not places:
        return None
    spans = [f"shard {short(shard)} (from {_time(time_of(seq))})" for shard, seq in places]
    why = (
        _all("the last record that the query has read is missing in", spans)
        + f" before its time, so retention was shorter before: records up to "
        f"{instant(now - LEAST_RETENTION)} may have expired unread"
    )
    return Loss("expired", tuple(shard for shard, _ in places), why)


def young(now: float, begun: float | None) -> bool:
    """Whether a query's first batch was planned just now."""
    return begun is not None and now - begun <= GRACE


def stands_for(position: OffsetPosition) -> float | None:
    """The latest time before which nothing is unread, `None` if the position does not show it."""
    decoded = decode(position.seq) if position.seq else None
    known = (None if decoded is None else float(decoded.time), position.since, position.tip)
    return max((time for time in known if time is not None), default=None)


def expired(places: Sequence[tuple[ShardId, float]], horizon: float) -> Loss | None:
    """The loss of shards of which records after their position may have expired unread."""
    if not places:
        return None
    spans = [f"shard {short(shard)} (from {instant(since)})" for shard, since in places]
    long = duration(horizon - min(since for _, since in places))
    why = (
        _all("the position of the query is older than the retention period in", spans)
        + f": records up to {instant(horizon)}, {long} at most, may have expired unread"
    )
    return Loss("expired", tuple(shard for shard, _ in places), why)


def _span(lineage: Lineage, shard: ShardId, position: OffsetPosition) -> str:
    births = [time for c in lineage.children(shard) if (time := lineage.opened_at(c)) is not None]
    since, until = stands_for(position), min(births, default=None)
    begun = "its beginning" if since is None else instant(since)
    return f"shard {short(shard)} (from {begun} to {_time(until)})"


def _time(seconds: float | None) -> str:
    return "a time unknown" if seconds is None else instant(seconds)


def _all(what: str, spans: Sequence[str]) -> str:
    return f"{what} {listed(spans, _NAMED)}"


LOG = logging.getLogger("reshardctl.spark.source")


class Progress(Struct):
    """What the driver saw when it planned the newest batch. behind: milliseconds a shard."""

    behind: dict[ShardId, int] = field(default_factory=dict)
    lost: int = 0
    _told: set[Loss] = field(default_factory=set)

    def lose(self, losses: Iterable[Loss], stream: str) -> None:
        """Log each loss once, and count it."""
        for loss in losses:
            if loss not in self._told:
                self._told.add(loss)
                self.lost += 1
                LOG.warning("stream %s: %s (failOnDataLoss is false)", stream, loss.why)

    def unasked(
        self, lineage: Lineage, shard: ShardId, position: OffsetPosition, now: float
    ) -> None:
        """Estimates the delay of a shard that is read to an end or a goal without being asked."""
        then = stands_for(position) or lineage.opened_at(shard)
        self.behind[shard] = 0 if then is None else max(0, round(1000 * (now - then)))

    def planned(self, offset: Offset, changed: bool) -> None:
        """A batch up to this offset was planned, or none is needed."""
        unfinished = {s for s, position in offset.shards.items() if not position.end}
        for shard in self.behind.keys() - offset.shards.keys():
            del self.behind[shard]
        if changed:
            LOG.info(
                "stream %s: a batch up to %d unfinished of %d shards, at most %d ms behind",
                offset.stream, len(unfinished), len(offset.shards), self.most,
            )  # fmt: skip

    @property
    def most(self) -> int:
        """Milliseconds that the query was behind in the worst shard."""
        return max(self.behind.values(), default=0)

    def report(self) -> dict[str, Any] | None:
        """The latestOffset in a query's progress; `None` before the first batch."""
        if not self.behind:
            return None
        return {
            "millisBehindLatest": {shard: self.behind[shard] for shard in sorted(self.behind)},
            "maxMillisBehindLatest": self.most,
            "losses": self.lost,
        }
