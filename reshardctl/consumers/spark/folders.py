"""A checkpoint's files by folder, and those of them that are logs of a batch.

Which names Spark takes for batches: HDFSMetadataLog.isBatchFile, `name.toLong`. Temporary files:
`.<name>.<uuid>.tmp` (CheckpointFileManager.generateTempPath; `.TID<n>` in tasks).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from reshardctl.model import Image

Folders = Mapping[str, Mapping[str, Image]]
"""Folder ("" for the root) → name → file; a subfolder's name ends in `/`."""

OFFSETS, COMMITS, SOURCES, STATE, METADATA = "offsets", "commits", "sources", "state", "metadata"

_BATCH = re.compile(r"(?:0|[1-9]\d{0,17})\Z", re.ASCII)
_LONG = re.compile(r"[+-]?\d{1,19}\Z", re.ASCII)
_TEMPORARY = re.compile(r"\..+\.tmp\Z")


def by_folder(images: Iterable[Image]) -> Folders:
    """Images sorted into their folders."""
    folders: dict[str, dict[str, Image]] = {}
    inside: dict[str, Image] = {}
    last = None
    for image in images:
        folder, name = split(image.key)
        if folder != last:
            inside, last = folders.setdefault(folder, {}), folder
        inside[name] = image
    return folders


def split(key: str) -> tuple[str, str]:
    """A key's folder ("" for the root) and its name in it."""
    folder, _, name = key.rpartition("/")
    if not name:
        folder, _, name = folder.rpartition("/")
        name += "/"
    return folder, name


def batches(folders: Folders, folder: str) -> dict[int, Image]:
    """The files in a folder that Spark takes for logs of batches, ascending."""
    inside = folders.get(folder, {})
    numbers = sorted(map(int, filter(_BATCH.match, inside)))
    return {number: inside[str(number)] for number in numbers}


def is_batch(name: str) -> bool:
    """Whether a name is a batch id as Spark writes it."""
    return _BATCH.match(name) is not None


def passes_for_batch(name: str) -> bool:
    """Whether Spark takes a name for a batch id although it would spell it otherwise."""
    return _LONG.match(name.removesuffix("/")) is not None and not is_batch(name)


def is_temporary(name: str) -> bool:
    """Whether a crashed writer left a file of this name."""
    return _TEMPORARY.match(name) is not None
