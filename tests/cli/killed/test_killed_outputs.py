"""Plans and snapshots, and the journals of a fix, killed at every system call while they are made:
whole or not there, and nothing beside them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.killed.labs import STORES, FileLab
from tests.cli.killed.stores import Kept, contents
from tests.cli.killed.tracing import killed, needs_strace, points
from tests.cli.lab import Result

pytestmark = pytest.mark.long
STORE = "quickwit"


@pytest.fixture
def lab(servers, tmp_path, monkeypatch, wire) -> Iterator[FileLab]:
    needs_strace()
    with STORES[STORE](servers, tmp_path, monkeypatch, wire) as lab:
        yield lab


def plan(lab: FileLab, path: Path) -> Result:
    return lab.dry("--out", path)


def snapshot(lab: FileLab, path: Path) -> Result:
    return lab.cli("snapshot", lab.stream, lab.locator, "-o", path)


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
