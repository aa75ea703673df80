"""What an operator should know of a checkpoint besides its findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reshardctl.consumers.spark.app import DEFAULT_LIMIT, App
from reshardctl.consumers.spark.checkpoint import Checkpoint
from reshardctl.consumers.spark.positions import AT_TIMESTAMP, LATEST
from reshardctl.consumers.spark.stamps import planned_at
from reshardctl.model import Cause, Fate, ShardId, WillRead
from reshardctl.model.times import instant


def notes(
    checkpoint: Checkpoint, app: App, fates: Mapping[ShardId, Fate]
) -> Iterator[str]:
    """Notes on how far back the evidence goes, and on what this release does by itself."""
    yield from _horizon(checkpoint)
    yield from of_default(app, fates)
    if app.traits.drops_closed and app.limit is None and _reads_a_closed_one(checkpoint, fates):
        yield (
            f"{app.traits.release} reads a closed shard in one batch, up to "
            f"kinesis.maxFetchRecordsPerShard ({DEFAULT_LIMIT} unless set), and drops the rest: "
            "set it above the longest unread tail for that batch"
        )
    if app.traits.forgets_idle and _idle(checkpoint):
        yield (
            f"{app.traits.release} stores an idle shard as LATEST: what arrives between two "
            "batches of it is never read; start it with TRIM_HORIZON, or use awslabs-2.0.0 with "
            "consumerType=GetRecords (with SubscribeToShard it never gets past such a shard)"
        )


def of_default(app: App, fates: Mapping[ShardId, Fate]) -> Iterator[str]:
    """The note that the outcome depends on an option that was not given."""
    if app.by_default and any(fate.cause is Cause.GONE for fate in fates.values()):
        default = str(app.fails).lower()
        yield (
            f"failOnDataLoss={default}, the default of {app.traits.release}, is taken: shards that "
            "are not listed any more kill a query with true, and none with false; say "
            f"failOnDataLoss={str(not app.fails).lower()} if the query sets it"
        )


def _horizon(checkpoint: Checkpoint) -> Iterator[str]:
    oldest = next(iter(checkpoint.batches.values()), None)
    if oldest is None or oldest.id == 0:
        return
    since = planned_at(oldest)
    when = "" if since is None else f", of {instant(since)}"
    if checkpoint.older:
        yield (
            f"{checkpoint.older} batches before {oldest.id}{when} were not read: the next start "
            "needs none of them, and what was lost in reshards before is unknown (an audit of the "
            "sink can tell)"
        )
        return
    yield (
        f"the checkpoint's history begins with batch {oldest.id}{when}: what was lost in reshards "
        "before is unknown to it (an audit of the sink can tell)"
    )


def _reads_a_closed_one(checkpoint: Checkpoint, fates: Mapping[ShardId, Fate]) -> bool:
    return any(
        isinstance(fate, WillRead) and fate.ends and fate.cause is Cause.POSITION
        for fate in fates.values()
    ) and checkpoint.newest not in checkpoint.committed


def _idle(checkpoint: Checkpoint) -> bool:
    batch = checkpoint.batches.get(checkpoint.newest or 0)
    return batch is not None and any(
        position.kind in (LATEST, AT_TIMESTAMP) for position in batch.positions.values()
    )
