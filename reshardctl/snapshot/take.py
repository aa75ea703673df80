"""Takes a snapshot: reads a stream and one consumer's rows together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Protocol, cast

from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import Count, Cut, Interval, Probe, ShardId
from reshardctl.stores.base import Store


class Stream(Protocol):
    """The calls that a snapshot makes to Kinesis."""

    def lineage(self, stream: str) -> Lineage:
        """A consistent listing, or an error."""

    def probe(self, stream: str, shard: ShardId, since: Cut) -> Probe:
        """A bounded read."""


class Records(Protocol):
    """The calls to Kinesis that read many shards at once; a snapshot in its place has none."""

    def probes(
        self, stream: str, places: Iterable[tuple[ShardId, Cut]], *, limit_records: int = ...
    ) -> Mapping[ShardId, Probe]:
        """Bounded reads from each cut."""

    def counts(self, stream: str, intervals: Iterable[Interval]) -> Mapping[Interval, Count]:
        """The number of records in each interval."""


def take(
    kinesis: Stream, medium: Store, stream: str, locator: Locator, clock: Callable[[], float]
) -> Snapshot:
    """Reads everything. The rows come after the listing, so that every row's shard is listed."""
    lineage = kinesis.lineage(stream)
    store = medium.identity()
    images = medium.read()
    return Snapshot(locator, lineage, tuple(images), store, clock())


def probed(
    snapshot: Snapshot, kinesis: Stream, places: Iterable[tuple[ShardId, Cut]]
) -> Snapshot:
    """The same snapshot with bounded reads from these cuts."""
    arn = snapshot.lineage.stream.arn
    if hasattr(kinesis, "probes"):
        probes = cast("Records", kinesis).probes(arn, places)
    else:
        probes = {shard: kinesis.probe(arn, shard, since) for shard, since in places}
    return replace(snapshot, probes={**snapshot.probes, **probes})


def first_records(
    snapshot: Snapshot, kinesis: Stream, places: Iterable[tuple[ShardId, Cut]]
) -> Snapshot:
    """The same snapshot with the first record after each of these cuts, for metrics.

    Nothing is read where the stream is a snapshot.
    """
    if not hasattr(kinesis, "probes"):
        return snapshot
    arn = snapshot.lineage.stream.arn
    read = cast("Records", kinesis).probes(arn, places, limit_records=1)
    return replace(snapshot, first_records={**snapshot.first_records, **read})


def counted(snapshot: Snapshot, kinesis: Stream, intervals: Iterable[Interval]) -> Snapshot:
    """The same snapshot with the records of these intervals counted.

    UsageError if the stream is a snapshot.
    """
    if not hasattr(kinesis, "counts"):
        raise UsageError(
            "--count has to read records, and a snapshot holds none",
            "name the consumer and --stream instead",
        )
    counts = cast("Records", kinesis).counts(snapshot.lineage.stream.arn, intervals)
    return replace(snapshot, counts={**snapshot.counts, **counts})
