"""Which files of a checkpoint have to be seen.

A checkpoint may hold a million files of a connector's log; the proof needs the newest offset logs,
BATCHES_READ of them, the newest commits, and of the connector's log the folders that it will read
or meet at its start, and the last word on each shard that a later batch does not name any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from reshardctl.consumers.spark.contents import is_orphan, was_read
from reshardctl.consumers.spark.folders import (
    COMMITS,
    METADATA,
    OFFSETS,
    SOURCES,
    Folders,
    batches,
    by_folder,
    is_batch,
)
from reshardctl.consumers.spark.lines.offset import SourceOffset
from reshardctl.consumers.spark.positions import SHARD_END
from reshardctl.consumers.spark.retained import Retained, retained
from reshardctl.consumers.spark.sources import LOGS, kinesis, offsets
from reshardctl.model import Image, ShardId
from reshardctl.model.trees import Select, Wants

BATCHES_READ = 1000
"""Spark keeps 100 batches unless minBatchesToRetain says otherwise. The next start needs two; the
others tell what earlier ones lost."""
COMMITS_READ = 2
"""Spark reads the newest commit alone; the one before it is for what an undo may bring back."""
AHEAD = 2
"""Folders of the log beyond the newest batch: what is stale there would be taken for its own."""


def select(source: str) -> Select:
    """What has to be seen of a checkpoint for one of its sources, "" for its only one."""
    def wanted(images: Mapping[str, Image], _listed: frozenset[str]) -> Wants:
        return wants(by_folder(images.values()), source)

    return wanted


def wants(folders: Folders, source: str = "") -> Wants:
    """Everything that has to be seen, as far as the files seen so far tell."""
    places = {"", OFFSETS, COMMITS, SOURCES}
    logs = newest_logs(folders)
    files = {METADATA, *(f"{OFFSETS}/{number}" for number in logs)}
    commits = batches(folders, COMMITS)
    newest = sorted((n for n in commits if not is_orphan(commits[n])), reverse=True)[:COMMITS_READ]
    files |= {f"{COMMITS}/{number}" for number in newest}
    if all(was_read(image) for image in logs.values()):
        found = retained(folders)
        for name, offset in kinesis(found.logs).items():
            if source in ("", name):
                _log(folders, found, name, offset, places, files)
    return Wants(frozenset(places), frozenset(files))


def ahead(folders: Folders, log: str, whole: Collection[int]) -> list[int]:
    """Folders of a log beyond all batches that are planned, or planned next."""
    newest = max(whole, default=-1)
    inside = folders.get(log, {})
    names = [name[:-1] for name in inside if name.endswith("/") and is_batch(name[:-1])]
    return sorted(number for number in map(int, names) if number > newest)[:BATCHES_READ]


def newest_logs(folders: Folders) -> dict[int, Image]:
    """The offset logs that are read, ascending."""
    logs = batches(folders, OFFSETS)
    there = [number for number, image in logs.items() if not is_orphan(image)]
    return {number: logs[number] for number in there[-BATCHES_READ:]}


def log_folders(source: str, connector: str) -> tuple[str, ...]:
    """Where a source's connector keeps its log; both places where it is not known."""
    return tuple(
        f"{SOURCES}/{source}/{log}" for name, log in LOGS.items() if connector in (name, "unknown")
    )


def needed(found: Retained, source: str) -> tuple[frozenset[int], Mapping[int, frozenset[ShardId]]]:
    """Batches by the connector's count: whose log is read whole, and of which only some shards'."""
    past = list(offsets(found.logs, source))
    whole = set(_whole(found, past))
    last = {
        shard: (number, offset) for number, offset in reversed(past) for shard in offset.positions
    }
    some: dict[int, set[ShardId]] = {}
    newest = past[0][0] if past else None
    for shard, (number, offset) in last.items():
        if number != newest and offset.positions[shard].kind != SHARD_END:
            some.setdefault(counted(number, offset), set()).add(shard)
    return frozenset(whole), {log: frozenset(shards) for log, shards in some.items()}


def counted(number: int, offset: SourceOffset) -> int:
    """The id by which the connector files the log of a batch: its own, not Spark's."""
    return number if offset.batch_id is None else offset.batch_id


def _whole(found: Retained, past: list[tuple[int, SourceOffset]]) -> Iterator[int]:
    """The newest batch, the newest committed one, and what would come next."""
    if past:
        first = counted(*past[0])
        yield from range(first, first + AHEAD + 1)
    committed = (one for one in past if one[0] in found.committed)
    for one in committed:
        yield counted(*one)
        return


def _log(
    folders: Folders, found: Retained, source: str, offset: SourceOffset,
    places: set[str], files: set[str],
) -> None:
    places.add(f"{SOURCES}/{source}")
    whole, some = needed(found, source)
    for log in log_folders(source, offset.connector):
        places.add(log)
        for batch in {*whole, *ahead(folders, log, whole)}:
            places.add(f"{log}/{batch}")
            inside = folders.get(f"{log}/{batch}", {})
            files |= {image.key for name, image in inside.items() if not name.endswith("/")}
        for batch, shards in some.items():
            places.add(f"{log}/{batch}")
            files |= {f"{log}/{batch}/{shard}" for shard in shards}
