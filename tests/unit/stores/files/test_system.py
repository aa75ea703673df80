"""File systems that lack something, and directories that fail or change under a read."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reshardctl.errors import CannotTell, Refused, UsageError
from reshardctl.model import Step
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.files import local, system
from reshardctl.stores.files.local import Local, copied
from reshardctl.stores.files.swapping import Unit
from reshardctl.stores.files.system import alone, exchange, folders_of, place
from reshardctl.stores.files.tree import Tree
from tests.unit.stores.files.trees import (
    change,
    contents,
    crc32,
    creation,
    everything,
    held,
    plant,
    removal,
    wanting,
)

UUID = "2b0e7e0c-9a4b-4c9c-9b57-8d8e8b9f6a10"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    plant(tmp_path, "offsets/7", b"v1")
    return Tree(Local(str(tmp_path)), everything)


def failing(code: int) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return fail


def writes(tree: Tree) -> list[Step]:
    row = held(tree, "offsets/7")
    return [creation("offsets/8", text={"S": "y"}), change(row, text={"S": "y"}), removal(row)]


# renames


def renameat2(code: int) -> SimpleNamespace:
    """A C library whose renameat2(2) fails so; without a code it has none."""

    def call(*_: Any) -> int:
        ctypes.set_errno(code)
        return -1

    return SimpleNamespace(renameat2=call) if code else SimpleNamespace()


@pytest.mark.parametrize("code", [0, errno.EINVAL, errno.ENOSYS])
@pytest.mark.parametrize("kind", range(3), ids=["create", "replace", "delete"])
def test_a_system_that_cannot_exchange_names_is_written_to(tree, monkeypatch, code, kind):
    """renameat2(2): EINVAL of a file system without the flags; glibc has had it since 2.28."""
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: renameat2(code))
    assert tree.write(writes(tree)[kind], "t") is WriteResult.APPLIED


def test_a_system_that_may_not_rename_says_so(tree, monkeypatch, tmp_path):
    before = contents(tmp_path)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: renameat2(errno.EPERM))
    with pytest.raises(Refused, match="Operation not permitted"):
        tree.write(writes(tree)[1], "t")
    assert contents(tmp_path) == before


def test_without_links_too_nothing_new_is_made(tree, monkeypatch, tmp_path):
    """link(2): EPERM, the file system (FAT) has no links. A plain rename could replace a file."""
    before = contents(tmp_path)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: renameat2(errno.EINVAL))
    monkeypatch.setattr(os, "link", failing(errno.EPERM))
    with pytest.raises(Refused, match="no file can be made there without a race"):
        tree.write(creation("offsets/8", text={"S": "y"}), "t")
    assert contents(tmp_path) == before


# locks


def test_a_file_system_without_locks_is_written_to(tree, monkeypatch, tmp_path):
    """flock(2). What lies there may be a living process' own then, and is left alone."""
    theirs = tmp_path / f".reshardctl.{UUID}.tmp"
    theirs.write_bytes(b"half")
    monkeypatch.setattr(fcntl, "flock", failing(errno.ENOLCK))
    assert tree.write(writes(tree)[1], "t") is WriteResult.APPLIED
    assert theirs.exists()


def test_a_root_that_cannot_be_opened_has_no_lock(tmp_path: Path) -> None:
    with alone(tmp_path / "gone", "gone") as locked:
        assert locked is False


def test_another_process_that_keeps_the_lock_is_named(tree, monkeypatch, tmp_path):
    monkeypatch.setattr(system, "PATIENCE", 0.01)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.raises(Refused, match=f"another reshardctl writes in {tmp_path}"):
            tree.write(writes(tree)[1], "t")
    finally:
        os.close(descriptor)


# attributes


@pytest.mark.parametrize("code", [0, errno.ENOTSUP, errno.EIO])
def test_a_file_system_without_attributes_has_none_to_keep(tree, monkeypatch, code):
    """listxattr(2). macOS has other calls for them, and Python has none there."""
    if code:
        monkeypatch.setattr(os, "listxattr", failing(code))
    else:
        monkeypatch.delattr(os, "listxattr")
    if code == errno.EIO:
        with pytest.raises(Refused, match="Input/output error"):
            tree.write(writes(tree)[1], "t")
    else:
        assert tree.write(writes(tree)[1], "t") is WriteResult.APPLIED


