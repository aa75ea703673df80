"""Writes into a checkpoint as an operator would without the tool: to show what can go wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path


def append(checkpoint: Path, positions: Mapping[str, Sequence[str]], keys: Sequence[str]) -> int:
    """An uncommitted batch with these START positions, its members in the order of ``keys``.

    Everything else is copied from the newest batch. Returns the new batch's id.
    """
    offsets = checkpoint / "offsets"
    newest = max(int(path.name) for path in offsets.iterdir() if path.name.isdigit())
    version, metadata, line = (offsets / str(newest)).read_text().split("\n")
    members = {
        shard: {"iteratorType": kind, "iteratorPosition": value}
        for shard, (kind, value) in positions.items()
    }
    own = {**json.loads(line)["metadata"], "batchId": str(newest + 1)}
    ordered = {key: {"metadata": own, **members}[key] for key in keys}
    text = json.dumps(ordered, separators=(",", ":"))
    (offsets / str(newest + 1)).write_text(f"{version}\n{metadata}\n{text}")
    return newest + 1


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too, with its content; folders are empty."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }
