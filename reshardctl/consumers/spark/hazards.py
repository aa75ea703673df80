"""Edits of a checkpoint that are impossible, or need the operator's consent.

Sources: runs on Spark 3.3.4 to 4.3.0, November 2026 (batches committed, planned, removed and edited
under foreachBatch, file sinks and stateful queries).
"""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.spark.checkpoint import (
    DATABRICKS,
    LINEAGE,
    UNKNOWN,
    Batch,
    Checkpoint,
    log_of,
    watermark,
    with_watermark,
)
from reshardctl.consumers.spark.files import ahead_of
from reshardctl.consumers.spark.offset_log import flaw_of_conf
from reshardctl.consumers.spark.positions import SHARD_END, Position, cut_of
from reshardctl.consumers.spark.releases import App, Sink
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.model import ShardId, possibly_before, short

NEW_CHECKPOINT = "begin a new checkpoint with startingPosition as JSON, if the sink can bear it"


def obstacle(
    checkpoint: Checkpoint, places: Mapping[ShardId, Position], app: App
) -> Cannot | None:
    """Why nothing may be written, `None` where nothing prevents it."""
    batch = checkpoint.newest_batch
    why = _of_form(checkpoint, batch)
    if why is not None or batch is None:
        return why
    return (
        _of_shared_log(checkpoint, batch)
        or _of_sink(checkpoint, batch, app)
        or _of_state(checkpoint, batch, places, app)
    )


def _of_form(checkpoint: Checkpoint, batch: Batch | None) -> Cannot | None:
    if checkpoint.newest is None and checkpoint.committed:
        return Cannot(
            f"commits/{max(checkpoint.committed)} is there and offsets/ is empty: where its "
            "batches stood is lost",
            ("restore offsets/ from a backup", NEW_CHECKPOINT),
        )
    if checkpoint.connector in (DATABRICKS, UNKNOWN):
        return Cannot(
            f"the {checkpoint.connector} source's offsets can be read, and are never written",
            ("for Databricks, begin a new checkpoint with initialPosition",),
        )
    if (gap := _of_gaps(checkpoint, batch)) is not None:
        return gap
    if batch is not None and (why := flaw_of_conf(batch.log.metadata)):
        return Cannot(
            f"offsets/{batch.id}: {why}", ("restore offsets/ from a backup", NEW_CHECKPOINT)
        )
    if batch is None or batch.broken or not batch.begun:
        return Cannot("the newest batch cannot be read, so no batch can be made of it",
                      ("restore offsets/ from a backup", NEW_CHECKPOINT))
    if batch.committed and (why := _unwritable(checkpoint, batch)):
        return Cannot(f"offsets/{batch.id}: {why}", (NEW_CHECKPOINT,))
    if folder := _folder_in_log(checkpoint, batch):
        return Cannot(
            f"{folder} is a folder in the connector's log, whose files are read: the query "
            "crashes at it",
            (f"move {folder} elsewhere",),
        )
    if any(number > batch.id for number in checkpoint.committed):
        return Cannot(
            f"commits/ is ahead of offsets/{batch.id}: Spark would not get past it",
            ("restore offsets/ from a backup", NEW_CHECKPOINT),
        )
    return None


def _unwritable(checkpoint: Checkpoint, batch: Batch) -> str:
    """Why no next batch can be made of the second line, which Spark reads, "" where one can."""
    try:
        with_watermark(checkpoint, batch)
    except Malformed as error:
        return str(error)
    return ""


def _folder_in_log(checkpoint: Checkpoint, batch: Batch) -> str:
    """The key of a folder in the log of the batch that a plan makes or edits, or ""."""
    log = checkpoint.log_folder(log_of(batch) + batch.committed)
    if not log:
        return ""
    inside = (key for key in checkpoint.images if key.startswith(f"{log}/") and key.endswith("/"))
    return next((key for key in sorted(inside) if key != f"{log}/"), "")


