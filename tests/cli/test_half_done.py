"""After the first write: whatever happens then is half done, and says how to go on and back."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from tests.cli.lab import TRIM_HORIZON
from tests.cli.process import surroundings
from tests.cli.test_bad_input import kept, several_steps, twofold
from tests.support.case import CASES, load

WRITES = ("TransactWriteItems", "PutItem", "UpdateItem", "DeleteItem")


@pytest.mark.parametrize("operation", ["Scan", "ListShards", "DescribeTable"])
def test_a_fix_that_could_not_be_verified(lab, operation):
    """Written is written: no success is claimed, and nothing is lost."""
    before = lab.items()
    assert lab.fix().code == 0
    last = [name for _, name in lab.wire.calls].count(operation) - 1
    journal = lab.journal()
    assert lab.undo().code == 0
    journal.unlink()
    lab.wire.fail(operation, "ExpiredTokenException", after=last)
    result = lab.fix()
    assert result.code == 5, result.err
    assert result.says("everything was written", "could not be verified")
    journal = lab.journal()
    assert result.says(f"fix --resume {journal}", f"undo {journal}")
    assert kept(lab.items()) != kept(before)
    lab.wire.faults.clear()
    resumed = lab.cli("fix", "--resume", lab.journal(), "--assume-stopped", "--yes")
    assert resumed.code == 0, resumed.err
    assert lab.undo().code == 0
    assert kept(lab.items()) == kept(before)


def test_someone_writes_while_an_undo_is_under_way(lab):
    """The rows are read back: what is not as it was put back is said."""
    assert lab.fix().code == 0
    created = sorted(k for k, v in lab.items().items() if v["leaseCounter"] == {"N": "0"})[0]
    row = lab.items()[created]
    lab.wire.do("Scan", lambda: lab.plant(row), after=2)
    result = lab.undo()
    assert result.code == 5, result.err
    assert result.says("everything was put back, but", "someone else wrote", "reshardctl undo")


def test_a_row_moves_between_two_steps_of_a_fix(lab_of):
    """The first step stays, the second is refused; back goes what is ours, and only that."""
    lab = several_steps(lab_of)
    before = lab.items()
    foreign: list[str] = []

    def meanwhile() -> None:
        key = sorted({"shardId-000000000004", "shardId-000000000005"} - lab.items().keys())[0]
        sample = next(iter(lab.items().values()))
        lab.plant({**sample, "leaseKey": {"S": key}, "checkpoint": {"S": "LATEST"}})
        foreign.append(key)

    for operation in WRITES:
        lab.wire.do(operation, meanwhile, after=1)
    result = lab.fix("--created", lab.created)
    assert result.code == 5, result.err
    assert result.says("1 of 2 steps are in place", "a row changed", "fix --resume", "undo")
    (key,) = foreign
    back = lab.undo()
    left = lab.items()
    assert left[key]["checkpoint"] == {"S": "LATEST"}, "not ours, so it stays"
    if back.code == 0:
        assert kept({k: v for k, v in left.items() if k != key}) == kept(before)
    else:
        assert back.code == 4 and back.says(key)


FULL = ("--format", "json", "--output", "/dev/full")
"""One document, which is written at the end."""


def test_a_report_that_cannot_be_written_after_a_fix_and_an_undo(lab):
    """The rows are written by then: code 2 would say that they are not (docs/exit-codes.md)."""
    before = lab.items()
    result = lab.fix(*FULL)
    assert result.code == 5, result.err
    assert kept(lab.items()) != kept(before)
    journal = lab.journal()
    assert result.says("everything was written", "/dev/full", "No space left", f"undo {journal}")
    assert '"verified"' in journal.read_text()
    result = lab.undo(*FULL)
    assert result.code == 5, result.err
    assert result.says("everything was put back", "/dev/full", f"undo --show {journal}")
    assert kept(lab.items()) == kept(before)


@pytest.mark.parametrize("reader", [
    "is full", pytest.param("has gone", marks=pytest.mark.long),
])  # fmt: skip
def test_stdout_that_takes_no_report_of_a_fix(lab_of, reader):
    """Neither hides what was written, or how it is taken back."""
    case = twofold(load(CASES / "kcl" / "a-both.toml"))
    stream = {**case.stream, "created": int(time.time()) - case.stream["now"]}
    lab = lab_of(replace(case, stream=stream), TRIM_HORIZON)
    if reader == "is full":
        stdout = os.open("/dev/full", os.O_WRONLY)
    else:
        read, stdout = os.pipe()
        os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "reshardctl", "fix", *lab.where, "--yes", "--assume-stopped",
         "--created", lab.created, "--format", "json"],
        env=surroundings(lab), stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120,
    )  # fmt: skip
    os.close(stdout)
    assert done.returncode == 5, done.stderr
    assert "everything was written" in done.stderr, done.stderr
    assert f"undo {lab.journal()}" in done.stderr


@pytest.mark.parametrize("half", ["undo", "fix", "undo by the plan"])
def test_rows_of_a_later_fix_are_its_own(lab_of, tmp_path, half):
    """What an interrupted undo, or fix, left out is written by a later fix: it has to be undone
    first, though its rows are as the first one would have left them."""
    lab = several_steps(lab_of)
    before, plan, agreed = lab.items(), tmp_path / "a.plan", ("--yes", "--assume-stopped")
    assert lab.dry("--out", plan, "--created", lab.created).code == 1
    fix = ("fix", "--plan", plan, "--created", lab.created, *agreed)
    if half != "fix":
        assert lab.cli(*fix).code == 0
    lab.wire.fail("TransactWriteItems", "AccessDeniedException", after=1)
    assert (lab.cli(*fix) if half == "fix" else lab.undo()).code == 5
    lab.wire.faults.clear()
    older = lab.journal()
    lab.fake.clock.advance(60)
    assert lab.fix().code == 0
    (younger,) = set(lab.journals()) - {older}
    fixed = lab.items()
    undo = ("undo", older.stem, *agreed)
    tried = [undo, ("fix", "--resume", older.stem, *agreed)][: 2 if half == "fix" else 1]
    if half == "undo by the plan":
        older.unlink()
        tried = [undo := ("undo", plan, *agreed)]
    for words in tried:
        refused = lab.cli(*words)
        assert refused.code == 4 and refused.says(f"reshardctl undo {younger.stem}"), refused.err
        assert lab.items() == fixed
    assert lab.cli("undo", younger.stem, *agreed).code == 0
    assert lab.cli(*undo).code == 0
    assert kept(lab.items()) == kept(before)
