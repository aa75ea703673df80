"""Taking a snapshot: a stream and one consumer's rows, read together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from reshardctl.evidence import Snapshot
from reshardctl.lineage import Lineage
from reshardctl.locator import Locator
from reshardctl.media.base import Medium
from reshardctl.model import Cut, Probe, ShardId


class Stream(Protocol):
    """What is asked of Kinesis."""

    def lineage(self, stream: str) -> Lineage:
        """A settled listing, or an error."""

    def probe(self, stream: str, shard: ShardId, since: Cut) -> Probe:
        """A bounded read."""


def take(
    kinesis: Stream, medium: Medium, stream: str, locator: Locator, clock: Callable[[], float]
) -> Snapshot:
    """Read everything. The rows come after the listing, so that no row is of a shard unheard of."""
    lineage = kinesis.lineage(stream)
    store = medium.identity()
    images = medium.read()
    return Snapshot(locator, lineage, tuple(images), store, clock())


def probed(
    snapshot: Snapshot, kinesis: Stream, places: Iterable[tuple[ShardId, Cut]]
) -> Snapshot:
    """The same with bounded reads from these places."""
    arn = snapshot.lineage.stream.arn
    found = {shard: kinesis.probe(arn, shard, since) for shard, since in places}
    return replace(snapshot, probes={**snapshot.probes, **found})