def _of_gaps(checkpoint: Checkpoint, batch: Batch | None) -> Cannot | None:
    """Missing offset logs: Spark starts on the newest two, the others prove what was processed."""
    before = checkpoint.newest - 1 if checkpoint.newest is not None else -1
    if checkpoint.copied is not None:
        copy = f"offsets/{checkpoint.newest}"
        return Cannot(
            f"{copy} is a copy of offsets/{checkpoint.copied}, and Spark takes it for a batch",
            (f"move {copy} out of offsets/, then look again",),
        )
    if checkpoint.asynchronous and not {before, before + 1} <= checkpoint.committed:
        return Cannot(
            f"offsets/{checkpoint.gaps[0].start} is missing between others: the query tracks its "
            "progress asynchronously, and such a checkpoint is not edited",
            ("start it with asyncProgressTrackingCheckpointIntervalMs=0, stop it when two batches "
             "have run, then look again",),
        )
    if checkpoint.gaps and not checkpoint.asynchronous:
        missing = checkpoint.gaps[0].start
        return Cannot(
            f"offsets/{missing} of a committed batch was removed: what it held is unknown",
            (f"restore offsets/{missing} from a backup", NEW_CHECKPOINT),
        )
    appends = batch is not None and batch.committed and checkpoint.connector != LINEAGE
    if before < 0 or appends:
        return None
    if (previous := checkpoint.batches.get(before)) is not None and not previous.broken:
        return None
    return Cannot(
        f"offsets/{before} is missing or cannot be read: Spark reads it beside offsets/"
        f"{before + 1}, and no edit of that one makes the query start",
        (f"restore offsets/{before} from a backup", NEW_CHECKPOINT),
    )


def _of_shared_log(checkpoint: Checkpoint, batch: Batch) -> Cannot | None:
    """Rows of batches after the planned one, from which those batches would continue.

    DynamodbMetadataCommitter.add writes a row only where none exists.
    """
    if not checkpoint.tabled:
        return None
    rows = ahead_of(checkpoint.images, log_of(batch) + (1 if batch.committed else 0))
    if not rows:
        return None
    return Cannot(
        f"the table of the connector's log has rows of batches that this query has not planned, "
        f"the first is {rows[0]}: after the planned batch the query would go on at their positions",
        ("delete the rows that no query is to read, or give every query a table of its own: "
         "reshardctl rule RSH234",),
    )


def _of_sink(checkpoint: Checkpoint, batch: Batch, app: App) -> Cannot | None:
    """A file sink that may have the planned batch already: it would skip the batch's new rows."""
    if batch.committed or app.sink is not Sink.FILE:
        return None
    if not checkpoint.entries.get(log_of(batch)):
        return None
    return Cannot(
        f"batch {batch.id} ran without being committed: where the file sink's log holds it, the "
        "sink passes over whatever the batch becomes",
        (
            f"look whether SINK/_spark_metadata/{batch.id} exists; where it does not, say "
            "sink=file-unwritten",
            "where it does, start the query once, stop it when that batch is committed, and look "
            "again",
        ),
    )


def _of_state(
    checkpoint: Checkpoint, batch: Batch, places: Mapping[ShardId, Position], app: App
) -> Cannot | None:
    """State that would count re-read rows twice, or a watermark that would drop late rows."""
    if watermark(checkpoint) > 0 and "late" not in app.allow:
        return Cannot(
            "the query has a watermark: it drops rows that are older, and what is read late is",
            ("add allow=late to the locator to repair all the same", NEW_CHECKPOINT),
        )
    again = _again(checkpoint, batch, places) if checkpoint.stateful else None
    if again is not None and "recount" not in app.allow:
        return Cannot(
            f"the query keeps state: rows of shard {short(again)} that are read again count twice",
            ("add allow=recount to the locator to repair all the same", NEW_CHECKPOINT),
        )
    return None


def _again(
    checkpoint: Checkpoint, batch: Batch, places: Mapping[ShardId, Position]
) -> ShardId | None:
    """A shard that would start before a position that a committed batch has reached."""
    if not batch.committed:
        return None
    for shard, entry in checkpoint.entries.get(log_of(batch), {}).items():
        position = places.get(shard)
        if entry.position.kind == SHARD_END and position is not None:
            return shard
        if position is not None and possibly_before(cut_of(position), cut_of(entry.position)):
            return shard
    return None
