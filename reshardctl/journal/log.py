"""Where a journal is kept: bytes that only grow, with one writer at a time, in a known place."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from reshardctl.codec.strict import JOURNAL, KINDS, kind_of
from reshardctl.errors import UsageError


class S3Object(Struct, frozen=True):
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


def existing(where: Where, content: bytes | None) -> UsageError:
    """The error to raise where a new journal is not written over what is there.

    content: of the file or object; `None` if it cannot be read.
    """
    another = "name another with --journal"
    if content is None:
        return UsageError(f"{where} exists already; nothing was written", another)
    kind = kind_of(content)
    if kind == JOURNAL:
        return UsageError(
            f"journal {where} exists already; nothing was written",
            f"{another}, or go on with it: reshardctl fix --resume {shlex.quote(str(where))}",
        )
    told = f"{KINDS[kind].what}, not a journal" if kind in KINDS else "no journal of reshardctl"
    return UsageError(f"{where} exists already and is {told}; nothing was written", another)


SUFFIX = ".jsonl"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\Z")
"""Amazon S3 User Guide, "General purpose bucket naming rules"."""


def state_dir(environment: Mapping[str, str], home: Path) -> Path:
    """$RESHARDCTL_STATE_DIR, else reshardctl in $XDG_STATE_HOME, else in ~/.local/state.

    A relative XDG_STATE_HOME is ignored (XDG Base Directory Specification).
    """
    if chosen := environment.get("RESHARDCTL_STATE_DIR"):
        return Path(chosen)
    state = environment.get("XDG_STATE_HOME", "")
    return (Path(state) if state.startswith("/") else home / ".local" / "state") / "reshardctl"


LONGEST = 180
"""Characters of a store's name in a journal's name, within the limit of file systems."""


def new_name(when: str, store: str, plan: str) -> str:
    """A journal's name: time, store and plan, so that a listing tells them apart.

    when: UTC, ISO 8601. store: the table's name or the like. plan: the plan's digest.
    """
    return "-".join((_plain(re.sub(r"[^0-9TZ]", "", when)), _store(store), _plain(plan[:8])))


def named_after(where: Where, store: str) -> bool:
    """Whether a journal may be of this store: it got a name of its own after that, or was named."""
    name = re.fullmatch(r"[0-9]{8}T[0-9]{6}Z-(.*)-[0-9a-f]{8}", name_of(where), re.DOTALL)
    return name is None or name[1] == _store(store)


def _store(store: str) -> str:
    return _plain(store.strip("/")[-LONGEST:])


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)


def new_path(directory: Path, when: str, store: str, plan: str) -> Path:
    """A new journal's path in a directory."""
    return directory / f"{new_name(when, store, plan)}{SUFFIX}"


def name_of(where: Where) -> str:
    """The text by which `undo` and `--resume` find a journal in its usual place."""
    last = where.name if isinstance(where, Path) else where.key.rpartition("/")[2]
    return last.removesuffix(SUFFIX)


def is_s3(text: str) -> bool:
    """Whether a text names a place on S3."""
    return text.lower().startswith("s3:")


def s3_object(text: str) -> S3Object:
    """Reads `s3://bucket/some/key`, the key perhaps empty. UsageError that names what is wrong."""
    scheme, _, rest = text.partition("://")
    bucket, _, key = rest.partition("/")
    if scheme != "s3" or not _BUCKET.match(bucket):
        raise UsageError(
            f"{text!r} names no location on S3", "write it as s3://my-bucket/reshardctl"
        )
    if any(ord(c) < 32 or ord(c) == 127 for c in key) or len(key.encode()) > 900:
        raise UsageError(f"{text!r}: not a key that S3 takes", "use letters, digits, / - _ .")
    return S3Object(bucket, key)


def placed(text: str, name: str) -> S3Object:
    """The object of a journal called `name`.

    An `s3://…` that ends in .jsonl is that object; any other is the prefix of the name.
    """
    location = s3_object(text)
    if location.key.endswith(SUFFIX):
        return location
    folder = location.key.rstrip("/")
    return S3Object(location.bucket, f"{folder}/{name}{SUFFIX}" if folder else f"{name}{SUFFIX}")
