"""Killed, or failed, before and after every call that changes a directory.

The killed are processes of their own, killed for real (SIGKILL): nothing cleans up after them.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from reshardctl.errors import AnswerLost, CannotTell, Refused
from reshardctl.model import Step
from reshardctl.model.write_state import WriteResult, WriteState, write_state
from reshardctl.stores.base import recover
from reshardctl.stores.files import system
from reshardctl.stores.files.blobs import image_of
from reshardctl.stores.files.local import Local
from reshardctl.stores.files.tree import Tree
from tests.unit.stores.files.test_tree import b64
from tests.unit.stores.files.trees import (
    change,
    contents,
    crc32,
    creation,
    everything,
    plant,
    removal,
)

LONG = pytest.mark.long
CALLS = ("open", "write", "fsync", "fchmod", "fchown", "chmod", "chown", "mkdir", "rmdir",
         "rename", "replace", "unlink", "link", "close")  # fmt: skip
MOVING = frozenset({"size", "modified", "crc", "stored_with", "crc_stored_with"})
"""What may be otherwise after a kill: a file without a checksum is a whole file."""
OLD, NEW = b"v1\nold", b"v1\n" + b"new" * 700


@contextmanager
def watched(act: Callable[[int, bool], None], exchange: bool) -> Iterator[list[str]]:
    """Every changing call, numbered from 0. act: (number, whether it has been made)."""
    made: list[str] = []

    def wrap(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            if name == "open" and not arguments[1] & os.O_CREAT:
                return call(*arguments, **named)
            number = len(made)
            made.append(name)
            act(number, False)
            try:
                return call(*arguments, **named)
            finally:
                act(number, True)

        return run

    def without(*_: Any) -> bool:
        return False

    rename = system._renameat2 if exchange else without
    patches = [mock.patch.object(os, name, wrap(name, getattr(os, name))) for name in CALLS]
    patches.append(mock.patch.object(system, "_renameat2", wrap("renameat2", rename)))
    for patch in patches:
        patch.start()
    try:
        yield made
    finally:
        for patch in patches:
            patch.stop()


@dataclass(frozen=True)
class Case:
    before: dict[str, bytes]
    step: Callable[[Tree], Step]
    after: dict[str, bytes]


def put(tree: Tree, key: str = "d/f") -> Step:
    image = tree.get([key])[key]
    assert image is not None
    return change(image, text={"S": NEW.decode()}, crc=b64(crc32(NEW)))


def plain(tree: Tree) -> Step:
    image = tree.get(["d/f"])["d/f"]
    assert image is not None
    return change(image, text={"S": NEW.decode()})


def made(_tree: Tree) -> Step:
    return creation("d/f", text={"S": NEW.decode()}, crc=b64(crc32(NEW)))


def taken(tree: Tree) -> Step:
    image = tree.get(["d/f"])["d/f"]
    assert image is not None
    return removal(image)


OTHER = {"other": b"o", ".other.crc": crc32(b"o")}
HAS_OLD = {"d/f": OLD, "d/.f.crc": crc32(OLD)}
HAS_NEW = {"d/f": NEW, "d/.f.crc": crc32(NEW)}
CASES = {
    "create": Case(OTHER, made, OTHER | HAS_NEW),
    "create-beside": Case(OTHER | {"d/e": b"e"}, made, OTHER | {"d/e": b"e"} | HAS_NEW),
    "replace": Case(OTHER | HAS_OLD, put, OTHER | HAS_NEW),
    "replace-plain": Case(OTHER | {"d/f": OLD}, plain, OTHER | {"d/f": NEW}),
    "replace-adding-crc": Case(OTHER | {"d/f": OLD}, put, OTHER | HAS_NEW),
    "delete": Case(OTHER | HAS_OLD, taken, OTHER),
    "delete-orphan": Case(OTHER | {"d/.f.crc": crc32(OLD)}, taken, OTHER),
    "fill-orphan": Case(OTHER | {"d/.f.crc": crc32(OLD)}, put, OTHER | HAS_NEW),
}


def build(root: Path, case: Case) -> Tree:
    root.mkdir()
    for key, content in case.before.items():
        plant(root, key, content)
    return Tree(Local(str(root)), everything)


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses nothing that it has written, synced or not."""
    monkeypatch.setattr("os.fsync", lambda _: None)


