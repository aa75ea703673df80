"""The connector's own log: a folder for each batch, a file for each shard that the batch read.

HDFSMetadataCommitter.get of both connectors reads every file of the folder, whatever its name, and
takes the shard id from its text: a file that is no entry crashes the whole query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from reshardctl.consumers.spark.checkpoint import Entry
from reshardctl.consumers.spark.contents import is_orphan, text_of, was_read
from reshardctl.consumers.spark.folders import SOURCES, Folders
from reshardctl.consumers.spark.lines import awslabs, qubole
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.needed_files import ahead, needed
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
    """A file in a batch's log that its connector cannot read as an entry, and why."""

    batch: int
    image: Image
    why: str


@dataclass(frozen=True, slots=True)
class Log:
    """Entries by the connector's own batch ids; listed: batches whose folder was read."""

    entries: Mapping[int, Mapping[ShardId, Entry]]
    listed: frozenset[int]
    stray_files: tuple[Stray, ...] = ()
    connector: str = ""

    @property
    def strays(self) -> dict[int, tuple[str, ...]]:
        """Keys of stray files by batch."""
        keys: dict[int, tuple[str, ...]] = {}
        for stray in self.stray_files:
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
    """Fills `entries` and yields the files that are no entries."""
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
        if shard != name:
            yield Stray(batch, image, f"it speaks of {shard[:60]}, and is named otherwise")
        if shard == name or shard not in folder:
            entries[shard] = Entry(shard, position, image)
