"""What a journal is kept in: bytes that only grow, one writer at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class S3Object:
    """An object of a bucket; its text is what commands and messages call it."""

    bucket: str
    key: str

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"


Where = Path | S3Object
"""Where a journal is. Its text can be given to `undo` and `--resume` as it stands."""


class Log(Protocol):
    """Bytes in one place. What cannot be written raises UsageError, Refused or CannotTell, and
    the log then ends where it ended before."""

    @property
    def where(self) -> Where:
        """Where it is."""

    def create(self, content: bytes) -> None:
        """A new log with these bytes. UsageError over an existing one."""

    def open(self) -> bytes:
        """An existing log, to be appended to: all of its bytes."""

    def read(self) -> bytes:
        """All bytes, in order to look only."""

    def append(self, content: bytes, *, sync: bool) -> None:
        """Add bytes; with `sync` they are safe from a crash on return, with all before them."""

    def cut(self, size: int) -> None:
        """Drop what is behind the first `size` bytes: a torn record that guarded nothing."""

    def discard(self) -> None:
        """Take a log away under which nothing was ever written."""

    def close(self) -> None:
        """Let go of it."""
