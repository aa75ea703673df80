"""Rules on the stream, on the look at it and on a watch: RSH101 to RSH105, RSH401, RSH403, RSH901.

Most of them are raised elsewhere and end the command: here is their code only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from reshardctl.diagnosis.evidence import Watched
from reshardctl.diagnosis.rules.base import (
    Found,
    Severity,
    View,
    elsewhere,
    rule,
    shards_of,
)
from reshardctl.model import DONE, AnomalyKind, Cause, ShardId, WillRead
from reshardctl.model.times import duration, instant
from reshardctl.planning.effects import Harm


@rule("RSH101", "reshard-in-progress")
def reshard_in_progress(view: View) -> Iterator[Found]:
    """Info: the listing was consistent, and may change."""
    if view.lineage.stream.status == "UPDATING":
        what = "the stream is UPDATING: shards may still be split or merged"
        yield Found(Severity.INFO, (), what, helps="look again with --wait 15m")


@rule("RSH102", "stream-recreated")
def stream_recreated(view: View) -> Iterator[Found]:
    """Error: the rows belong to an earlier stream of the same name."""
    if view.recreated:
        anomalies = view.anomalies_of(AnomalyKind.EARLIER_INCARNATION)
        what = (
            "every number in the store is older than the stream: it was deleted and made again, or "
            "the store is another stream's"
        )
        costs = "a shard that stands at such a number is never read"
        helps = (
            "check --stream first; only if the stream was deleted and made again, name its "
            "creation time with --recreated to start over"
        )
        stalls = view.harmed(Harm.STALLED, Cause.FOREIGN_NUMBER)
        crashes = view.harmed(Harm.CRASHES, Cause.FOREIGN_NUMBER)
        yield Found(
            Severity.ERROR, shards_of(anomalies), what,
            crashes[0].why if crashes else costs, (*crashes, *stalls), helps=helps,
        )


# Raised while the stream is listed (reshardctl/lineage/dag.py), exit 3.
elsewhere("RSH103", "hash-range-hole")


# Raised while the stream is listed (reshardctl/lineage/dag.py), exit 3.
elsewhere("RSH104", "open-parent")


# Raised while the stream is listed (reshardctl/lineage/dag.py), exit 3.
elsewhere("RSH105", "closed-without-children")


# Raised by the watch of fix and undo, before they write, exit 4.
elsewhere("RSH401", "consumer-running")


# Raised by any read that failed or came short, exit 3.
elsewhere("RSH901", "could-not-look")


class _Known(Enum):
    """What is known of records after a position."""

    UNREAD = "unread"
    """A record was read that is older than the watch."""
    CLOSED = "closed"
    """Nothing, but the shard closed before the watch, and is not ended."""
    DRAINED = "drained"
    """There are none, but the shard closed before the watch, and is not ended."""
    NOTHING = "nothing"
    IDLE = "idle"


@rule("RSH403", "not-progressing")
def not_progressing(view: View) -> Iterator[Found]:
    """A finding each for shards that no worker takes, stuck ones and possibly idle ones."""
    watched = view.watched
    if watched is None or not watched.runs:
        return
    by_state: dict[tuple[bool, _Known], list[ShardId]] = {}
    for shard in _standing(view, watched):
        known = _known(view, watched, shard)
        by_state.setdefault((watched.shards[shard].renewed, known), []).append(shard)
    for (renewed, known), shards in by_state.items():
        if not renewed:
            yield _not_taken(view, watched, known, shards)
        elif known is not _Known.IDLE:
            yield _standing_still(view, watched, known, shards)


def _standing(view: View, watched: Watched) -> Iterator[ShardId]:
    """Listed shards that are not finished, did not move, and do not wait for a parent."""
    for shard, movement in watched.shards.items():
        if movement.finished or movement.moved or shard not in view.lineage:
            continue
        fate = view.simulation.fates.get(shard)
        after = fate.after if isinstance(fate, WillRead) else frozenset()
        if not any(p in view.processed and view.processed[p].lo != DONE for p in after):
            yield shard


def _known(view: View, watched: Watched, shard: ShardId) -> _Known:
    probe = view.state.probes.get(shard)
    if probe is not None and probe.first_arrival is not None:
        return _Known.UNREAD if probe.first_arrival < watched.since else _Known.NOTHING
    closed = view.lineage.closed_at(shard)
    drained = probe is not None and probe.drained
    if closed is not None and closed < watched.since:
        return _Known.DRAINED if drained else _Known.CLOSED
    return _Known.IDLE if drained else _Known.NOTHING


_NOT_TAKEN = {_Known.UNREAD: ", and has unread records", _Known.CLOSED: ", and it is not ended"}


def _not_taken(
    view: View, watched: Watched, known: _Known, shards: Sequence[ShardId]
) -> Found:
    others = sum(movement.renewed for movement in watched.shards.values())
    renewed = f"{others} other{'s were' if others > 1 else ' was'} renewed"
    runs = renewed if others else "the consumer runs"
    what = (
        f"nobody renewed it in {duration(watched.seconds)} while {runs}"
        f"{_NOT_TAKEN.get(known, '')}"
    )
    helps = (
        f"look whether the workers may take more leases; {watched.excluded}; "
        f"{_again(view, known)}"
    )
    severity = Severity.ERROR if known is _Known.UNREAD else Severity.WARNING
    return Found(severity, tuple(shards), what, _costs(view, known, shards),
                   helps=helps)


def _standing_still(
    view: View, watched: Watched, known: _Known, shards: Sequence[ShardId]
) -> Found:
    owners = sorted({watched.shards[shard].owner for shard in shards})
    held = f"held by {', '.join(owners[:3])}" + (" and others" if len(owners) > 3 else "")
    still = f"{held}, renewed, and its position stood still for {duration(watched.seconds)}"
    what = {
        _Known.UNREAD: f"{still} with records unread that are older than that",
        _Known.CLOSED: f"{still}: it is closed and does not end",
        _Known.DRAINED: f"{still}: read to its end, and never ended",
    }.get(known, f"{still}: no progress seen, may be idle")
    helps = {
        _Known.DRAINED: "the application has to checkpoint when the shard ends; see its log",
        _Known.NOTHING: "--probe tells whether records are there",
    }.get(known, "see the worker's log for it; it may also checkpoint more rarely than that")
    severity = Severity.INFO if known is _Known.NOTHING else Severity.WARNING
    return Found(severity, tuple(shards), what, _costs(view, known, shards),
                   helps=helps)


def _again(view: View, known: _Known) -> str:
    return "watch again for longer" if known is _Known.UNREAD or view.state.probes else (
        "--probe tells whether records are there"
    )


def _costs(view: View, known: _Known, shards: Sequence[ShardId]) -> str:
    """When the oldest record that was seen expires."""
    if known in (_Known.DRAINED, _Known.CLOSED):
        return "its children wait for its end" if any(map(view.lineage.children, shards)) else ""
    probes = view.state.probes
    arrivals = [
        arrival for shard in shards
        if shard in probes and (arrival := probes[shard].first_arrival) is not None
    ]
    if known is not _Known.UNREAD or not arrivals:
        return ""
    keep = view.lineage.stream.retention
    return f"the oldest record seen expires at {instant(min(arrivals) + keep)}"
