"""Which files of a checkpoint have to be read.

A checkpoint may hold a million files of a connector's log. The proof needs the newest offset logs
(BATCHES_READ of them), the newest commits, the folders of the connector's log that its start reads,
and the last entry of each shard that later batches do not name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice

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
from reshardctl.consumers.spark.lines.on_demand import same_shards
from reshardctl.consumers.spark.positions import SHARD_END, Position
from reshardctl.consumers.spark.retained import Retained, retained
from reshardctl.consumers.spark.sources import LOGS, kinesis, offsets
from reshardctl.model import Image, ShardId
from reshardctl.model.files import Select, Wants

BATCHES_READ = 1000
"""Spark keeps 100 batches unless minBatchesToRetain is set. The next start needs two; the others
show what earlier starts lost."""
COMMITS_READ = 2
"""Spark reads only the newest commit; the one before it is for what an undo may restore."""
AHEAD = 2
"""Folders of the log after the newest batch: stale entries there would count as that batch's."""


def select(source: str) -> Select:
    """Which files to read for one source of a checkpoint, "" for its only one."""
    def wanted(images: Mapping[str, Image], _listed: frozenset[str]) -> Wants:
        return wants(by_folder(images.values()), source)

    return wanted


def wants(folders: Folders, source: str = "") -> Wants:
    """Everything that has to be read, as far as the files read so far show."""
    places = {"", OFFSETS, COMMITS, SOURCES}
    logs = newest_logs(folders)
    files = {METADATA, *(f"{OFFSETS}/{number}" for number in logs)}
    commits = batches(folders, COMMITS)
    newest = (number for number in reversed(commits) if not is_orphan(commits[number]))
    files |= {f"{COMMITS}/{number}" for number in islice(newest, COMMITS_READ)}
    files |= {*_orphans(folders, OFFSETS), *_orphans(folders, COMMITS)}
    if all(was_read(image) for image in logs.values()):
        stored = retained({
            OFFSETS: {str(number): image for number, image in logs.items()},
            COMMITS: {str(number): commits[number] for number in logs.keys() & commits.keys()},
        })
        for name, offset in kinesis(stored.logs).items():
            if source in ("", name):
                _log(folders, stored, name, offset, places, files)
    return Wants(frozenset(places), frozenset(files))


def ahead(folders: Folders, log: str, whole: Collection[int]) -> list[int]:
    """Folders of a log after all batches that are planned, or planned next."""
    newest = max(whole, default=-1)
    inside = folders.get(log, {})
    names = [name[:-1] for name in inside if name.endswith("/") and is_batch(name[:-1])]
    return sorted(number for number in map(int, names) if number > newest)[:BATCHES_READ]


def newest_logs(folders: Folders) -> dict[int, Image]:
    """The offset logs that are read, ascending."""
    logs = batches(folders, OFFSETS)
    there = (number for number in reversed(logs) if not is_orphan(logs[number]))
    return {number: logs[number] for number in sorted(islice(there, BATCHES_READ))}


def _orphans(folders: Folders, folder: str) -> Iterator[str]:
    """Batches of which only the checksum is there: a fix removes it where it is in Spark's way."""
    inside = folders.get(folder, {})
    return (image.key for name, image in inside.items() if is_orphan(image) and is_batch(name))


def log_folders(source: str, connector: str) -> tuple[str, ...]:
    """Where a source's connector keeps its log; both folders where the connector is not known."""
    return tuple(
        f"{SOURCES}/{source}/{log}" for name, log in LOGS.items() if connector in (name, "unknown")
    )


def needed(
    stored: Retained, source: str
) -> tuple[frozenset[int], Mapping[int, frozenset[ShardId]]]:
    """Batches, by the connector's ids, whose log is needed: in whole, and for some shards."""
    past = list(offsets(stored.logs, source))
    whole = set(_whole(stored, past))
    last: dict[ShardId, tuple[int, SourceOffset]] = {}
    before: Mapping[ShardId, Position] | None = None
    for entry in past:
        positions = entry[1].positions
        if not same_shards(positions, before):
            last |= dict.fromkeys(positions.keys() - last.keys(), entry)
        before = positions
    some: dict[int, set[ShardId]] = {}
    newest = past[0][0] if past else None
    for shard, (number, offset) in last.items():
        if number != newest and offset.positions[shard].kind != SHARD_END:
            some.setdefault(counted(number, offset), set()).add(shard)
    return frozenset(whole), {log: frozenset(shards) for log, shards in some.items()}


def counted(number: int, offset: SourceOffset) -> int:
    """The id under which the connector files the log of a batch: its own, not Spark's."""
    return number if offset.batch_id is None else offset.batch_id


def _whole(stored: Retained, past: list[tuple[int, SourceOffset]]) -> Iterator[int]:
    """The newest batch, the newest committed one, and those that would come next."""
    if past:
        first = counted(*past[0])
        yield from range(first, first + AHEAD + 1)
    committed = (entry for entry in past if entry[0] in stored.committed)
    for entry in committed:
        yield counted(*entry)
        return


def _log(
    folders: Folders, stored: Retained, source: str, offset: SourceOffset,
    folders_to_list: set[str], files: set[str],
) -> None:
    folders_to_list.add(f"{SOURCES}/{source}")
    whole, some = needed(stored, source)
    for log in log_folders(source, offset.connector):
        folders_to_list.add(log)
        for batch in {*whole, *ahead(folders, log, whole)}:
            folders_to_list.add(f"{log}/{batch}")
            inside = folders.get(f"{log}/{batch}", {})
            files |= {image.key for name, image in inside.items() if not name.endswith("/")}
        for batch, shards in some.items():
            folders_to_list.add(f"{log}/{batch}")
            files |= {f"{log}/{batch}/{shard}" for shard in shards if _is_file_name(shard)}


def _is_file_name(shard: ShardId) -> bool:
    """Whether a file can be called so: an offset of an edited log may name anything."""
    surrogates = any(0xD800 <= ord(character) < 0xE000 for character in shard)
    return shard not in ("", ".", "..") and not surrogates and not {"/", "\0"} & set(shard)
