"""Parses a checkpoint's files into a `Checkpoint`.

Undo asks which batches that a fix planned or edited have run since: those it cannot remove. A batch
that is removed after its commit keeps the query from starting (run: offsets removed, commits left,
"CONCURRENT_STREAM_LOG_UPDATE"); one removed after it has run is delivered twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from reshardctl.consumers.spark import lines, offset_log
from reshardctl.consumers.spark.anomalies import NEEDS_METADATA, of_files
from reshardctl.consumers.spark.checkpoint import (
    LINEAGE,
    SCALAS,
    UNKNOWN,
    Batch,
    Checkpoint,
    Retained,
    log_of,
    retained,
)
from reshardctl.consumers.spark.files import (
    COMMITS,
    METADATA,
    SOURCES,
    STATE,
    Folders,
    by_folder,
    bytes_of,
    is_orphan,
    is_row,
    is_temporary,
    joined,
    query_id,
)
from reshardctl.consumers.spark.lines import unread
from reshardctl.consumers.spark.offset_log import SourceLine
from reshardctl.consumers.spark.positions import SourceOffset
from reshardctl.consumers.spark.sources import chosen, connector_of, names, offset_of, read_log
from reshardctl.errors import CannotTell, UsageError
from reshardctl.model import Image, Stream


def checkpoint_of(
    images: Iterable[Image], stream: Stream | None = None, source: str = ""
) -> Checkpoint:
    """Parse the files of one checkpoint.

    Args:
        images: The checkpoint's files, and the rows of a log in a table.
        stream: Whose source is judged.
        source: Its index or name where several sources read that stream.

    Raises:
        UsageError: The folder is no checkpoint, or the query has no Kinesis source.
        WrongStream: The query reads other streams.
        CannotTell: No offset log can be read.
    """
    files = {image.key: image for image in images}
    rows = [image for image in files.values() if is_row(image)]
    folders = by_folder(image for image in files.values() if not is_row(image))
    stored = retained(folders)
    _checked(files, stored)
    name = chosen(stored.logs, stream, source) if stored.logs else source or "0"
    connector = connector_of(stored.logs, name, _log_places(folders))
    batches, flawed = _batches(stored, name, connector)
    folders = joined(folders, rows, name) if rows else folders
    log = read_log(folders, stored, name, connector)
    generation, possible = _origin(batches, name, connector)
    return Checkpoint(
        connector=connector,
        source=name,
        stream_name=_stream(flawed),
        batches=batches,
        commits=stored.commits,
        entries=log.entries,
        listed=log.listed,
        query_id=query_id(files.get(METADATA))[0],
        generation=generation,
        stateful=any(key.startswith(f"{STATE}/") for key in files),
        other_sources=tuple(other for other in names(stored.logs) if other != name),
        anomalies=of_files(folders, stored, batches, flawed, log, generation),
        images=files,
        scalas=possible,
        committed=stored.counted,
        spoiled=_spoiled(stored, files.get(METADATA), generation),
        unreadable={**stored.unreadable, **_nameless(stored, name)},
        strays=log.strays,
        gaps=stored.gaps,
        copied=stored.copied,
        temporary=frozenset(key for key in files if is_temporary(key.rpartition("/")[2])),
        orphans=frozenset(image.key for image in files.values() if is_orphan(image)),
        tabled=bool(rows),
        older=len(stored.images) - len(stored.logs) - len(stored.unreadable),
    )


def _checked(files: Mapping[str, Image], stored: Retained) -> None:
    if not stored.images and METADATA not in files and not stored.committed:
        raise UsageError(
            "this is no checkpoint of a streaming query: no metadata, no offsets, no commits",
            "give the folder that the query has as its checkpointLocation; for a checkpoint that "
            "is gone: reshardctl rebuild, with release= and batch= in the locator",
        )
    if stored.images and not stored.logs:
        newest = max(stored.images)
        why = stored.unreadable.get(newest, "it was not read")
        raise CannotTell(
            f"no offset log of the checkpoint can be read; offsets/{newest}: {why}",
            f"restore offsets/{newest} from a backup, or begin a new checkpoint: "
            "reshardctl rule RSH301",
        )


def _spoiled(stored: Retained, metadata: Image | None, generation: str) -> dict[str, str]:
    spoiled = {f"{COMMITS}/{number}": stored.bad_commits[number] for number in stored.spoiled}
    _, wrong = query_id(metadata)
    if wrong == "absent":
        wrong = "it is missing" if metadata is None and generation in NEEDS_METADATA else ""
    elif metadata is not None and bytes_of(metadata) is None:
        wrong = ""  # a file that may not be read is not known to be wrong
    return {**({METADATA: wrong} if wrong else {}), **spoiled}


def _batches(
    stored: Retained, source: str, connector: str
) -> tuple[dict[int, Batch], dict[int, SourceOffset]]:
    """The batches that name the source, and its readable offsets, ascending."""
    batches: dict[int, Batch] = {}
    offsets: dict[int, SourceOffset] = {}
    before: int | None = None
    committed = stored.counted
    for number, log in stored.logs.items():
        if (line := log.line(source)) is None:
            continue
        offset = offset_of(line)
        if offset is not None:
            offsets[number] = offset
        broken = _broken(line, offset, connector, before)
        batches[number] = Batch(
            number,
            stored.images[number],
            log,
            offset.positions if offset else {},
            offset.batch_id if offset else None,
            number in committed,
            broken,
            line.is_offset,
            offset.created if offset else None,
        )
        before = batches[number].batch_id if offset else before
    return batches, offsets


def _broken(
    line: SourceLine, offset: SourceOffset | None, connector: str, before: int | None
) -> str:
    if not line.is_offset:
        return ""
    if offset is None:
        return unread(line.text)
    if offset.connector not in (connector, UNKNOWN):
        return f"it is spelled as {offset.connector} does, and the newest as {connector} does"
    if before is not None and offset.batch_id is not None and offset.batch_id < before:
        return f"its metadata.batchId {offset.batch_id} is lower than {before} of the batch before"
    return offset.broken


def _nameless(stored: Retained, source: str) -> dict[int, str]:
    return {
        number: f"it does not name source {source}"
        for number, log in stored.logs.items()
        if source not in log
    }


def _origin(
    batches: Mapping[int, Batch], source: str, connector: str
) -> tuple[str, frozenset[str]]:
    """Spark's release as far as the newest batch shows it, and the possible Scala versions."""
    newest_first = [batches[number] for number in sorted(batches, reverse=True)]
    releases = (offset_log.generation(batch.log.metadata) for batch in newest_first)
    generation = next((release for release in releases if release), "")
    if connector not in ("awslabs", "qubole"):
        return generation, SCALAS
    possible = frozenset(offset_log.SCALAS.get(generation, SCALAS))
    for batch in newest_first:
        if batch.begun and not batch.broken:
            return generation, possible & lines.possible(batch.log[source], connector)
    return generation, possible


