"""A checkpoint directory in a tar archive: read in memory, and nothing but files and folders.

What leads out of an archive is what Python's own `tarfile.data_filter` refuses (PEP 706).
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from reshardctl.errors import UsageError
from reshardctl.stores.files import archive
from reshardctl.stores.files.archive import of_tar
from reshardctl.stores.files.blobs import Entry
from reshardctl.stores.files.tree import Tree
from tests.unit.stores.files.trees import crc32, creation, everything, plant

Change = Callable[[tarfile.TarInfo], None]


def packed(*names: str, change: Change = lambda _: None) -> bytes:
    """An archive of files that hold their own names; the last one is changed."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(name), 5
            if name == names[-1]:
                change(member)
            tar.addfile(member, io.BytesIO(name.encode()) if member.isreg() else None)
    return file.getvalue()


@pytest.mark.parametrize("folder", ["", "./", "checkpoint/", "./home/of/checkpoint/"])
def test_the_folders_around_it_are_left_out(folder: str) -> None:
    names = [f"{folder}{name}" for name in ("metadata", "offsets/0", "offsets/.0.crc")]
    held = of_tar("a", packed(*names), "")
    assert {key: blob.content.decode() for key, blob in held.each(["metadata", "offsets/0"])
            if blob} == {"metadata": names[0], "offsets/0": names[1]}  # fmt: skip
    size = len(names[0])
    assert held.list("") == [Entry("metadata", False, size, 5 * 10**9), Entry("offsets", True)]
    assert [entry.name for entry in held.list("offsets") or ()] == ["0", ".0.crc"]
    assert held.list("commits") is None and held.read(["commits/0"]) == {"commits/0": None}


def test_an_archive_as_tar_makes_it_is_a_tree_that_is_only_read(tmp_path: Path) -> None:
    """With a member for each folder."""
    plant(tmp_path, "checkpoint/offsets/0", b"v1", crc32(b"v1"))
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        tar.add(tmp_path / "checkpoint", "checkpoint")
    tree = Tree(of_tar("a.tar", file.getvalue(), ""), everything)
    assert tree.identity() == {"medium": "files"}
    assert [row.key for row in tree.read()] == ["offsets/", "offsets/0"]
    row = tree.get(["offsets/0"])["offsets/0"]
    assert row is not None and sorted(row.attributes) == ["crc", "modified", "size", "text"]
    step = creation("offsets/1", text={"S": "v1"}, crc=row.attributes["crc"])
    with pytest.raises(UsageError, match=r"a\.tar cannot be written to"):
        tree.write(step, "t")


def test_a_checkpoint_without_batches_stays_as_it_is() -> None:
    assert of_tar("a", packed("sources/0/shard-commit/0"), "").list("sources") is not None


def of_type(kind: bytes) -> Change:
    def change(member: tarfile.TarInfo) -> None:
        member.type, member.linkname, member.size = kind, "/etc/passwd", 0

    return change


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", ".."])
def test_what_leads_out_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="leads out of the archive"):
        of_tar("a", packed("metadata", name), "")


@pytest.mark.parametrize("kind", [
    tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE,
])
def test_links_and_devices_are_refused(kind: bytes) -> None:
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        of_tar("a", packed("metadata", "offsets/0", change=of_type(kind)), "")


def test_a_file_that_stands_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="metadata stands twice"):
        of_tar("a", packed("metadata", "./metadata"), "")


@pytest.mark.parametrize("content", [b"", b"no archive", packed("offsets/0")[:300], bytes(10240)])
def test_what_is_no_archive_is_refused(content: bytes) -> None:
    with pytest.raises(UsageError, match=r"a: (no tar archive|the archive has no files)") as caught:
        of_tar("a", content, "pack it anew")
    assert caught.value.next == "pack it anew"


def test_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LARGEST", 20)
    with pytest.raises(UsageError, match="too large"):
        of_tar("a", packed("offsets/0", "offsets/1", "offsets/2"), "")
    monkeypatch.setattr(archive, "MEMBERS", 1)
    with pytest.raises(UsageError, match="too many"):
        of_tar("a", packed("a", "b"), "")


def test_it_cannot_be_written_to() -> None:
    held = of_tar("a", packed("metadata"), "")
    (blob,) = held.read(["metadata"]).values()
    assert blob is not None
    for write in (
        lambda: held.create("x", b""), lambda: held.replace("metadata", b"", blob),
        lambda: held.delete("metadata", blob),
    ):
        with pytest.raises(UsageError, match="cannot be written to"):
            write()