def test_an_attribute_that_a_new_file_has_already_is_not_set(tree, monkeypatch):
    """A label of SELinux may come with the folder, and setting it needs leave (setxattr(2))."""
    monkeypatch.setattr(os, "listxattr", lambda *_, **__: ["security.selinux"])
    monkeypatch.setattr(os, "getxattr", lambda *_, **__: bytes(bytearray(b"label")))
    monkeypatch.setattr(os, "setxattr", failing(errno.EACCES))
    assert tree.write(writes(tree)[1], "t") is WriteResult.APPLIED


# reads


@pytest.mark.parametrize(("call", "named"), [
    ("scandir", ""), ("scandir", "/offsets"), ("open", "/offsets/7"),
], ids=["root", "folder", "file"])  # fmt: skip
def test_a_read_that_fails_names_the_place(tmp_path, monkeypatch, call, named):
    """As a file of NFS does whose server has lost it."""
    plant(tmp_path, "offsets/7", b"v1")
    folders = {"offsets"} if named else {""}
    monkeypatch.setattr(os, call, failing(errno.ESTALE))
    with pytest.raises(CannotTell, match=f"cannot read {tmp_path}{named}: Stale file h") as caught:
        Tree(Local(str(tmp_path)), wanting(folders, {"offsets/7"})).read()
    assert caught.value.next == f"ls -ld {tmp_path}{named}"


def test_a_read_behind_a_link_that_fails_names_the_link(tmp_path, monkeypatch):
    plant(tmp_path, "real", b"v1")
    (tmp_path / "link").symlink_to("real")
    opened = os.open

    def open_(path: Any, *arguments: Any) -> int:
        if str(path).endswith("real"):
            failing(errno.ESTALE)()
        return opened(path, *arguments)

    monkeypatch.setattr(os, "open", open_)
    with pytest.raises(CannotTell, match=f"cannot read {tmp_path}/link: Stale") as caught:
        Tree(Local(str(tmp_path)), everything).get(["link"])
    assert caught.value.next == f"ls -ld {tmp_path}/real"


@pytest.mark.parametrize("times", [1, local.TRIES])
def test_a_file_that_changes_while_it_is_read(tree, monkeypatch, tmp_path, times):
    left, read = [times], os.read

    def changing(descriptor: int, size: int) -> bytes:
        content = read(descriptor, size)
        if left[0] and not content:
            left[0] -= 1
            with (tmp_path / "offsets/7").open("ab") as file:
                file.write(b"+")
        return content

    monkeypatch.setattr(os, "read", changing)
    if times < local.TRIES:
        row = tree.get(["offsets/7"])["offsets/7"]
        assert row is not None and row.attributes["text"] == {"S": "v1+"}
    else:
        with pytest.raises(CannotTell, match="offsets/7: it changes while it is read, again and"):
            tree.get(["offsets/7"])


def test_a_folder_that_has_gone_has_no_owners(tmp_path: Path) -> None:
    assert folders_of(tmp_path, tmp_path / "gone") == ()


# what a killed process noted


OLD, NEW, OTHER = b"v1\nold", b"v1\nnew", b"v1\nother"


def note(after: bytes | None, checksum: bytes | None) -> bytes:
    before = Unit.of("f", None, None, OLD, crc32(OLD))
    return Unit("f", before.after, Unit.of("f", None, None, after, checksum).after).text()


@pytest.mark.parametrize(("noted", "there", "crc", "wanted"), [
    (note(NEW, crc32(NEW)), NEW, None, crc32(NEW)),
    (note(NEW, crc32(NEW)), OLD, None, crc32(OLD)),
    (note(NEW, crc32(NEW)), NEW, crc32(OLD), crc32(NEW)),
    (note(NEW, None), NEW, crc32(OLD), None),
    (note(NEW, crc32(NEW)), OTHER, None, None),
    (note(NEW, crc32(NEW)), NEW, crc32(OTHER), crc32(OTHER)),
    (b"no JSON", NEW, None, None),
    (note(NEW, crc32(NEW)).replace(b'"format": 1', b'"format": 2'), NEW, None, None),
    (b'{"format": 1, "key": "f"}', NEW, None, None),
], ids=["new", "old", "old beside new", "none any more", "another's", "another's checksum",
        "no note", "later release", "without its sides"])  # fmt: skip
