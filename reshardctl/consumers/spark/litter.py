"""Files in a checkpoint directory that do not belong to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reshardctl.consumers.spark.checksum import holds
from reshardctl.consumers.spark.contents import bytes_of, crc_of, is_orphan
from reshardctl.consumers.spark.folders import (
    COMMITS,
    OFFSETS,
    Folders,
    is_batch,
    is_temporary,
    passes_for_batch,
)
from reshardctl.model import Anomaly, AnomalyKind, Image


def litter(folders: Folders) -> Iterator[Anomaly]:
    """Leftovers and foreign files; an error only where Spark takes one for a batch."""
    for folder in sorted(folders):
        inside, numbered = folders[folder], folder in (OFFSETS, COMMITS)
        for name in sorted(_unlike_batches(inside) if numbered else _with_checksums(inside)):
            image = inside[name]
            if numbered:
                yield from _stranger(folder, name, image)
            if is_orphan(image):
                why = (
                    f"the checksum of {image.key} was left without its file: on a local disk "
                    "Hadoop refuses to write that file"
                )
                yield Anomaly(AnomalyKind.FOREIGN_ENTRY, image.key, "orphaned checksum", why)
            else:
                yield from _stale(image)


def _with_checksums(inside: Mapping[str, Image]) -> Iterator[str]:
    return (name for name, image in inside.items() if "crc" in image.attributes)


def _unlike_batches(inside: Mapping[str, Image]) -> set[str]:
    return {*_with_checksums(inside), *(name for name in inside if not is_batch(name))}


def _stranger(folder: str, name: str, image: Image) -> Iterator[Anomaly]:
    if passes_for_batch(name) or (name.endswith("/") and is_batch(name[:-1])):
        why = f"Spark takes {image.key} for a batch of {folder}, and cannot read it as one"
        yield Anomaly(AnomalyKind.UNREADABLE, image.key, name, why)
    elif is_temporary(name):
        why = f"{image.key} was left by a writer that crashed; Spark passes it by"
        yield Anomaly(AnomalyKind.FOREIGN_ENTRY, image.key, "temporary file", why)
    elif not is_batch(name):
        why = f"{image.key} is no batch; Spark passes it by"
        yield Anomaly(AnomalyKind.FOREIGN_ENTRY, image.key, "other file", why)


def _stale(image: Image) -> Iterator[Anomaly]:
    crc, content = crc_of(image), bytes_of(image)
    if crc is not None and content is not None and not holds(content, crc):
        why = (
            f"the checksum beside {image.key} is not its own; only a reader that verifies (a "
            "FileSystemBasedCheckpointFileManager) minds"
        )
        yield Anomaly(AnomalyKind.FOREIGN_ENTRY, image.key, "stale checksum", why)
