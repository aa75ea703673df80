"""The smaller case format for shard syncs: a stream, the leases present, the leases created."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.case import CASES
from tests.support.case_stream import CaseShard, filled, listing, only, resolve, shard_name

SYNC_KEYS = {"title", "source", "consumer", "stream", "expect"}


@dataclass(frozen=True, slots=True)
class SyncExpect:
    """What one sync creates: shard ids to positions.

    ``bootstrap`` is the sync of an empty table, which asks ListShards for the initial position.
    ``initial`` may be ``AT_TIMESTAMP:+`` and seconds after the stream's creation.
    """

    leases: tuple[str, ...]
    initial: str
    bootstrap: bool
    creates: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SyncCase:
    """One file of ``cases/<consumer>-sync``."""

    name: str
    title: str
    source: str
    stream: dict[str, Any]
    topology: Mapping[int, CaseShard]
    shards: list[dict[str, Any]]
    expects: tuple[SyncExpect, ...]


def load_sync(path: Path) -> SyncCase:
    """Read one file; ValueError names what is wrong with it."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    only(table, SYNC_KEYS, path.name)
    stream = filled(table["stream"])
    topology = resolve(stream)
    return SyncCase(
        name=path.stem,
        title=table["title"],
        source=table["source"],
        stream=stream,
        topology=topology,
        shards=listing(topology),
        expects=tuple(_expect(path, entry) for entry in table["expect"]),
    )


def _expect(path: Path, entry: dict[str, Any]) -> SyncExpect:
    only(entry, {"leases", "initial", "bootstrap", "creates"}, path.name)
    return SyncExpect(
        leases=tuple(map(shard_name, entry.get("leases", ()))),
        initial=entry["initial"],
        bootstrap=entry.get("bootstrap", False),
        creates={
            shard_name(int(shard_id)): position for shard_id, position in entry["creates"].items()
        },
    )


def all_syncs(consumer: str) -> list[SyncCase]:
    """Every sync case of one consumer, by file name."""
    return [load_sync(path) for path in sorted((CASES / f"{consumer}-sync").glob("*.toml"))]