def nothing(_number: int, _done: bool) -> None:
    pass


def count(tmp_path: Path, case: Case, exchange: bool) -> int:
    tree = build(tmp_path / "counted", case)
    step = case.step(tree)
    with watched(nothing, exchange) as made:
        assert tree.write(step, "t") is WriteResult.APPLIED
    assert contents(tmp_path / "counted") == case.after
    return len(made)


def kill(tree: Tree, step: Step, at: int, after: bool, exchange: bool) -> None:
    """In a process of its own."""
    child = os.fork()
    if child == 0:
        def act(number: int, done: bool) -> None:
            if (number, done) == (at, after):
                os.kill(os.getpid(), signal.SIGKILL)

        with watched(act, exchange):
            tree.write(step, "t")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


QUICK = {("create", False), ("replace", True)}
"""A case, and whether names can be exchanged: those that are tried at every turn."""
EACH = [
    pytest.param(name, exchange, marks=() if (name, exchange) in QUICK else LONG)
    for name in CASES for exchange in (True, False)
]


@LONG
@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "plain"])
@pytest.mark.parametrize("name", CASES)
def test_killed_at_any_point(tmp_path: Path, name: str, exchange: bool) -> None:
    case = CASES[name]
    orphan = name.endswith("orphan")
    for at in range(count(tmp_path, case, exchange)):
        for after in (False, True):
            root = tmp_path / f"{at}-{after}"
            tree = build(root, case)
            step = case.step(tree)
            kill(tree, step, at, after, exchange)
            whole(root, orphan=orphan)
            finished(tree, step, root, case)


def whole(root: Path, *, orphan: bool) -> None:
    """What is there is old or new, never a part, never with the other's checksum."""
    found = {k: v for k, v in contents(root).items() if not k.startswith(".reshardctl.")}
    assert found.get("d/f") in (None, OLD, NEW)
    assert {key: found[key] for key in OTHER} == OTHER
    if "d/.f.crc" in found and not orphan:
        assert found["d/.f.crc"] == crc32(found["d/f"])
    assert found.keys() <= {*OTHER, "d/f", "d/.f.crc", "d/e"}


def finished(tree: Tree, step: Step, root: Path, case: Case) -> None:
    """What `--resume` does: clear up, see how the write stands, and write it if it has not landed.
    """
    recover(tree)
    (write,) = step.writes
    now = tree.get([write.key])[write.key]
    stands = write_state(write, now, MOVING)
    assert stands in (WriteState.APPLIED, WriteState.PENDING)
    if stands is WriteState.PENDING:
        again = case.step(tree) if now is not None else step
        assert tree.write(again, "t") is WriteResult.APPLIED
    else:
        assert tree.write(creation("last", text={"S": ""}), "t") is WriteResult.APPLIED
        (root / "last").unlink()
    assert contents(root) == case.after


@pytest.mark.parametrize("code", [
    errno.EIO, pytest.param(errno.ENOSPC, marks=LONG), pytest.param(errno.EROFS, marks=LONG),
], ids=errno.errorcode.get)  # fmt: skip
@pytest.mark.parametrize(("name", "exchange"), EACH)
def test_a_call_that_fails(tmp_path: Path, name: str, exchange: bool, code: int) -> None:
    case = CASES[name]
    for at in range(count(tmp_path, case, exchange)):
        root = tmp_path / str(at)
        tree = build(root, case)
        step = case.step(tree)
        seen = tree.read()

        def act(number: int, done: bool, at: int = at) -> None:
            if number == at and not done:
                raise OSError(code, os.strerror(code))

        ended: object = None
        with watched(act, exchange) as calls:
            try:
                ended = tree.write(step, "t")
            except (Refused, CannotTell) as error:
                ended = error
        said(ended, calls[at], root, case, tree.read() == seen)


