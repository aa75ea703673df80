"""`fix`, `--resume` and `undo` on file stores, killed at every system call that changes a name or
a file; then undone, resumed, or started as it is.

After an undo every byte, mode and file is as before, checksums too; after a resume as after the
whole fix. No temporary file stays behind either way.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator

import pytest

from tests.cli.killed.labs import STORES, WORDS, Trial
from tests.cli.killed.stores import Kept, temporary
from tests.cli.killed.tracing import Point, Work, killed, points

SMALL = "quickwit"
pytestmark = pytest.mark.needs("strace")
LONG = pytest.mark.long
Files = dict[str, tuple[bytes, int]]
stores = pytest.mark.parametrize("trial", sorted(STORES), indirect=True)


@pytest.fixture
def trial(request, servers, tmp_path, monkeypatch, wire) -> Iterator[Trial]:
    with STORES[request.param](servers, tmp_path, monkeypatch, wire) as lab:
        yield Trial(lab, tmp_path / "kept", WORDS.get(request.param, ()))


@LONG
@stores
def test_a_killed_fix(trial):
    _every_point(trial, trial.clean, trial.fix, (undone, resumed, started))


@LONG
@stores
def test_a_killed_undo(trial):
    _every_point(trial, trial.whole, trial.undo, (undone, started))


@LONG
@stores
def test_a_killed_resume(trial):
    """Of a fix that died before its first name was changed, and before its last."""
    changes = [p for p in _points(trial, trial.clean, trial.fix) if p.call.startswith("rename")]
    for first in dict.fromkeys((changes[0], changes[-1])):
        trial.clean.put_back()
        killed(trial.fix, first, trial.scratch)
        half = trial.keep("half")
        _every_point(trial, half, trial.resume, (undone, resumed, started))


@pytest.mark.parametrize("trial", [SMALL], indirect=True)
def test_a_killed_fix_in_short(trial):
    """At the calls that change a name in the store alone; the long tests have every call."""
    root = str(trial.lab.root)
    found = [p for p in _points(trial, trial.clean, trial.fix) if root in p.on]
    assert {p.call for p in found} >= {"openat"}
    _at(trial, trial.clean, trial.fix, found, (undone, resumed, started))


@stores
def test_a_resume_of_what_is_in_place_but_not_recorded(trial):
    """Killed behind the last change of the store: it is in place, and the journal tells nothing."""
    assert trial.fix() == 0
    (journal,) = trial.lab.journals()
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    begun = max(n for n, line in enumerate(lines) if json.loads(line)["kind"] == "intent")
    journal.write_text("".join(lines[: begun + 1]), encoding="utf-8")
    resumed = trial.lab.resume()
    assert resumed.code == 0, resumed.err
    assert _differences(trial.after, trial.files()) == []


Then = Callable[[Trial], list[str]]


def _points(trial: Trial, start: Kept, work: Work) -> list[Point]:
    start.put_back()
    return points(lambda: _succeeds(work), trial.scratch)


def _succeeds(work: Work) -> None:
    code = work()
    if code:
        raise RuntimeError(f"it ended {code}")


def _every_point(trial: Trial, start: Kept, work: Work, then: tuple[Then, ...]) -> None:
    _at(trial, start, work, _points(trial, start, work), then)


def _at(
    trial: Trial, start: Kept, work: Work, found: list[Point], then: tuple[Then, ...]
) -> None:
    """Each state that a kill can leave is judged once."""
    wrong, seen = [], set()
    for point in found:
        start.put_back()
        killed(work, point, trial.scratch)
        state = (str(trial.files()), str([p.read_bytes() for p in trial.lab.journals()]))
        if state in seen:
            continue
        seen.add(state)
        left = trial.keep("left")
        for judge in then:
            left.put_back()
            wrong += [f"{judge.__name__} after {point} ({point.on[:90]}): {what}"
                      for what in judge(trial)]
    assert found and len(seen) > 1, "it was not killed anywhere"
    assert not wrong, "\n".join(wrong)


def undone(trial: Trial) -> list[str]:
    """Undone where there is a journal; where there is none, nothing was written."""
    said = ""
    if trial.lab.journals():
        done = trial.lab.undo()
        said = f"undo ended {done.code}: {done.err.strip()[:200]}"
    return [f"{said}; {one}" for one in _differences(trial.before, trial.files())]


def resumed(trial: Trial) -> list[str]:
    """Resumed where something was begun, else fixed anew."""
    said = "no journal"
    if trial.lab.journals():
        done = trial.lab.resume()
        said = f"resume ended {done.code}: {done.err.strip()[:200]}"
        if done.code not in (0, 2):
            return [said]
    if trial.files() != trial.after:
        done = trial.lab.fix(*trial.words)
        said += f"; fix ended {done.code}: {done.err.strip()[:200]}"
    return [f"{said}; {one}" for one in _differences(trial.after, trial.files())]


def started(trial: Trial) -> list[str]:
    """As it is: every file old or new, no checksum of another content or alone, and readable."""
    found = []
    files = {k: v for k, v in trial.files().items() if k not in temporary(trial.files())}
    for key, (content, _) in files.items():
        known = {side[key][0] for side in (trial.before, trial.after) if key in side}
        if content not in known:
            found.append(f"{key} is neither as before nor as after")
    found += _checksums(files)
    seen = trial.lab.inspect("--format", "json")
    if seen.code not in (0, 1):
        found.append(f"inspect ended {seen.code}: {seen.err.strip()[:200]}")
    return found


def _checksums(files: Files) -> Iterator[str]:
    """Hadoop's: a header, the bytes per sum, a CRC-32 of every 512 bytes."""
    for key, (content, _) in files.items():
        folder, _, name = key.rpartition("/")
        if not name.startswith(".") or not name.endswith(".crc"):
            continue
        own = f"{folder}/{name[1:-4]}".lstrip("/")
        if own not in files:
            yield f"{key} lies alone"
            continue
        whole = files[own][0]
        sums = b"".join(
            zlib.crc32(whole[at:at + 512]).to_bytes(4, "big") for at in range(0, len(whole), 512)
        )
        if content != b"crc\0" + (512).to_bytes(4, "big") + sums:
            yield f"{key} is of another content"


def _differences(wanted: Files, found: Files) -> list[str]:
    return [
        f"{key} is {'there' if key not in wanted else 'gone' if key not in found else 'changed'}"
        for key in sorted(wanted.keys() | found.keys()) if wanted.get(key) != found.get(key)
    ]
