"""Anomalies of a checkpoint's files, apart from its positions, and files that do not belong to it.

An error is a file that Spark or the connector reads at its next start: the two newest offset logs,
the newest commit, the connector's log of the newest batch. Others are remarks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reshardctl.consumers.spark.checkpoint import Batch, Retained, log_of, to_write, written_over
from reshardctl.consumers.spark.files import (
    COMMITS,
    METADATA,
    OFFSETS,
    Folders,
    bytes_of,
    crc_of,
    holds,
    is_batch,
    is_orphan,
    is_temporary,
    passes_for_batch,
    query_id,
)
from reshardctl.consumers.spark.offset_log import flaw_of_conf, unreadable
from reshardctl.consumers.spark.positions import SourceOffset
from reshardctl.consumers.spark.sources import Log
from reshardctl.model import Anomaly, AnomalyKind, Image


def litter(folders: Folders) -> Iterator[Anomaly]:
    """Leftovers and foreign files; an error only where Spark takes one for a batch."""
    for folder in sorted(folders):
        inside, numbered = folders[folder], folder in (OFFSETS, COMMITS)
        for name in sorted(_unlike_batches(inside) if numbered else _with_checksums(inside)):
            image = inside[name]
            if numbered:
                yield from _stranger(folder, name, image)
            if is_orphan(image):
                why = (
                    f"the checksum of {image.key} was left without its file: on a local disk "
                    "Hadoop refuses to write that file"
                )
                yield Anomaly(AnomalyKind.FOREIGN_ENTRY, image.key, "orphaned checksum", why)
            else:
                yield from _stale(image)


def _with_checksums(inside: Mapping[str, Image]) -> Iterator[str]:
    return (name for name, image in inside.items() if "crc" in image.attributes)


def _unlike_batches(inside: Mapping[str, Image]) -> set[str]:
    return {*_with_checksums(inside), *(name for name in inside if not is_batch(name))}


def _stranger(folder: str, name: str, image: Image) -> Iterator[Anomaly]:
    if passes_for_batch(name) or (name.endswith("/") and is_batch(name[:-1])):
        why = f"Spark takes {image.key} for a batch of {folder}, and cannot read it as one"
        yield Anomaly(AnomalyKind.UNREADABLE, image.key, name, why)
    elif is_temporary(name):
        why = f"{image.key} was left by a writer that crashed; Spark passes it by"
        yield Anomaly(AnomalyKind.FOREIGN_ENTRY, image.key, "temporary file", why)
    elif not is_batch(name):
        why = f"{image.key} is no batch; Spark passes it by"
        yield Anomaly(AnomalyKind.FOREIGN_ENTRY, image.key, "other file", why)


def _stale(image: Image) -> Iterator[Anomaly]:
    crc, content = crc_of(image), bytes_of(image)
    if crc is not None and content is not None and not holds(content, crc):
        why = (
            f"the checksum beside {image.key} is not its own; only a reader that verifies (a "
            "FileSystemBasedCheckpointFileManager) minds"
        )
        yield Anomaly(AnomalyKind.FOREIGN_ENTRY, image.key, "stale checksum", why)


NEEDS_METADATA = frozenset({"4.2", "4.3"})
FLAWS_SHOWN = 20


def of_files(
    folders: Folders,
    stored: Retained,
    batches: Mapping[int, Batch],
    offsets: Mapping[int, SourceOffset],
    log: Log,
    generation: str,
) -> tuple[Anomaly, ...]:
    """Every anomaly, offset logs first."""
    return (
        *_logs(stored, batches, offsets),
        *_gaps(stored),
        *_commits(stored),
        *_metadata(folders, generation),
        *_strays(batches, log),
        *litter(folders),
    )


def _kind(number: int, newest: int | None) -> AnomalyKind:
    """An error for the two offset logs that MicroBatchExecution.populateStartOffsets reads."""
    counts = newest is not None and number >= newest - 1
    return AnomalyKind.UNREADABLE if counts else AnomalyKind.FOREIGN_ENTRY


def _logs(
    stored: Retained, batches: Mapping[int, Batch], offsets: Mapping[int, SourceOffset]
) -> Iterator[Anomaly]:
    newest = stored.newest
    for number, why in stored.unreadable.items():
        yield Anomaly(_kind(number, newest), f"{OFFSETS}/{number}", "unreadable offset log",
                  f"offsets/{number} cannot be read: {why}")
    for number, log in stored.logs.items():
        key, kind = f"{OFFSETS}/{number}", _kind(number, newest)
        if number not in batches:
            yield Anomaly(kind, key, "other sources", f"{key} does not name the source")
        if why := _second_line(log.metadata, number, newest):
            yield Anomaly(kind, key, "unreadable second line", f"{key}: {why}")
    for number, batch in batches.items():
        yield from _line(batch, offsets.get(number), _kind(number, newest))
    yield from _renamed(offsets)


def _second_line(line: str, number: int, newest: int | None) -> str:
    """What is wrong with the second line of a log that Spark reads, "" for nothing.

    OffsetSeqLog.deserialize reads the line of the newest log and of the one before it; only the
    newest has to have one.
    """
    if newest is None or number < newest - 1:
        return ""
    return flaw_of_conf(line) if number == newest else unreadable(line)


def _line(batch: Batch, offset: SourceOffset | None, kind: AnomalyKind) -> Iterator[Anomaly]:
    key = batch.image.key
    flaws = offset.flaws if offset else ()
    if batch.broken and not any(flaw.fatal for flaw in flaws):
        yield Anomaly(kind, key, "unreadable offset", f"{key}: {batch.broken}")
    for flaw in flaws[:FLAWS_SHOWN]:
        is_fatal = flaw.fatal and kind is AnomalyKind.UNREADABLE
        yield Anomaly(
            AnomalyKind.UNREADABLE if is_fatal else AnomalyKind.FOREIGN_ENTRY, key,
            flaw.raw if is_fatal else "offset that the connector would spell otherwise",
            f"{key}: {flaw.where}", flaw.shard,
        )
    if len(flaws) > FLAWS_SHOWN:
        fatal = kind is AnomalyKind.UNREADABLE and any(flaw.fatal for flaw in flaws[FLAWS_SHOWN:])
        yield Anomaly(
            AnomalyKind.UNREADABLE if fatal else AnomalyKind.FOREIGN_ENTRY, key, "more of the same",
            f"{key}: and {len(flaws) - FLAWS_SHOWN} more",
        )


def _renamed(offsets: Mapping[int, SourceOffset]) -> Iterator[Anomaly]:
    """Offsets of another stream, from before the source was pointed at this one."""
    if not offsets:
        return
    stream = offsets[max(offsets)].stream
    for number, offset in offsets.items():
        if offset.stream and offset.stream != stream:
            key = f"{OFFSETS}/{number}"
            why = f"{key} is of stream {offset.stream}, the newest of {stream}"
            yield Anomaly(AnomalyKind.EARLIER_STREAM, key, "offset of another stream", why)


def _gaps(stored: Retained) -> Iterator[Anomaly]:
    newest, gaps = stored.newest, stored.gaps
    if newest is None:
        return
    if (copied := stored.copied) is not None:
        why = (
            f"offsets/{newest} is a copy of offsets/{copied}: Spark takes it for the newest batch, "
            f"looks for offsets/{newest - 1} and does not start"
        )
        yield Anomaly(AnomalyKind.UNREADABLE, f"{OFFSETS}/{newest}", "copy of a batch", why)
        gaps = gaps[:-1]
    elif stored.asynchronous:
        why = (
            f"{sum(map(len, gaps))} ids are missing in offsets/ and in commits/ alike, the first "
            f"is {gaps[0].start}: the query tracks its progress asynchronously"
        )
        key = f"{OFFSETS}/{gaps[0].start}"
        yield Anomaly(AnomalyKind.FOREIGN_ENTRY, key, "asynchronous progress", why)
        return
    elif newest > 0 and newest - 1 not in stored.images:
        before = newest - 1
        why = f"offsets/{before} is missing, and Spark does not start: batch {before} doesn't exist"
        yield Anomaly(AnomalyKind.UNREADABLE, f"{OFFSETS}/{before}", "missing", why)
        gaps = (*gaps[:-1], range(gaps[-1].start, before)) if gaps else ()
    if older := [gap for gap in gaps if gap]:
        first = older[0].start
        why = (
            f"{sum(map(len, older))} offset logs of committed batches are missing, the first is "
            f"offsets/{first}: files were removed, and what they held is unknown"
        )
        yield Anomaly(AnomalyKind.FOREIGN_ENTRY, f"{OFFSETS}/{first}", "gap in the batches", why)


def _commits(stored: Retained) -> Iterator[Anomaly]:
    newest = max(stored.committed, default=None)
    for number, why in stored.bad_commits.items():
        kind = AnomalyKind.UNREADABLE if number == newest else AnomalyKind.FOREIGN_ENTRY
        yield Anomaly(kind, f"{COMMITS}/{number}", "unreadable commit",
                  f"commits/{number} cannot be read: {why}")
    if newest is not None and (stored.newest is None or newest > stored.newest):
        why = f"batch {newest} is committed and has no offset log: its file was removed"
        yield Anomaly(AnomalyKind.UNREADABLE, f"{COMMITS}/{newest}", "commit without offsets", why)


def _metadata(folders: Folders, generation: str) -> Iterator[Anomaly]:
    _, wrong = query_id(folders.get("", {}).get(METADATA))
    if wrong == "absent":
        refused = generation in NEEDS_METADATA
        kind = AnomalyKind.UNREADABLE if refused else AnomalyKind.FOREIGN_ENTRY
        what = "Spark 4.2 and later do not start" if refused else "the query gets a new id"
        yield Anomaly(kind, METADATA, "missing metadata", f"metadata is missing: {what}")
    elif wrong:
        yield Anomaly(AnomalyKind.UNREADABLE, METADATA, "unreadable metadata", f"metadata: {wrong}")


def _strays(batches: Mapping[int, Batch], log: Log) -> Iterator[Anomaly]:
    batch = batches[max(batches)] if batches else None
    for stray in log.stray_files:
        if not stray.fatal:
            what = "copy in the connector's log"
            why = f"{stray.image.key} is {stray.why}"
            yield Anomaly(AnomalyKind.FOREIGN_ENTRY, stray.image.key, what, why)
            continue
        reads = batch is not None and stray.batch in (log_of(batch), to_write(batch))
        kind = AnomalyKind.UNREADABLE if reads else AnomalyKind.FOREIGN_ENTRY
        why = f"{stray.image.key} is no entry of the connector's log: {stray.why}"
        name = stray.image.key.rpartition("/")[2]
        if (
            batch and stray.batch == to_write(batch)
            and written_over(batch, log.connector, name, log.entries)
        ):
            kind = AnomalyKind.FOREIGN_ENTRY
            why += "; its batch is yet to run, and writes it again"
        yield Anomaly(kind, stray.image.key, "stray file in the connector's log", why)
