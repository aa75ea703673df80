"""Which sources of a query read Kinesis, which of them is judged, and which files that needs.

A checkpoint may hold a million files of a connector's log. The proof needs the newest offset logs
(BATCHES_READ of them), the newest commits, the folders of the connector's log that its start reads,
and the last entry of each shard that later batches do not name.

The connector's own log has a folder for each batch, and in it a file for each shard that the batch
read. HDFSMetadataCommitter.get of both connectors reads every file of the folder, whatever its
name, and takes the shard id from its text: a file that is no entry crashes the whole query. Of
several files that speak of one shard the last listed counts (`toMap` of what listStatus returns, in
KinesisV2MicrobatchStream.getBatchShardsInfo and KinesisSourceOffset): by name on HDFS and S3, in
any order on a local disk.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.consumers.spark.checkpoint import Entry, Retained, retained
from reshardctl.consumers.spark.files import (
    COMMITS,
    METADATA,
    OFFSETS,
    SOURCES,
    Folders,
    batches,
    by_folder,
    is_batch,
    is_orphan,
    text_of,
    was_read,
)
from reshardctl.consumers.spark.lines import awslabs, damaged, qubole, read
from reshardctl.consumers.spark.lines.at_once import same_shards
from reshardctl.consumers.spark.offset_log import OffsetLog, SourceLine
from reshardctl.consumers.spark.positions import SHARD_END, Position, SourceOffset, spelled
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.errors import CannotTell, UsageError, WrongStream, command_line
from reshardctl.model import Image, ShardId, Stream
from reshardctl.model.files import Select, Wants

LOGS = {"awslabs": "shard-source", "qubole": "shard-commit"}
"""Where each connector keeps its log, in its source's folder."""


def names(logs: Mapping[int, OffsetLog]) -> tuple[str, ...]:
    """The sources of the query, as its newest readable log names them."""
    return tuple(line.name for line in logs[max(logs)].lines) if logs else ()


def offsets(logs: Mapping[int, OffsetLog], source: str) -> Iterator[tuple[int, SourceOffset]]:
    """One source's readable Kinesis offsets, newest first."""
    for number in sorted(logs, reverse=True):
        line = logs[number].line(source)
        offset = offset_of(line) if line is not None else None
        if offset is not None:
            yield number, offset


def offset_of(line: SourceLine) -> SourceOffset | None:
    """A line's Kinesis offset, `None` for that of another source and for none."""
    return read(line.within, line.start, line.end) if line.is_offset else None


def _damaged(line: SourceLine) -> str:
    return damaged(line.within, line.start, line.end) if line.is_offset else ""


def kinesis(logs: Mapping[int, OffsetLog]) -> dict[str, SourceOffset]:
    """The sources that read Kinesis, each with its newest readable offset."""
    offsets_by_name = ((name, _newest(logs, name)) for name in names(logs))
    return {name: newest for name, newest in offsets_by_name if newest is not None}


def _newest(logs: Mapping[int, OffsetLog], source: str) -> SourceOffset | None:
    """The source's newest offset, if it reads Kinesis; only damaged lines are skipped.

    A source with a sound offset of another kind is another source, whatever it was before.
    """
    for number in sorted(logs, reverse=True):
        line = logs[number].line(source)
        if line is not None and line.is_offset and not _damaged(line):
            return offset_of(line)
    return None


def connector_of(logs: Mapping[int, OffsetLog], source: str, folders: frozenset[str]) -> str:
    """The source's connector, by its newest offset that shows it, else by the folder of its log."""
    for _, offset in offsets(logs, source):
        if offset.connector != "unknown":
            return offset.connector
    by_log = [name for name, log in LOGS.items() if f"sources/{source}/{log}" in folders]
    return by_log[0] if len(by_log) == 1 else "unknown"


def chosen(logs: Mapping[int, OffsetLog], stream: Stream | None, source: str) -> str:
    """The judged source; raises UsageError for none or several, WrongStream for another's."""
    ours, all_ = kinesis(logs), names(logs)
    if source:
        return _named(ours, all_, stream, source)
    if not ours:
        _not_cut_off(logs)
        raise UsageError(
            f"no source of this query reads Kinesis: {_listed(all_)}",
            "check the path; it must be the query's checkpointLocation",
        )
    fitting = [name for name in ours if stream is None or _fits(ours[name], stream)]
    if not fitting and stream is not None:
        read = sorted({offset.stream for offset in ours.values()})
        raise WrongStream(
            f"the checkpoint reads {', '.join(read)}, not {stream.name}",
            f"{command_line('--stream', read[0])}, or the right checkpoint",
        )
    if len(fitting) > 1:
        where = f"stream {stream.name}" if stream else "Kinesis"
        raise UsageError(
            f"sources {', '.join(fitting)} of this query read {where}",
            f"say which one is meant: ?source={fitting[0]}",
        )
    return fitting[0]


