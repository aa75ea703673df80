"""Digests of what a start of a real library depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

BUILT = frozenset({"target", "node_modules", "__pycache__"})


def digest_of(inputs: Mapping[str, Any]) -> str:
    """The digest of one start's inputs, plain JSON values by name."""
    text = json.dumps(inputs, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def digest_of_files(root: Path, places: Iterable[str]) -> str:
    """The digest of files and folders below ``root``: names and contents, but nothing built."""
    total = hashlib.sha256()
    for path in sorted({path for place in places for path in _files(root / place)}):
        name = path.relative_to(root)
        if BUILT.isdisjoint(name.parts):
            total.update(f"{name.as_posix()}\0".encode())
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:32]


def _files(place: Path) -> list[Path]:
    if not place.exists():
        raise FileNotFoundError(place)
    return [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
