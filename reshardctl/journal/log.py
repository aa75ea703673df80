"""Where a journal is kept: bytes that only grow, with one writer at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class S3Object:
    """An object of a bucket; its text names it in commands and messages."""

    bucket: str
    key: str

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"


Where = Path | S3Object
"""The place of a journal. Its text can be given to `undo` and `--resume`."""


class Log(Protocol):
    """Bytes in one place.

    A write that fails raises UsageError, Refused or CannotTell, and the log then ends where it
    ended before.
    """

    @property
    def where(self) -> Where:
        """The place of the log."""

    def create(self, content: bytes) -> None:
        """Creates a log with these bytes. UsageError over an existing one."""

    def open(self) -> bytes:
        """Opens an existing log for appending, and returns all of its bytes."""

    def read(self) -> bytes:
        """All bytes, without opening the log for writing."""

    def append(self, content: bytes, *, sync: bool) -> None:
        """Adds bytes; with `sync` all bytes so far are durable on return."""

    def cut(self, size: int) -> None:
        """Drops the bytes after the first `size`: a torn record, which guarded nothing."""

    def discard(self) -> None:
        """Deletes a log under which nothing was ever written."""

    def delete(self) -> None:
        """Deletes the opened log, and releases it. UsageError if it is not what was opened."""

    def close(self) -> None:
        """Releases the log."""
