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
    newest = max(_number(path) for path in offsets.iterdir() if path.name.isdigit())
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


def newest_line(checkpoint: Path) -> tuple[Path, str, dict[str, dict[str, object]]]:
    """The newest offset log whose source holds ENDs: its path, what stands before the source's
    offset (in v2 that line begins with the source's name), and the shards."""
    offsets = checkpoint / "offsets"
    newest = max((path for path in offsets.iterdir() if path.name.isdigit()), key=_number)
    text = newest.read_text()
    start = text.index('{"shards"')
    return newest, text[:start], json.loads(text[start:])["shards"]


def misplace(checkpoint: Path, shard: str, donor: str) -> None:
    """Give a shard the number of another in the newest offset log, as a wrong copy would."""
    mark(checkpoint, shard, seq=newest_line(checkpoint)[2][donor]["seq"])


def mark(checkpoint: Path, shard: str, **members: object) -> None:
    """Give a shard's mark in the newest offset log these members; None takes one away."""
    path, before, _ = newest_line(checkpoint)
    whole = json.loads(path.read_text()[len(before) :])
    one = {**whole["shards"].get(shard, {}), **members}
    whole["shards"][shard] = {name: value for name, value in one.items() if value is not None}
    path.write_text(before + json.dumps(whole))


def _number(path: Path) -> int:
    return int(path.name)