def test_the_next_writer_completes_what_was_noted(tmp_path, noted, there, crc, wanted):
    """A checksum that does not fit its file would be an error to Hadoop (ChecksumFileSystem)."""
    plant(tmp_path, "f", there, crc)
    (tmp_path / f".reshardctl.{UUID}.note").write_bytes(noted)
    Tree(Local(str(tmp_path)), everything).recover()
    expected = {"f": there} | ({} if wanted is None else {".f.crc": wanted})
    assert contents(tmp_path) == expected


def test_what_may_be_a_living_process_note_is_no_killed_one_s(tmp_path: Path) -> None:
    blobs = Local(str(tmp_path))
    with blobs.together(b"a file and its checksum"):
        assert list(blobs.unfinished()) == [], "nobody else is locked out"
        with blobs.writing():
            assert list(blobs.unfinished()) == [b"a file and its checksum"]


def test_names_are_exchanged_and_given_in_the_folder_of_the_process(tmp_path, monkeypatch):
    """As every call that is given a relative name (rename(2))."""
    plant(tmp_path, "a", b"1")
    plant(tmp_path, "b", b"2")
    monkeypatch.chdir(tmp_path)
    assert exchange(Path("a"), Path("b"))
    assert place(Path("a"), Path("c"))
    with pytest.raises(FileExistsError):
        place(Path("c"), Path("b"))
    assert contents(tmp_path) == {"b": b"1", "c": b"2"}


def test_a_note_that_cannot_be_read_stops_the_writer(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / f".reshardctl.{UUID}.note").mkdir()
    with pytest.raises(CannotTell, match=r"cannot read .*\.note: Is a directory"):
        tree.recover()


def test_a_root_whose_notes_cannot_be_listed_is_not_written(tree, monkeypatch):
    step = writes(tree)[1]
    monkeypatch.setattr(os, "listdir", failing(errno.ESTALE))
    with pytest.raises(CannotTell, match="Stale file handle"):
        tree.write(step, "t")


def test_a_folder_that_goes_before_it_is_listed_is_absent(tmp_path, monkeypatch):
    (tmp_path / "offsets").mkdir()
    monkeypatch.setattr(os, "scandir", failing(errno.ENOENT))
    assert Local(str(tmp_path)).list("offsets") is None


# copies


def test_a_copy_has_the_modes_and_times_of_files_and_folders(tmp_path: Path) -> None:
    """So that the copy is to its reader what the original is: `cp -a` does the same."""
    plant(tmp_path, "checkpoint/offsets/deep/7", b"v1")
    source, to = tmp_path / "checkpoint", tmp_path / "copy"
    within = ["offsets/deep/7", "offsets/deep", "offsets", ""]
    for number, (name, mode) in enumerate(zip(within, (0o640, 0o750, 0o711, 0o770), strict=True)):
        (source / name).chmod(mode)
        os.utime(source / name, ns=(1_700_000_000 * 10**9, (1_700_000_000 + number) * 10**9))
    copied(source, to)
    for name in within:
        one, other = (source / name).stat(), (to / name).stat()
        assert (one.st_mode, one.st_mtime_ns) == (other.st_mode, other.st_mtime_ns), name


def test_a_copy_needs_a_folder_and_a_rename_that_replaces_nothing(tmp_path, monkeypatch):
    plant(tmp_path, "checkpoint/offsets/7", b"v1")
    source = tmp_path / "checkpoint"
    with pytest.raises(UsageError, match="no is no folder") as caught:
        copied(source, tmp_path / "no" / "copy")
    assert caught.value.next == f"mkdir -p {tmp_path}/no"
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: renameat2(errno.EINVAL))
    with pytest.raises(CannotTell, match="cannot rename without replacing"):
        copied(source, tmp_path / "copy")
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]
