"""A checkpoint directory as Spark's own logs read and write it (HDFSMetadataLog, OffsetSeqLog).

On a local disk every file has a hidden Hadoop checksum beside it, which Spark writes and does not
verify; one that was left without its file makes the next write of that name fail.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

CHUNK = 512
CONF = '{"batchWatermarkMs":0,"batchTimestampMs":0,"conf":{}}'
COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'


class DiedError(Exception):
    """The query ends with an error."""


@dataclass(frozen=True, slots=True)
class Logged:
    """One file of offsets/: its version, its metadata line, and a line for every source by key.

    A key is the source's place in v1, what stands before the first colon in v2. None is ``-``.
    """

    version: str
    metadata: str
    lines: dict[str, str | None]

    def text(self) -> str:
        """As Spark writes it: no newline at the end."""
        prefix = "" if self.version == "v1" else "{}:"
        body = [prefix.format(key) + (line or "-") for key, line in self.lines.items()]
        return "\n".join([self.version, self.metadata, *body])

    def with_line(self, key: str, line: str) -> Logged:
        """The same with another line for one source."""
        return replace(self, lines={**self.lines, key: line})


def logged(text: str) -> Logged:
    """Read a file of offsets/; DiedError where OffsetSeqLog refuses it."""
    version, *rest = text.removesuffix("\n").split("\n") if text else [""]
    if version not in ("v1", "v2") or not rest:
        raise DiedError(f"log file was malformed: {version!r}")
    metadata, *body = rest
    try:
        json.loads(metadata or "{}")
    except json.JSONDecodeError as error:
        raise DiedError(f"line 2: {error}") from None
    lines: dict[str, str | None] = {}
    for place, line in enumerate(body):
        key, content = (str(place), line) if version == "v1" else line.split(":", 1)
        lines[key] = None if content == "-" else content
    return Logged(version, metadata, lines)


def stamped(metadata: str, now: float) -> str:
    """Line 2 of the next batch: the same but for the time at which it is planned."""
    found = json.loads(metadata) | {"batchTimestampMs": int(now * 1000)}
    return json.dumps(found, separators=(",", ":"))


def crc_of(content: bytes) -> bytes:
    """Hadoop's checksum file: magic, chunk size, and CRC32 of every chunk (ChecksumFileSystem)."""
    chunks = [content[at : at + CHUNK] for at in range(0, len(content), CHUNK)]
    return (
        b"crc\0"
        + struct.pack(">i", CHUNK)
        + b"".join(struct.pack(">I", zlib.crc32(chunk)) for chunk in chunks)
    )


def beside(path: Path) -> Path:
    """Where the checksum of a file is kept."""
    return path.with_name(f".{path.name}.crc")


def put(path: Path, text: str) -> None:
    """Write a file and its checksum, over what is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode()
    path.write_bytes(content)
    beside(path).write_bytes(crc_of(content))


def remove(path: Path) -> None:
    """Delete a file and its checksum; an absent one is fine."""
    path.unlink(missing_ok=True)
    beside(path).unlink(missing_ok=True)


def numbered(folder: Path) -> list[int]:
    """The batch ids of a log: every name that is a number, ascending."""
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    return sorted(int(name) for name in names if name.isdigit())


@dataclass(frozen=True, slots=True)
class MetadataLog:
    """offsets/ or commits/ of one checkpoint."""

    folder: Path

    def ids(self) -> list[int]:
        """What is there, ascending."""
        return numbered(self.folder)

    def get(self, batch: int) -> str | None:
        """The text of one batch."""
        path = self.folder / str(batch)
        return path.read_text(encoding="utf-8") if path.exists() else None

    def add(self, batch: int, text: str) -> None:
        """Write a batch that is not there yet; DiedError when it is, or its checksum is."""
        path = self.folder / str(batch)
        if path.exists():
            raise DiedError(f"concurrent update of the log: {self.folder.name}/{batch}")
        if beside(path).exists():
            raise DiedError(f"multiple streaming queries are concurrently using {self.folder.name}")
        put(path, text)

    def purge(self, below: int) -> None:
        """Drop every batch under this id."""
        for batch in self.ids():
            if batch < below:
                remove(self.folder / str(batch))