def _stream(offsets: Mapping[int, SourceOffset]) -> str:
    return offsets[max(offsets)].stream if offsets else ""


def _log_places(folders: Folders) -> frozenset[str]:
    """Existing paths below the sources' folders, as sources/<source>/<log>."""
    inside = (
        f"{folder}/{name}"
        for folder, images in folders.items()
        if folder.startswith(f"{SOURCES}/")
        for name in images
    )
    return frozenset("/".join(path.split("/")[:3]) for path in inside)


def superseded_rows(
    images: Iterable[Image], keys: Collection[str], stood: Collection[str], source: str
) -> dict[str, str]:
    """Offset logs among `keys` whose batch has run since: key → how that is known.

    A fix makes batches and a commit of its own where it rebuilds a checkpoint, and writes a log
    again that is spoiled, of a batch that has run before. stood: files that were there before it.
    """
    numbers = sorted(int(n) for n in (_batch(key) for key in keys) if n)
    if not numbers:
        return {}
    checkpoint, known = checkpoint_of(images, None, source), {*keys, *stood}
    reasons = {number: _how(checkpoint, number, known) for number in numbers}
    return {f"offsets/{number}": how for number, how in reasons.items() if how}


def _batch(key: str) -> str:
    folder, _, name = key.rpartition("/")
    return name if folder == "offsets" and name.isascii() and name.isdigit() else ""


def _how(checkpoint: Checkpoint, number: int, known: Collection[str]) -> str:
    planned = {*checkpoint.batches, *checkpoint.unreadable}
    later = [n for n in planned if n > number and f"offsets/{n}" not in known]
    if later:
        return f"batch {min(later)} is planned after it"
    ran = [n for n in checkpoint.committed if n > number and f"commits/{n}" not in known]
    if ran:
        return f"batch {min(ran)} is committed after it"
    batch = checkpoint.batches.get(number)
    if checkpoint.connector == LINEAGE or batch is None:
        return ""
    if batch.committed:
        return "" if f"commits/{number}" in known else f"batch {number} is committed"
    return f"batch {number} has run" if checkpoint.entries.get(log_of(batch)) else ""
