"""Resolves a policy's time to sequence numbers: the shards open at it, and their positions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import floor
from typing import Protocol, cast

from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import CannotTell, UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, PositionAtTime, Rank, ShardId, short
from reshardctl.model.cuts import ARRIVAL_SLACK
from reshardctl.model.phrases import listed
from reshardctl.model.times import When, instant
from reshardctl.planning.policy import LATEST_AT_START, Policy

NAMED = 5
"""Shards that a note names before it says how many more there are."""


class Records(Protocol):
    """A stream whose records can be read."""

    def places(
        self, stream: str, opened: Mapping[ShardId, float | None], time: float
    ) -> Mapping[ShardId, PositionAtTime | None]:
        """Each shard's position at a time (Unix seconds); `None` if it was not reached."""


def resolved(policy: Policy, snapshot: Snapshot, stream: object) -> Policy:
    """The policy with its time and its positions; unchanged if it has no time.

    UsageError for a time outside the stream, CannotTell if the allowed reads did not suffice.
    """
    if not policy.unresolved:
        return policy
    assert policy.when is not None
    lineage = snapshot.lineage
    time = moment_of(policy.when, lineage, snapshot.now)
    opened = open_at(lineage, time)
    if (kept := snapshot.now - lineage.stream.retention) > time:
        note = (
            f"{instant(time)} is before the oldest record that the stream keeps (since "
            f"{instant(kept)}): every shard starts at its beginning"
        )
        return replace(policy, since=time, places=dict.fromkeys(opened, START), notes=(note,))
    if not hasattr(stream, "places"):
        raise UsageError(
            f"--policy {policy.text} has to read records, and a snapshot holds none",
            "name the consumer and --stream instead",
        )
    positions = cast("Records", stream).places(lineage.stream.arn, opened, time)
    if lost := [shard for shard in opened if positions[shard] is None]:
        raise CannotTell(
            f"--policy {policy.text}: where {_named(lost)} stood at {instant(time)} was not found "
            "within the reads allowed",
            "allow more: --probe-budget calls=10000,time=10m",
        )
    places = {shard: position for shard, position in positions.items() if position is not None}
    cuts = {shard: DONE if _over(lineage, shard, p, time) else p.at for shard, p in places.items()}
    return replace(
        policy, since=time, places=cuts, notes=tuple(_notes(policy, time, places, lineage))
    )


def with_ends(policy: Policy, snapshot: Snapshot, stream: object) -> Policy:
    """`latest-at-start` with the last record of every closed shard, where it can be read.

    Some stores mark a shard as over by that record's number. A shard without records, or whose last
    one is not reached within the reads allowed, has none.
    """
    if policy.name != LATEST_AT_START.name or not hasattr(stream, "places"):
        return policy
    lineage, ends = snapshot.lineage, dict(policy.places)
    for shard in lineage:
        closed = lineage.closed_at(shard)
        if closed is None:
            continue
        asked = {shard: lineage.opened_at(shard)}
        places = cast("Records", stream).places(lineage.stream.arn, asked, closed + ARRIVAL_SLACK)
        position = places[shard]
        if position is not None and position.nothing_after and position.at.rank is Rank.INSIDE:
            ends[shard] = position.at
    return replace(policy, places=ends)


def moment_of(when: When, lineage: Lineage, now: float) -> float:
    """Unix seconds of the time, whole if it is relative: what is printed is what is meant."""
    stream = lineage.stream
    if when.reshard:
        return resharded_at(lineage)
    time = when.at if when.at is not None else float(floor(now - (when.ago or 0.0)))
    if time > now:
        raise UsageError(
            f"--policy at-timestamp={when.text} is in the future: it is {instant(now)} now",
            "--policy latest starts from now on",
        )
    if time < stream.created:
        raise UsageError(
            f"--policy at-timestamp={when.text}: stream {stream.name} was created later, at "
            f"{instant(stream.created)}",
            f"give that time, or a later one: at-timestamp={instant(stream.created)}",
        )
    return time


def resharded_at(lineage: Lineage) -> float:
    """Unix second of the close of the shards that closed last.

    If those are no longer listed it follows from their children, which open a second later.
    """
    closes = [c for s in lineage if (c := lineage.closed_at(s)) is not None]
    births = [o - 1 for s in lineage if lineage[s].parents and (o := lineage.opened_at(s))]
    if not closes and not births:
        raise UsageError(
            f"@reshard: no shard of stream {lineage.stream.name} was ever split or merged, as far "
            "as they are listed",
            "give a time: --policy at-timestamp=2026-09-22T09:14:00Z or at-timestamp=-90m",
        )
    return max([*closes, *births])


def open_at(lineage: Lineage, time: float) -> dict[ShardId, float | None]:
    """The shards that may hold records from both sides of the time, each with its opening.

    A record arrives up to ARRIVAL_SLACK after the second in its number, so a shard may close with
    records in it that arrived after its close.
    """
    open_shards: dict[ShardId, float | None] = {}
    for shard in lineage:
        opened, closed = lineage.opened_at(shard), lineage.closed_at(shard)
        if opened is not None and opened >= time:
            continue
        if lineage.is_open(shard) or closed is None or closed + ARRIVAL_SLACK > time:
            open_shards[shard] = opened
    return open_shards


def _over(lineage: Lineage, shard: ShardId, position: PositionAtTime, time: float) -> bool:
    """Whether the shard closed before the time and holds nothing that arrived since."""
    closed = lineage.closed_at(shard)
    return closed is not None and closed <= time and position.nothing_after


def _notes(
    policy: Policy, time: float, places: Mapping[ShardId, PositionAtTime], lineage: Lineage
) -> Iterator[str]:
    late = sum(1 for s in lineage if (lineage.opened_at(s) or 0.0) >= time)
    born = f"; {late} opened later, to be read from the beginning" if late else ""
    there = sum(not _over(lineage, shard, position, time) for shard, position in places.items())
    shards = "1 shard was open" if there == 1 else f"{there} shards were open"
    yield f"policy {policy.text}: {shards} at {instant(time)}{born}"
    if early := [shard for shard, position in places.items() if position.early]:
        yield (
            f"the reads allowed ran out before {instant(time)} was reached in {_named(early)}: "
            "there the start lies earlier and more is re-read; --probe-budget allows more"
        )


def _named(shards: list[ShardId]) -> str:
    return f"shard {listed(shards, NAMED, short)}"
