"""A checkpoint directory as images: what a medium gives of it, read from a disk without one."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from reshardctl.model import Image
from tests.support.grouped import by_case

GOLDEN = Path(__file__).parents[1] / "golden" / "spark"
CONNECTORS = (
    "awslabs-1.4.2", "awslabs-1.4.2-sdk", "awslabs-head", "awslabs-head-0f4c005",
    "awslabs-head-0f4c005-spark-4.3", "qubole-1.2.0_spark-3.0", "qubole-kinesis-sql",
)
"""Builds whose checkpoints read Kinesis."""


def checkpoints(*builds: str) -> list[Path]:
    """Every golden checkpoint of these builds, of all of them where none is named."""
    folders = [GOLDEN / build for build in builds] or [p for p in GOLDEN.iterdir() if p.is_dir()]
    return sorted(path.parent for folder in folders for path in folder.rglob("metadata")
                  if path.is_file() and (path.parent / "offsets").is_dir())


def name(path: Path) -> str:
    """A checkpoint's name for a test's id."""
    return path.relative_to(GOLDEN).as_posix()


def by_build(paths: Iterable[Path]) -> Callable[[Callable[..., None]], Any]:
    """Make of a test of one file a test of those of each build."""
    return by_case((path.relative_to(GOLDEN).parts[0], name(path), (path,)) for path in paths)


def content(data: bytes) -> dict[str, dict[str, str]]:
    """The attributes of a file that was read."""
    try:
        return {"text": {"S": data.decode()}}
    except UnicodeDecodeError:
        return {"bytes": {"B": base64.b64encode(data).decode()}}


def images(root: Path) -> dict[str, Image]:
    """Everything below a root by key; checksums go with their files, folders end in `/`."""
    found: dict[str, dict] = {}
    for path in sorted(root.rglob("*")):
        key = path.relative_to(root).as_posix()
        if path.is_dir():
            found[f"{key}/"] = {}
        elif path.name.startswith(".") and path.name.endswith(".crc"):
            own = (path.parent / path.name[1:-4]).relative_to(root).as_posix()
            crc = base64.b64encode(path.read_bytes()).decode()
            found.setdefault(own, {})["crc"] = {"B": crc}
        else:
            size = {"size": {"N": str(path.stat().st_size)}}
            found.setdefault(key, {}).update(content(path.read_bytes()) | size)
    return {key: Image(key, found[key]) for key in sorted(found)}


def file(key: str, text: str) -> Image:
    """A file of this text."""
    return Image(key, content(text.encode()))