def said(ended: object, call: str, root: Path, case: Case, as_before: bool) -> None:
    left, wanted = contents(root), dict(case.after)
    if isinstance(ended, Refused | CannotTell) and not isinstance(ended, AnswerLost):
        kept = dict(case.before)
        assert left in (kept, {k: v for k, v in kept.items() if k != "d/.f.crc"}), call
        assert as_before or "d/.f.crc" not in left
        return
    if ended is WriteResult.CONFLICT:
        pytest.fail(f"{call}: moved, though nobody else wrote")
    if "d/.f.crc" not in left or left["d/.f.crc"] == crc32(OLD):
        wanted.pop("d/.f.crc", None)
        left.pop("d/.f.crc", None)
    temporary = [key for key in left if key.startswith(".reshardctl.")]
    assert {k: v for k, v in left.items() if k not in temporary} == wanted, call
    assert not temporary or call == "unlink"


@pytest.mark.parametrize(("code", "words", "way_out"), [
    (errno.ENOSPC, "the disk is full", "make room, then run this again"),
    (errno.EDQUOT, "the disk quota is used up", "make room, then run this again"),
    (errno.EROFS, "the file system is read-only", "mount it for writing, then run this again"),
    (errno.EIO, "Input/output error", "look at the disk: df "),
])  # fmt: skip
def test_what_the_disk_refuses_is_said_in_words(tmp_path, code, words, way_out):
    tree = build(tmp_path / "d", CASES["create"])

    def act(_number: int, _done: bool) -> None:
        raise OSError(code, os.strerror(code))

    with watched(act, True), pytest.raises(Refused, match=words) as caught:
        tree.write(made(tree), "t")
    assert caught.value.next.startswith(way_out)


def test_a_write_that_lands_in_parts(tmp_path: Path) -> None:
    """write(2) may take fewer bytes than it is given."""
    tree = build(tmp_path / "d", CASES["create"])
    real = os.write
    with mock.patch.object(os, "write", lambda fd, data: real(fd, bytes(data[:7]))):
        assert tree.write(made(tree), "t") is WriteResult.APPLIED
    assert contents(tmp_path / "d") == CASES["create"].after


@pytest.mark.parametrize(("name", "theirs", "exchange"), [
    ("create", b"theirs", True), ("replace", b"theirs", True), ("replace", None, True),
    ("delete", b"theirs", True), ("delete", None, True), ("replace", b"theirs", False), *(
        pytest.param(name, theirs, False, marks=LONG) for name, theirs in (
            ("create", b"theirs"), ("replace", None), ("delete", b"theirs"), ("delete", None),
        )
    ),
])  # fmt: skip
def test_a_change_at_any_moment_is_never_lost(tmp_path, name, theirs, exchange):
    """Another writer, which takes no lock, puts its file in place by rename (as Spark and
    Quickwit do), or deletes the file, before any of our calls."""
    case, rename, unlink = CASES[name], os.rename, os.unlink
    lost = []
    for at in range(count(tmp_path, case, exchange)):
        root = tmp_path / f"r{at}"
        tree = build(root, case)
        step = case.step(tree)

        def act(number: int, done: bool, at: int = at, root: Path = root) -> None:
            if number != at or done:
                return
            if theirs is None:
                with suppress(FileNotFoundError):
                    unlink(root / "d/f")
            else:
                (root.parent / "theirs").write_bytes(theirs)
                (root / "d").mkdir(exist_ok=True)
                rename(root.parent / "theirs", root / "d/f")

        with watched(act, exchange) as calls:
            result = tree.write(step, "t")
        found = contents(root).get("d/f")
        if found != theirs:
            lost.append((calls[at], result))
    if exchange:
        assert lost == []
    else:  # without an exchange, the moment between the last look and the rename stays
        assert {call for call, _ in lost} <= {"replace", "rename"}


def test_an_image_of_nothing_is_none() -> None:
    assert image_of("f", None, None) is None
