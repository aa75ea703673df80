"""Files in memory: those of a tar archive, or single ones. They can only be read.

Nothing is extracted to a disk. What would lead out of the folder is refused, and so is everything
but files and folders.
"""

from __future__ import annotations

import tarfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from io import BytesIO

from reshardctl.errors import UsageError
from reshardctl.stores.files.blobs import LARGEST, Blob, Entry, Kept, split

MEMBERS = 1_000_000
"""Most members of an archive that are read."""
OF_A_CHECKPOINT = frozenset({"metadata", "offsets", "commits", "sources", "state"})
"""What Spark keeps in a checkpoint directory: folders around it are not a part of it."""


class Held:
    """See `Blobs`. Files by their keys."""

    checksums = True
    at_once = 1

    def __init__(self, location: str, files: Mapping[str, Blob]) -> None:
        """location: where they come from, for messages."""
        self.location = location
        self._files = files
        self._folders: dict[str, dict[str, Entry]] = {"": {}}
        for key, blob in files.items():
            folder, name = split(key)
            self._entries(folder)[name] = Entry(name, False, len(blob.content), blob.modified)

    def _entries(self, folder: str) -> dict[str, Entry]:
        """The entries of a folder, which is made, with those around it."""
        if folder not in self._folders:
            around, name = split(folder)
            self._entries(around)[name] = Entry(name, folder=True)
            self._folders[folder] = {}
        return self._folders[folder]

    def identity(self) -> Mapping[str, str]:
        """The kind of store: a copy does not tell of which directory it is."""
        return {"medium": "files"}

    def list(self, folder: str) -> list[Entry] | None:
        """The entries of a folder."""
        entries = self._folders.get(folder)
        return None if entries is None else [*entries.values()]

    def read(self, keys: Collection[str]) -> dict[str, Blob | None]:
        """Contents; `None` for an absent file."""
        return {key: self._files.get(key) for key in keys}

    def each(self, keys: Collection[str]) -> Iterator[tuple[str, Blob | None]]:
        """The same one by one."""
        yield from self.read(keys).items()

    def writing(self) -> AbstractContextManager[None]:
        """Nothing to lock."""
        return nullcontext()

    def together(self, note: bytes) -> AbstractContextManager[None]:  # noqa: ARG002
        """Nothing to note."""
        return nullcontext()

    def unfinished(self) -> Iterator[bytes]:
        """No notes."""
        return iter(())

    def create(self, key: str, content: bytes, kept: Kept | None = None) -> None:  # noqa: ARG002
        """Always raises UsageError."""
        raise UsageError(f"{self.location} cannot be written to", "name the directory itself")

    def replace(self, key: str, content: bytes, was: Blob) -> None:  # noqa: ARG002
        """Always raises UsageError."""
        self.create(key, content)

    def delete(self, key: str, was: Blob) -> None:  # noqa: ARG002
        """Always raises UsageError."""
        self.create(key, b"")


def of_tar(name: str, content: bytes, way_out: str) -> Held:
    """The checkpoint directory in a tar archive, without the folders around it.

    Args:
        name: Of the archive, for messages.
        content: The archive, unpacked.
        way_out: What to do if it cannot be read.

    Raises:
        UsageError: It is no such archive, or has a member that is neither a file nor a folder, or
            that leads out of it; or its files have more than LARGEST bytes.
    """
    files: dict[str, Blob] = {}
    left = LARGEST
    try:
        with tarfile.open(fileobj=BytesIO(content), mode="r:") as archive:
            for count, member in enumerate(archive):
                key = _key(member, name, way_out)
                left -= 0 if member.isdir() else member.size
                if left < 0 or count >= MEMBERS:
                    raise UsageError(
                        f"{name}: its files are too many or too large",
                        "leave the state out: tar --exclude=state",
                    )
                if not key or member.isdir():
                    continue
                if key in files:
                    raise UsageError(f"{name}: {key} stands twice", way_out)
                file = archive.extractfile(member)
                assert file is not None, "it is a file"
                files[key] = Blob(file.read(), int(member.mtime * 1e9))
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise UsageError(f"{name}: no tar archive: {error}", way_out) from None
    if not files:
        raise UsageError(f"{name}: the archive has no files", way_out)
    return Held(name, _below(files))


def _key(member: tarfile.TarInfo, name: str, way_out: str) -> str:
    """The path of a file or folder, "" for the root. UsageError for anything else."""
    parts = [part for part in member.name.split("/") if part not in ("", ".")]
    if member.name.startswith("/") or ".." in parts or "\0" in member.name:
        raise UsageError(f"{name}: {member.name!r} leads out of the archive", way_out)
    if not (member.isdir() or member.isreg()) or member.issparse():
        raise UsageError(f"{name}: {member.name!r} is neither a file nor a folder", way_out)
    return "/".join(parts)


def _below(files: Mapping[str, Blob]) -> Mapping[str, Blob]:
    """The files by their paths in the checkpoint directory, which may lie in others."""
    while True:
        heads = {key.partition("/")[0] for key in files}
        if len(heads) != 1 or heads & OF_A_CHECKPOINT or any("/" not in key for key in files):
            return files
        files = {key.partition("/")[2]: blob for key, blob in files.items()}
