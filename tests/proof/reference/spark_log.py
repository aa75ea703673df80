"""The connectors' log of END positions: a folder for each batch, or awslabs' DynamoDB table."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import Protocol

from tests.proof.reference.spark_files import numbered, put
from tests.proof.reference.spark_offset import Position, entry, entry_text

FOLDERS = {"qubole": "shard-commit", "awslabs": "shard-source"}


class Log(Protocol):
    """What a connector keeps of the ends of its batches."""

    def get(self, batch: int) -> dict[str, Position] | None:
        """The entries of a batch by shard; None when there is no such batch. DiedError."""

    def add(self, batch: int, position: Position) -> None:
        """Store where a batch ended in one shard."""

    def purge(self, below: int) -> None:
        """Drop every batch under this id."""

    def ids(self) -> list[int]:
        """The batches that are there, ascending."""


@dataclass(frozen=True, slots=True)
class FolderLog:
    """``sources/<key>/shard-commit|shard-source`` (HDFSMetadataCommitter); add overwrites."""

    root: Path
    family: str

    def get(self, batch: int) -> dict[str, Position] | None:
        """Every file of the batch's folder but Hadoop's checksums is read, whatever its name."""
        folder = self.root / FOLDERS[self.family] / str(batch)
        if not folder.is_dir():
            return None
        files = [path for path in sorted(folder.iterdir()) if not _checksum(path.name)]
        places = [entry(path.read_text(encoding="utf-8"), self.family) for path in files]
        return {position.shard: position for position in places}

    def add(self, batch: int, position: Position) -> None:
        """Write one file, over what is there."""
        folder = self.root / FOLDERS[self.family] / str(batch)
        put(folder / position.shard, entry_text(position, self.family))

    def purge(self, below: int) -> None:
        """Drop whole folders."""
        for batch in self.ids():
            if batch < below:
                rmtree(self.root / FOLDERS[self.family] / str(batch))

    def ids(self) -> list[int]:
        """The folders whose names are numbers."""
        return numbered(self.root / FOLDERS[self.family])


def _checksum(name: str) -> bool:
    return name.startswith(".") and name.endswith(".crc")


@dataclass(slots=True)
class TableLog:
    """DynamodbMetadataCommitter: the first writer of (batch, shard) wins, whoever it is."""

    items: dict[tuple[int, str], Position] = field(default_factory=dict)

    def get(self, batch: int) -> dict[str, Position] | None:
        """A Query by metadataKey; nothing there is no such batch."""
        found = {shard: position for (of, shard), position in self.items.items() if of == batch}
        return found or None

    def add(self, batch: int, position: Position) -> None:
        """PutItem with attribute_not_exists; its failure is ignored."""
        self.items.setdefault((batch, position.shard), position)

    def purge(self, below: int) -> None:
        """Delete older items."""
        for key in [key for key in self.items if key[0] < below]:
            del self.items[key]

    def ids(self) -> list[int]:
        """The batches that have items."""
        return sorted({batch for batch, _ in self.items})
