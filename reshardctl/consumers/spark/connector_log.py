"""The connector's own log: a folder for each batch, a file for each shard that the batch read.

HDFSMetadataCommitter.get of both connectors reads every file of the folder, whatever its name, and
takes the shard id from its text: a file that is no entry crashes the whole query. Of several files
that speak of one shard the last listed counts (`toMap` of what listStatus returns, in
KinesisV2MicrobatchStream.getBatchShardsInfo and KinesisSourceOffset): by name on HDFS and S3, in
any order on a local disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from reshardctl.consumers.spark.checkpoint import Entry
from reshardctl.consumers.spark.contents import is_orphan, text_of, was_read
from reshardctl.consumers.spark.cuts import spelled
from reshardctl.consumers.spark.folders import SOURCES, Folders
from reshardctl.consumers.spark.lines import awslabs, qubole
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.needed_files import ahead, needed
from reshardctl.consumers.spark.positions import Position
from reshardctl.consumers.spark.retained import Retained
from reshardctl.consumers.spark.sources import LOGS
from reshardctl.model import Image, ShardId

_KEPT = 1 << 16
"""Entries that stay cached: a plan reads one checkpoint repeatedly."""
_ENTRY = {
    "awslabs": lru_cache(_KEPT)(awslabs.entry), "qubole": lru_cache(_KEPT)(qubole.entry),
}


@dataclass(frozen=True, slots=True)
class Stray:
    """A file in a batch's log that is not the entry of a shard under its own name, and why.

    fatal: whether the connector cannot read it as an entry, so that the query crashes.
    """

    batch: int
    image: Image
    why: str
    fatal: bool = True


@dataclass(frozen=True, slots=True)
class Log:
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
