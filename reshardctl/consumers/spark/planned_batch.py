"""The log of a planned batch: appended after a committed one, or made again where it is spoiled.

To append one, no existing file is replaced. Two leftovers have to be removed first: a log of the
new batch (awslabs takes it for a crashed run's and ends the batch at its positions) and orphaned
checksums (Spark could not write the files they belong to).

An offset log that Spark or the connector cannot read is made again. A batch of the JVM connectors
starts where the one before it ended, as the connector's log says, so that a newest log which is
empty, cut off or reformatted is no loss: it is made of the log before it. The batch before the
newest one only has to be read: its positions count no more (KinesisSource.getBatch,
KinesisV2MicrobatchStream.planInputPartitions: of the start only the batch id is looked at; runs of
the three builds, November 2026).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from reshardctl.consumers.spark.checkpoint import KEEPING, Batch, Checkpoint, log_of, with_watermark
from reshardctl.consumers.spark.files import created, removed, replaced, text_of
from reshardctl.consumers.spark.lines import awslabs, qubole
from reshardctl.consumers.spark.offset_log import (
    NO_OFFSET,
    OffsetLog,
    flaw_of_conf,
    parse_offset_log,
    unreadable,
)
from reshardctl.consumers.spark.positions import Position
from reshardctl.consumers.spark.releases import Traits
from reshardctl.consumers.spark.sources import offset_of
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, Step

LINES = {awslabs.NAME: awslabs.line, qubole.NAME: qubole.line}


def appended(
    checkpoint: Checkpoint, batch: Batch, places: Mapping[ShardId, Position], traits: Traits
) -> list[Step]:
    """Removes stale files, then writes the batch."""
    number, log = batch.id + 1, log_of(batch) + 1
    line = LINES[checkpoint.connector](checkpoint.stream_name, log, places, traits.scala)
    text = with_watermark(checkpoint, batch).replacing(checkpoint.source, line).text()
    why = f"plans batch {number}: {len(places)} shards with their starts; the next start runs it"
    return [
        *_stale(checkpoint, number, log),
        Step(
            f"plan batch {number}", (created(f"offsets/{number}", text, batch.image, why),)
        ),
    ]


def _stale(checkpoint: Checkpoint, number: int, log: int) -> Iterator[Step]:
    """Removes leftovers of the batch to be planned: its log, checksums without their files."""
    yield from wiped(checkpoint, log)
    yield from unblocked(checkpoint, number)


def unblocked(checkpoint: Checkpoint, number: int) -> Iterator[Step]:
    """Removes checksums without their files, which would keep Spark from writing a batch."""
    for key in (f"offsets/{number}", f"commits/{number}", f"offsets/{number + 1}"):
        if key in checkpoint.orphans:
            why = f"a checksum without its file, which keeps Spark from writing {key}"
            yield Step(f"remove the orphaned checksum of {key}", (removed(
                checkpoint.images[key], why),))


def wiped(checkpoint: Checkpoint, log: int) -> Iterator[Step]:
    """Removes the log of a batch that is not committed, file by file."""
    folder = checkpoint.log_folder(log)
    for key in sorted(checkpoint.images):
        if key.startswith(f"{folder}/") and key != f"{folder}/":
            why = f"the log of batch {log}, which is not committed: its end does not count"
            title = f"remove {key.rpartition('/')[2]} from the log of batch {log}"
            yield Step(title, (removed(checkpoint.images[key], why),))


_SPACE = re.compile(r"\s*")


def readable(lineage: Lineage, checkpoint: Checkpoint, scala: str = "2.12") -> Checkpoint:
    """The checkpoint with its two newest batches readable, itself where they are or cannot be."""
    return lineage.memo(_readable, lineage, checkpoint, scala)


def writes(checkpoint: Checkpoint, sound: Checkpoint) -> list[Step]:
    """The files that `readable` has made again, but a planned batch: its start is edited anyway."""
    steps = []
    for number, batch in sound.batches.items():
        if checkpoint.batches.get(number) is batch or not batch.committed:
            continue
        why = f"Spark reads it and cannot: {_wrong(checkpoint, number)}"
        write = replaced(batch.image, batch.log.text(), why)
        steps.append(Step(f"write offsets/{number} again", (write,)))
    return steps


def _wrong(checkpoint: Checkpoint, number: int) -> str:
    """Why Spark or the connector cannot read one of the two newest logs, "" where it can."""
    if number in checkpoint.unreadable:
        return checkpoint.unreadable[number]
    batch = checkpoint.batches[number]
    return batch.broken or flaw_of_conf(batch.log.metadata)


def _unread(checkpoint: Checkpoint, number: int) -> str:
    """The same of the batch before, whose second line may be empty."""
    batch = checkpoint.batches.get(number)
    if batch is None:
        return checkpoint.unreadable.get(number, "")
    return batch.broken or unreadable(batch.log.metadata)


def _readable(_lineage: Lineage, checkpoint: Checkpoint, scala: str) -> Checkpoint:
    newest = checkpoint.newest
    if newest is None or checkpoint.connector not in KEEPING or checkpoint.copied is not None:
        return checkpoint
    made = None
    if _wrong(checkpoint, newest):
        made = _reformatted(checkpoint, newest) or _after(checkpoint, newest, scala)
    elif newest not in checkpoint.committed and _unread(checkpoint, newest - 1):
        made = _before(checkpoint, checkpoint.batches[newest], scala)
    if made is None:
        return checkpoint
    batches = dict(sorted({**checkpoint.batches, made.id: made}.items()))
    left = {number: why for number, why in checkpoint.unreadable.items() if number != made.id}
    return replace(checkpoint, batches=batches, unreadable=left)


def _reformatted(checkpoint: Checkpoint, number: int) -> Batch | None:
    """The batch as its own file says, where that holds the right values in another form."""
    try:
        text = text_of(checkpoint.images[f"offsets/{number}"])
        log = parse_offset_log(_compact(text))
    except (Malformed, KeyError, ValueError, RecursionError):
        return None
    before = checkpoint.batches.get(number - 1)
    line = log.line(checkpoint.source)
    if flaw_of_conf(log.metadata) or line is None or before is None or log == before.log:
        return None
    offset = offset_of(line)
    if offset is None or offset.broken or offset.batch_id != log_of(before) + 1:
        return None
    if log.names != before.log.names:
        return None
    return _batch(checkpoint, number, log, offset.positions, offset.batch_id)


def _compact(text: str) -> str:
    """A log of version 1 with one value a line; raises ValueError for other texts."""
    version, _, rest = text.removeprefix("\ufeff").lstrip().partition("\n")
    if version.strip() != "v1":
        raise ValueError(version)
    lines, at = ["v1"], _SPACE.match(rest, 0).end()  # type: ignore[union-attr]
    while at < len(rest):
        if rest.startswith(NO_OFFSET, at) and rest[at + 1 : at + 2].strip() == "":
            value, at = NO_OFFSET, at + 1
        else:
            found, at = _EXACT.raw_decode(rest, at)
            value = json.dumps(found, separators=(",", ":"), ensure_ascii=False)
        lines.append(value)
        at = _SPACE.match(rest, at).end()  # type: ignore[union-attr]
    return "\n".join(lines)


def _once_each(members: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(members)) < len(members):
        raise ValueError("a member is named twice")
    return found


def _no_float(text: str) -> Any:
    raise ValueError(text)  # its digits would not come back as they were


_EXACT = json.JSONDecoder(
    object_pairs_hook=_once_each, parse_float=_no_float, parse_constant=_no_float
)


def _after(checkpoint: Checkpoint, number: int, scala: str) -> Batch | None:
    """The batch as it follows from the one before it: a planned one, or one that its log ends.

    Of other sources only the file itself says where they stood.
    """
    own, before = checkpoint.batches.get(number), checkpoint.batches.get(number - 1)
    if before is None or before.broken or not before.begun or flaw_of_conf(before.log.metadata):
        return None
    if own is None and checkpoint.other_sources:
        return None
    if own is not None and own.broken and own.log.names != before.log.names:
        return None  # its values lie over several lines, and each line is taken for a source
    batch_id = log_of(before) + 1
    ends = _ends(checkpoint, log_of(before))
    if number in checkpoint.committed:
        own_ends = _ends(checkpoint, batch_id)
        positions = {shard: ends.get(shard, end) for shard, end in own_ends.items()}
    else:
        positions = {shard: ends.get(shard, start) for shard, start in before.positions.items()}
    if not positions:
        return None
    try:
        log = with_watermark(checkpoint, before)
        if own is not None:
            line = own.log.metadata if not flaw_of_conf(own.log.metadata) else log.metadata
            log = replace(own.log, metadata=line)
    except Malformed:
        return None
    if own is not None and not own.broken:
        return _batch(checkpoint, number, log, own.positions, own.batch_id)
    text = LINES[checkpoint.connector](checkpoint.stream_name, batch_id, positions, scala)
    return _batch(
        checkpoint, number, log.replacing(checkpoint.source, text), positions, batch_id
    )


def _before(checkpoint: Checkpoint, batch: Batch, scala: str) -> Batch | None:
    """The batch before a planned one, of which Spark and the connectors only read the number."""
    number, batch_id = batch.id - 1, log_of(batch) - 1
    image = checkpoint.images.get(f"offsets/{number}")
    if checkpoint.other_sources or image is None or number not in checkpoint.committed:
        return None
    if batch_id < 0 or not batch.begun or not batch.positions:
        return None
    text = LINES[checkpoint.connector](checkpoint.stream_name, batch_id, batch.positions, scala)
    log = batch.log.replacing(checkpoint.source, text)
    return _batch(checkpoint, number, log, batch.positions, batch_id)


def _ends(checkpoint: Checkpoint, log: int) -> dict[ShardId, Position]:
    return {s: entry.position for s, entry in checkpoint.entries.get(log, {}).items()}


def _batch(
    checkpoint: Checkpoint, number: int, log: OffsetLog, positions: Mapping[ShardId, Position],
    batch_id: int | None,
) -> Batch:
    image = checkpoint.images[f"offsets/{number}"]
    return Batch(
        number, image, log, positions, batch_id, number in checkpoint.committed
    )
