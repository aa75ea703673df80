"""Where a command's results may go: each kind of thing that a name can lead to.

The kinds are those of open(2) and stat(2); what is expected of each is what a shell's own `>` does,
but for regular files, which are replaced whole.
"""

from __future__ import annotations

import fcntl
import os
import stat
import threading
from pathlib import Path

import pytest

from reshardctl.errors import UsageError
from reshardctl.stores.given_file import content
from reshardctl.stores.named_file import check_file, check_new_file, replace_file, text_of
from reshardctl.stores.new_file import save_new

TEXT = "a report, ü\n"


def put(path: Path) -> None:
    check_file(path)
    replace_file(path, TEXT)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path, mask):
    before = os.umask(mask)
    try:
        put(tmp_path / "report")
    finally:
        os.umask(before)
    assert mode(tmp_path / "report") == 0o666 & ~mask
    assert (tmp_path / "report").read_text(encoding="utf-8") == TEXT


@pytest.mark.parametrize("was", [0o600, 0o644, 0o664, 0o640])
def test_a_file_that_is_there_keeps_its_mode(tmp_path, was):
    path = tmp_path / "report"
    path.write_text("older and longer than what comes" * 9)
    path.chmod(was)
    put(path)
    assert (path.read_text(encoding="utf-8"), mode(path)) == (TEXT, was)
    assert [each.name for each in tmp_path.iterdir()] == ["report"], "nothing else is left"


@pytest.mark.parametrize("there", [True, False], ids=["there", "dangling"])
def test_a_link_is_followed_and_stays_a_link(tmp_path, there):
    (tmp_path / "real").mkdir()
    link, target = tmp_path / "link", tmp_path / "real" / "report"
    if there:
        target.write_text("older")
    link.symlink_to(target)
    put(link)
    assert link.is_symlink() and target.read_text(encoding="utf-8") == TEXT


def test_a_device_is_written_to_and_stays_a_device():
    """As root a replacement would put a file in the place of /dev/null for the whole machine."""
    before = Path("/dev/null").stat()
    put(Path("/dev/null"))
    after = Path("/dev/null").stat()
    assert stat.S_ISCHR(after.st_mode) and before.st_ino == after.st_ino


def test_a_full_device_is_an_error():
    with pytest.raises(UsageError, match="/dev/full: No space left on device"):
        replace_file(Path("/dev/full"), TEXT)


def test_a_pipe_with_a_name_is_written_to(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_text(encoding="utf-8")))
    reader.start()
    put(path)
    reader.join(30)
    assert read == [TEXT] and stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
def test_an_open_descriptor_is_written_to(tmp_path, folder):
    """Also one of a regular file: who opened it reads on from where it was written."""
    with (tmp_path / "opened").open("w+") as file:
        file.write("before ")
        file.flush()
        put(Path(f"{folder}/{file.fileno()}"))
        assert (tmp_path / "opened").read_text(encoding="utf-8") == f"before {TEXT}"
        file.write("after")
    assert (tmp_path / "opened").read_text(encoding="utf-8") == f"before {TEXT}after"


def test_a_link_to_an_open_descriptor_is_written_through(tmp_path):
    """Whoever opened it would be left with the older file."""
    reader, writer = os.pipe()
    first, second = tmp_path / "first", tmp_path / "second"
    second.symlink_to(f"/dev/fd/{writer}")
    first.symlink_to("second")
    put(first)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as file:
        assert file.read() == TEXT
    assert first.is_symlink() and second.is_symlink()


def test_links_in_a_circle_end(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UsageError):
        put(tmp_path / "a")


def test_a_descriptor_that_is_not_open_is_named():
    with pytest.raises(UsageError, match="/dev/fd/987"):
        put(Path("/dev/fd/987"))


@pytest.mark.parametrize(
    ("name", "why"), [("", "is a directory"), ("none/report", "No such file or directory")]
)
def test_what_cannot_be_a_file_is_said_before_anything_is_done(tmp_path, name, why):
    with pytest.raises(UsageError, match=why):
        check_file(tmp_path / name)


def test_a_write_that_fails_leaves_the_older_file(tmp_path, monkeypatch):
    path = tmp_path / "report"
    path.write_text("older")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(UsageError, match="No space left"):
        put(path)
    assert path.read_text() == "older" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("there", [False, True], ids=["new", "replaced"])
def test_a_system_without_unnamed_files(tmp_path, monkeypatch, there):
    """O_TMPFILE is Linux's own, and not every file system's (open(2))."""
    monkeypatch.delattr(os, "O_TMPFILE")
    path = tmp_path / "report"
    if there:
        path.write_text("older")
        path.chmod(0o640)
    replace_file(path, TEXT)
    assert path.read_text(encoding="utf-8") == TEXT
    assert mode(path) == (0o640 if there else 0o666 & ~os.umask(os.umask(0o022)))
    assert list(tmp_path.iterdir()) == [path]


def test_a_plan_on_a_system_without_unnamed_files_is_never_put_over_another(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE")
    path = tmp_path / "a.plan"
    save_new(path, [TEXT], "no plan was saved", "--out")
    assert (path.read_text(encoding="utf-8"), mode(path)) == (TEXT, 0o600)
    with pytest.raises(UsageError, match=r"a\.plan exists already; no plan was saved"):
        save_new(path, ["other"], "no plan was saved", "--out")
    assert path.read_text(encoding="utf-8") == TEXT and list(tmp_path.iterdir()) == [path]


def test_what_a_killed_process_left_goes_with_the_next_write(tmp_path):
    """And not what a process that lives is writing: that one holds its lock."""
    dead, alive = (tmp_path / f".report.{name}.new" for name in ("dead", "alive"))
    dead.write_text("half")
    with alive.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        put(tmp_path / "report")
        assert alive.exists() and not dead.exists()


def test_standard_output_is_written_to(capfd):
    put(Path("/dev/stdout"))
    assert capfd.readouterr().out == TEXT


def test_a_name_that_cannot_be_looked_at_has_no_text():
    assert text_of(Path("x" * 300)) == ""


def test_a_pipe_is_read_once_and_known_ever_after(tmp_path):
    """As bash's `<(…)` is: a command may look at a file more than once."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(TEXT,))
    writer.start()
    assert content(path, "") == TEXT.encode()
    writer.join()
    assert content(path, "") == TEXT.encode()


def test_a_dash_is_no_file_and_says_what_is():
    with pytest.raises(UsageError, match="-: No such file") as read:
        content(Path("-"), "")
    assert read.value.next == "for standard input: /dev/stdin"
    with pytest.raises(UsageError, match="--out - names no file") as written:
        check_new_file(Path("-"), "--out")
    assert written.value.next == "for standard output: --out /dev/stdout"
