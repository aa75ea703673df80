"""Where Quickwit keeps a source's positions: its metastore's texts, read the plain way.

Written from `file_backed_index/serialize.rs` and `index_metadata/serialize.rs` of 0.8.2 and 0.9.0.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

READS = {
    "0.8.2": ("0.4", "0.5", "0.6", "0.7", "0.8"),
    "0.9.0": ("0.7", "0.8", "0.9"),
}


class LoadError(Exception):
    """The release cannot read the text."""


@dataclass(frozen=True, slots=True)
class StoredSource:
    """One Kinesis source. positions: `None` where its key is not in the checkpoint."""

    index_uid: str
    source: str
    stream: str
    backfill: bool
    enabled: bool
    positions: dict[str, str] | None


def load(text: str, release: str) -> dict[str, StoredSource]:
    """The Kinesis sources of one index's file, by id; LoadError where the release reads it not."""
    outer = json.loads(text)
    for version in (outer.get("version"), outer["index"].get("version")):
        if version not in READS[release]:
            raise LoadError(f"unknown variant `{version}`")
    return of_index(outer["index"])


def of_index(index: dict[str, Any]) -> dict[str, StoredSource]:
    """The same of an index's metadata, the form that PostgreSQL holds."""
    checkpoint = index["checkpoint"]
    for source, positions in checkpoint.items():
        if not isinstance(positions, dict):
            raise LoadError(f"{source}: expected a map")
        if not all(isinstance(one, str) for one in positions.values()):
            raise LoadError(f"{source}: expected a string")
    return {
        one["source_id"]: StoredSource(
            index["index_uid"], one["source_id"], one["params"]["stream_name"],
            one["params"].get("enable_backfill_mode", False), one["enabled"],
            checkpoint.get(one["source_id"]),
        )
        for one in index["sources"] if one["source_type"] == "kinesis"
    }


def sources(root: Path, release: str) -> dict[str, StoredSource]:
    """Every Kinesis source under a file-backed metastore, as `index/source`."""
    found = {}
    for path in sorted(root.glob("*/metastore.json")):
        for source, stored in load(path.read_text(encoding="utf-8"), release).items():
            found[f"{path.parent.name}/{source}"] = stored
    return found
