"""One text that holds many rows, as a store: all writes of a step are one new text.

The guards compare rows as they are now with rows as they were read, never the texts: a program may
rewrite its own text without changing its meaning (Quickwit saves its sources in random order). The
new text is then made from the present one, whose other bytes stay as they are.

An error about a text names the place where it is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from reshardctl.errors import NoStore, NotLoaded, UsageError
from reshardctl.model import Image, Step, Write
from reshardctl.model.files import Codec, refused
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.base import checked, holds
from reshardctl.stores.files.blobs import Blob, Blobs, Moved
from reshardctl.stores.files.blobs import checked as checked_key


@contextmanager
def complaints_about(place: str) -> Iterator[None]:
    """A UsageError of the body names the place first; bytes that are no UTF-8 become one."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise NotLoaded(
            f"{place}: not UTF-8 ({error})", "restore it from a backup, or name another place"
        ) from None
    except UsageError as error:
        kind = NotLoaded if isinstance(error, NotLoaded) else UsageError
        raise kind(f"{place}: {error.what}", error.next) from None


TRIES = 5
"""How often a step is tried while another program keeps saving the text."""


class Document:
    """The rows of one file."""

    max_writes = 10_000

    def __init__(self, blobs: Blobs, key: str, codec: Codec) -> None:
        """Touches nothing yet. key: the file below the root."""
        self._blobs = blobs
        self._key = checked_key(key)
        self._codec = codec
        self.location = f"{blobs.location.rstrip('/')}/{key}"

    def identity(self) -> Mapping[str, str]:
        """Where the file is, and what distinguishes its text from another in its place."""
        identity = {n: v for n, v in self._blobs.identity().items() if n != "inode"}
        text = self._text(self._blob())
        with complaints_about(self.location):
            return {**identity, "file": self._key, **self._codec.identity(text)}

    def read(self) -> list[Image]:
        """Every row. UsageError if there is no such file, or if its text holds no rows."""
        return self._images(self._text(self._blob()))

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows as they are now."""
        if not keys:
            return {}
        rows = {image.key: image for image in self.read()}
        return {key: rows.get(key) for key in keys}

    def write(self, step: Step, token: str) -> WriteResult:  # noqa: ARG002 - see below
        """Makes all writes or none. A repeat needs no token: it finds what it wrote."""
        writes = checked(step, self.max_writes)
        with self._blobs.writing():
            for _ in range(TRIES):
                result = self._tried(writes)
                if result is not None:
                    return result
        return WriteResult.CONFLICT

    def texts(self) -> Mapping[str, str]:
        """See `Texts`."""
        return {self._key: self._text(self._blob())}

    def unreadable(self) -> Mapping[str, str]:
        """See `Texts`. An absent file is not unreadable."""
        blob = self._blobs.read([self._key])[self._key]
        return {} if blob is None or not (why := self._wrong(blob)) else {self._key: why}

    def text_rows(self, text: str) -> list[Image]:
        """See `Texts`."""
        return self._images(text)

    def restore(self, text: str) -> WriteResult:
        """See `Texts`."""
        with self._blobs.writing():
            blob = self._blob()
            if not self._wrong(blob):
                return WriteResult.CONFLICT
            try:
                self._blobs.replace(self._key, text.encode(), blob)
            except Moved:
                return WriteResult.CONFLICT
            return WriteResult.APPLIED

    def _wrong(self, blob: Blob) -> str:
        try:
            images = self._images(self._text(blob))
        except UsageError as error:
            return error.what
        return next(map(refused, images), "")

    def _tried(self, writes: Sequence[Write]) -> WriteResult | None:
        """One attempt; `None` if another program saved between our read and our write."""
        blob = self._blob()
        text = self._text(blob)
        rows = {image.key: image for image in self._images(text)}
        if not all(holds(write, rows.get(write.key)) for write in writes):
            return WriteResult.CONFLICT
        with complaints_about(self.location):
            new = self._codec.written(text, writes)
        try:
            self._blobs.replace(self._key, new.encode(), blob)
        except Moved:
            return None
        return WriteResult.APPLIED

    def _blob(self) -> Blob:
        blob = self._blobs.read([self._key])[self._key]
        if blob is None:
            raise NoStore(
                f"there is no file {self.location}",
                "name the folder that metastore_uri names, or restore the file from a backup",
            )
        return blob

    def _text(self, blob: Blob) -> str:
        with complaints_about(self.location):
            return blob.content.decode()

    def _images(self, text: str) -> list[Image]:
        with complaints_about(self.location):
            return self._codec.images(text)
