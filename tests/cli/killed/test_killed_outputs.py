"""Plans, snapshots and reports, and the journals of a fix, killed at every system call while they
are made: whole or not there, and nothing beside them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reshardctl.stores.named_file import replace_file
from tests.cli.killed.labs import STORES, FileLab
from tests.cli.killed.stores import Kept, contents
from tests.cli.killed.tracing import killed, points
from tests.cli.lab import Result

pytestmark = [pytest.mark.long, pytest.mark.needs("strace")]
STORE = "quickwit"


@pytest.fixture
def lab(servers, tmp_path, monkeypatch, wire) -> Iterator[FileLab]:
    with STORES[STORE](servers, tmp_path, monkeypatch, wire) as lab:
        yield lab


def plan(lab: FileLab, path: Path) -> Result:
    return lab.dry("--out", path)


def snapshot(lab: FileLab, path: Path) -> Result:
    return lab.cli("snapshot", lab.locator, "--stream", lab.stream, "-o", path)


@pytest.mark.parametrize("make", [plan, snapshot])
def test_an_output_is_whole_or_not_there(lab, tmp_path, make: Callable[[FileLab, Path], Result]):
    folder, scratch = tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    path = folder / "file"

    def work() -> None:
        done = make(lab, path)
        assert path.exists(), done.err

    def clear() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()

    clear()
    before = contents(lab.root)
    work()  # what it imports is there then
    clear()
    found = points(work, scratch)
    whole = path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    wrong = []
    for point in found:
        clear()
        killed(work, point, scratch)
        left = {p.name: p.read_bytes() for p in folder.iterdir()}
        if left not in ({}, {"file": whole}):
            wrong.append(f"{point} {point.on[:90]}: {({n: len(t) for n, t in left.items()})}")
        assert contents(lab.root) == before
    assert found
    assert not wrong, "\n".join(wrong)
    clear()
    work()
    assert path.read_bytes() == whole


OLD, NEW = "old\n", "new line\n" * 20000
LEFT = re.compile(r"\.report\.[0-9a-f]{12}\.new")


@pytest.mark.parametrize("there", ["nothing", "a file", "a link"])
def test_a_report_is_the_old_or_the_new_one_whole(tmp_path, there):
    """What `-o`, `--out`, `--format NAME=FILE` and `--page` write with: a kill leaves at most
    the new file under another name, which the next run removes."""
    folder, scratch = tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    path = folder / "report"
    wrong, named = [], 0

    def prepare() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "elsewhere").mkdir(parents=True)
        target = folder / "elsewhere" / "report" if there == "a link" else path
        if there == "a link":
            path.symlink_to(target)
        if there != "nothing":
            target.write_text(OLD)

    def work() -> None:
        replace_file(path, NEW)

    prepare()
    found = points(work, scratch)
    assert len(found) > 2
    for point in found:
        prepare()
        killed(work, point, scratch)
        kept = path.read_text() if path.exists() else None
        if kept not in ({None, NEW} if there == "nothing" else {OLD, NEW}):
            wrong.append(f"{point} {point.on[:90]}: {kept and len(kept)}")
        others = [p for p in folder.rglob("*") if p.is_file() and p.name != "report"]
        assert len(others) <= 1 and all(LEFT.fullmatch(p.name) for p in others)
        assert all(p.read_text() == NEW for p in others)
        named += len(others)
        work()
        assert path.read_text() == NEW
        assert [p for p in folder.rglob("*") if p.is_file() and p.name != "report"] == []
    assert not wrong, "\n".join(wrong)
    assert named <= (0 if there == "nothing" else 1), "only between two calls has it another name"


def report(lab: FileLab, path: Path) -> Result:
    return lab.cli("inspect", lab.locator, "--stream", lab.stream, "-o", path)


def report_beside(lab: FileLab, path: Path) -> Result:
    return lab.cli("inspect", lab.locator, "--stream", lab.stream, "--format", f"json={path}")


@pytest.mark.parametrize("make", [report, report_beside])
def test_a_command_that_is_killed_leaves_no_half_report(lab, tmp_path, make):
    path, scratch = tmp_path / "report", tmp_path / "scratch"
    scratch.mkdir()

    def work() -> None:
        done = make(lab, path)
        assert path.exists(), done.err

    work()
    whole = path.read_bytes()
    for point in points(work, scratch):
        path.write_bytes(b"old")
        killed(work, point, scratch)
        assert path.read_bytes() in (b"old", whole), point
    work()
    assert path.read_bytes() == whole and list(tmp_path.glob(".report*")) == []


def test_a_journal_without_its_header_is_of_nothing(lab, tmp_path):
    """Killed while the journal is made, nothing is written; its name says so and stays harmless."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    before = contents(lab.root)

    def work() -> None:
        if lab.fix().code:
            raise RuntimeError("it failed")

    clean = Kept.of((lab.root, lab.state), tmp_path / "kept")
    work()  # what it imports is there then
    clean.put_back()
    for point in points(work, scratch):
        clean.put_back()
        killed(work, point, scratch)
        for journal in lab.journals():
            shown = lab.cli("undo", journal, "--dry-run")
            assert shown.code in (0, 1, 2), shown.err
            assert "Traceback" not in shown.err and "defect" not in shown.err
            if contents(lab.root) == before and shown.code == 2:
                assert "nothing was written" in shown.err, shown.err
        listed = lab.cli("undo", "--list")
        assert listed.code == 0, listed.err
