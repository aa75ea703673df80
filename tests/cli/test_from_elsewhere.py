"""Journals that come from elsewhere: what is in them is shown, judged and asked about first.

A journal is a file, and whoever can hand an operator one could otherwise have anything written.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from reshardctl.execution import plan_file
from reshardctl.execution.plan_file import SavedPlan
from reshardctl.journal import Header, Journal, Records, read
from reshardctl.journal.file import FileLog
from reshardctl.model import Create, Delete, Image, Step, Update, Write
from tests.cli.lab import Lab
from tests.cli.test_bad_input import kept, several_steps

LATEST_IN_A_ROW = {"checkpoint": {"S": "LATEST"}}


@pytest.fixture
def lab(lab_of) -> Lab:
    return several_steps(lab_of)


@pytest.fixture
def begun(lab) -> Records:
    """The journal of a fix that ended between its steps."""
    half_done(lab, lambda: lab.fix("--created", lab.created).code)
    return read(FileLog(lab.journal()))


def half_done(lab: Lab, command: Callable[[], int]) -> None:
    """Let a command write its first step alone."""
    lab.wire.fail_writes("ExpiredTokenException", after=1, times=99)
    assert command() == 5
    lab.wire.faults.clear()


def forged(
    lab: Lab, records: Records, *, plan: Callable[[SavedPlan], SavedPlan] = lambda plan: plan,
    header: Callable[[Header], Header] = lambda header: header,
    intents: Callable[[Step], Step] = lambda step: step, undo: tuple[Step, ...] = (),
) -> Path:
    """A journal whose checksums are all right, with other contents. undo: one that was begun."""
    saved = plan(plan_file.parsed(records.header.notes["saved"], "test"))
    notes = {**records.header.notes, "saved": plan_file.text(saved)}
    told = header(replace(
        records.header, plan=saved.digest, identity=saved.store, locator=saved.locator,
        steps=saved.steps, notes=notes,
    ))
    path = lab.state / "forged.jsonl"
    with Journal.create(path, told) as journal:
        journal.intend([(n, intents(step)) for n, step in enumerate(told.steps[:1])])
        if undo:
            journal.applied(0)
            journal.begin_undo(undo)
            journal.intend(enumerate(undo))
    return path


def refused(lab: Lab, code: int, *argv: str | Path) -> str:
    """The message of a command that must write nothing."""
    before, written = lab.items(), len(lab.wire.writes)
    result = lab.cli(*argv)
    assert result.code == code, result
    assert lab.items() == before and len(lab.wire.writes) == written
    return result.err


@pytest.mark.usefixtures("begun")
def test_what_is_left_of_a_fix_is_shown_and_asked_about(lab):
    argv = ("fix", "--resume", lab.journal(), "--assume-stopped")
    before = lab.items()
    asked = lab.cli(*argv, "--format", "text")
    assert asked.code == 4 and asked.says("there is no terminal to ask at", "--yes")
    assert "Plan: 2 to create" in asked.out and lab.items() == before
    assert lab.cli(*argv, "--yes").code in (0, 1)
    assert lab.items() != before
    assert lab.dry("--format", "json").json["decision"]["kind"] == "nothing"


def test_what_is_left_of_an_undo_is_shown_and_asked_about(lab):
    whole = lab.items()
    assert lab.fix("--created", lab.created).code in (0, 1)
    half_done(lab, lambda: lab.undo().code)
    argv = ("undo", lab.journal(), "--assume-stopped")
    before = lab.items()
    asked = lab.cli(*argv, "--format", "text")
    assert asked.code == 4 and asked.says("there is no terminal to ask at", "--yes")
    assert "to delete." in asked.out and lab.items() == before
    assert kept(before) != kept(whole)
    assert lab.cli(*argv, "--yes").code == 0
    assert kept(lab.items()) == kept(whole)


def test_a_resumed_fix_is_bound_to_what_was_promised(lab, begun):
    path = forged(lab, begun, plan=lambda plan: replace(plan, promised=()))
    said = refused(lab, 4, "fix", "--resume", path, "--yes", "--assume-stopped")
    assert "indicate another release" in said


def test_a_step_says_what_the_plan_says(lab, begun):
    def other(step: Step) -> Step:
        write, *rest = step.writes
        assert isinstance(write.change, Create)
        row = {**write.change.attributes, **LATEST_IN_A_ROW}
        return replace(step, writes=(replace(write, change=Create(row)), *rest))

    path = forged(lab, begun, intents=other)
    argvs: tuple[list[str | Path], ...] = (["fix", "--resume", path], ["undo", path])
    for argv in argvs:
        said = refused(lab, 2, *argv, "--yes", "--assume-stopped")
        assert "would be written differently than the plan in it says" in said


@pytest.mark.parametrize("member", ["identity", "plan", "locator", "stream", "steps"])
def test_the_header_is_of_the_plan_in_it(lab, begun, member):
    other = {
        "identity": {}, "plan": "0" * 64, "locator": "kcl://other", "stream": {"arn": "other"},
        "steps": (),
    }  # fmt: skip
    changed = {"steps": begun.header.steps[::-1]} if member == "steps" else {member: other[member]}
    path = forged(lab, begun, header=lambda header: replace(header, **changed))
    argvs: tuple[list[str | Path], ...] = (
        ["fix", "--resume", path], ["undo", path], ["undo", path, "--dry-run"],
    )
    for argv in argvs:
        more = () if "--dry-run" in argv else ("--yes", "--assume-stopped")
        assert "differ" in refused(lab, 2, *argv, *more)


@pytest.mark.parametrize("store", [{}, {"medium": "dynamodb"}])
def test_an_identity_has_every_member_that_the_store_has(lab, begun, store):
    path = forged(lab, begun, plan=lambda plan: replace(plan, store=store))
    argvs: tuple[list[str | Path], ...] = (["fix", "--resume", path], ["undo", path])
    for argv in argvs:
        said = refused(lab, 2, *argv, "--yes", "--assume-stopped")
        assert "is about another store" in said and "was not known" in said


def test_a_begun_undo_puts_back_only_what_the_fix_overwrote(lab, begun):
    (key, *_) = sorted(lab.items())
    created = begun.header.steps[0].writes[0].change
    assert isinstance(created, Create)
    row = dict(created.attributes)
    image = Image(key, row)
    steps = [
        Write(key, Update(LATEST_IN_A_ROW), image, "x", ("checkpoint",)),
        Write(key, Delete(), image, "x", ("checkpoint",)),
        Write("shardId-000000000099", Create(row), None, "x"),
    ]
    for write in steps:
        path = forged(lab, begun, undo=(Step("undo: x", (write,)),))
        said = refused(lab, 2, "undo", path, "--yes", "--assume-stopped")
        assert f"its undo would write {write.key} as it was not before the fix" in said
        path.unlink()


def test_a_key_is_not_placed_in_another_folder(lab, tmp_path, begun):
    """A checkpoint in a home, so to say: its undo would put a file there, for root, to run as it.

    The identity is what the folder has, as its owner may know it.
    """
    home = tmp_path / "victim" / ".ssh"
    home.mkdir(parents=True)
    content = base64.b64encode(b"a stranger's key\n").decode()
    mode = json.dumps({"mode": "6755", "owner": "0:0"})
    row = {"bytes": {"B": content}, "stored_with": {"S": mode}}
    image = Image("authorized_keys", row)
    fix = Step("x", (Write(image.key, Delete(), image, "x", ("bytes",)),))
    back = Step("undo: x", (Write(image.key, Create(row), None, "x"),))
    known = {"medium": "files", "path": str(home), "inode": str(home.stat().st_ino)}
    for store in ({}, known):
        path = forged(
            lab, begun, undo=(back,),
            plan=partial(replace, locator=f"spark:{home}", store=store, steps=(fix,)),
        )
        for more in ((), ("--yes",)):
            result = lab.cli("undo", path, "--assume-stopped", *more)
            assert result.code in (2, 4), result
            assert list(home.iterdir()) == []
        path.unlink()