def _not_cut_off(logs: Mapping[int, OffsetLog]) -> None:
    """Raises CannotTell where a damaged line may be a Kinesis source's."""
    newest = max(logs)
    for line in logs[newest].lines:
        if why := _damaged(line):
            raise CannotTell(
                f"offsets/{newest}: the line of source {line.name} cannot be read ({why}), and no "
                "other batch tells whether it reads Kinesis",
                "restore the file from a backup",
            )


def _named(
    ours: Mapping[str, SourceOffset], all_: tuple[str, ...], stream: Stream | None, source: str
) -> str:
    if source not in all_:
        raise UsageError(
            f"source={source}: the query has no such source, but {_listed(all_)}",
            "leave source= out, or name one of these",
        )
    if source not in ours:
        raise UsageError(
            f"source={source}: that source does not read Kinesis",
            f"these do: {_listed(tuple(ours))}" if ours
            else "check the path; it must be the query's checkpointLocation",
        )
    if stream is not None and not _fits(ours[source], stream):
        raise WrongStream(
            f"source {source} of the checkpoint reads {ours[source].stream}, not {stream.name}",
            f"{command_line('--stream', ours[source].stream)}, or another source=",
        )
    return source


def _fits(offset: SourceOffset, stream: Stream) -> bool:
    return offset.stream in ("", stream.name, stream.arn)


def _listed(all_: tuple[str, ...]) -> str:
    return ", ".join(all_) or "none"


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


_KEPT = 1 << 16
"""Entries that stay cached: a plan reads one checkpoint repeatedly."""
_ENTRY = {
    "awslabs": lru_cache(_KEPT)(awslabs.entry), "qubole": lru_cache(_KEPT)(qubole.entry),
}


class Stray(Struct, frozen=True):
    """A file in a batch's log that is not the entry of a shard under its own name, and why.

    fatal: whether the connector cannot read it as an entry, so that the query crashes.
    """

    batch: int
    image: Image
    why: str
    fatal: bool = True


class Log(Struct, frozen=True):
    """Entries by the connector's own batch ids; listed: batches whose folder was read."""

    entries: Mapping[int, Mapping[ShardId, Entry]]
    listed: frozenset[int]
    stray_files: tuple[Stray, ...] = ()
    connector: str = ""

    @property
    def strays(self) -> dict[int, tuple[str, ...]]:
        """Keys of stray files that crash the query, by batch."""
        keys: dict[int, tuple[str, ...]] = {}
        for stray in filter(lambda stray: stray.fatal, self.stray_files):
            keys[stray.batch] = (*keys.get(stray.batch, ()), stray.image.key)
        return keys


def read_log(folders: Folders, stored: Retained, source: str, connector: str) -> Log:
    """Read a source's log."""
    if connector not in LOGS:
        return Log({}, frozenset())
    whole, some = needed(stored, source)
    log = f"{SOURCES}/{source}/{LOGS[connector]}"
    whole |= set(ahead(folders, log, whole))
    entries: dict[int, dict[ShardId, Entry]] = {}
    strays: list[Stray] = []
    for batch in sorted(whole | some.keys()):
        folder = folders.get(f"{log}/{batch}", {})
        entries[batch] = {}
        strays += _batch(batch, folder, connector, entries[batch])
        if (file := folders.get(log, {}).get(str(batch))) is not None and not is_orphan(file):
            strays.append(Stray(batch, file, "it is a file, where the log has a folder"))
    kept = {batch: shards for batch, shards in entries.items() if shards}
    return Log(kept, whole | some.keys(), tuple(strays), connector)


def _batch(
    batch: int, folder: Mapping[str, Image], connector: str, entries: dict[ShardId, Entry]
) -> Iterator[Stray]:
    """Fills `entries` and yields the other files."""
    copies: dict[ShardId, list[tuple[Position, Image]]] = {}
    for name in sorted(folder):
        image = folder[name]
        if name.endswith("/"):
            yield Stray(batch, image, "it is a folder")
            continue
        if is_orphan(image) or not was_read(image):
            continue
        try:
            shard, position = _ENTRY[connector](text_of(image))
        except Malformed as error:
            yield Stray(batch, image, str(error))
            continue
        if shard == name:
            entries[shard] = Entry(shard, position, image)
        else:
            copies.setdefault(shard, []).append((position, image))
    for shard, found in copies.items():
        position, image = found[-1]
        own = entries.setdefault(shard, Entry(shard, position, image))
        entries[shard] = replace(own, copies=tuple(said for said, _ in found))
        for said, copy in found:
            yield Stray(batch, copy, _copied(shard[:60], said, own), fatal=False)


def _copied(shard: str, said: Position, own: Entry) -> str:
    """What a file that is not named after its shard says."""
    if said == own.position:
        return f"an entry of {shard} under another name"
    return (
        f"another entry of {shard}, which says {spelled(said)} and not {spelled(own.position)}: "
        "the connector reads both, and the one that the file system lists last counts"
    )
