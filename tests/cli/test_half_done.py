"""After the first write: whatever happens then is half done, and says how to go on and back."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from msgspec import structs

from reshardctl.commands import connect
from reshardctl.journal import Journal, read
from reshardctl.journal.file import FileLog
from reshardctl.model import keys_of
from reshardctl.testing.topology import stream_of
from tests.cli.lab import TRIM_HORIZON, WRITES, Item, Lab
from tests.cli.process import surroundings
from tests.cli.test_bad_input import kept, several_steps, twofold
from tests.cli.test_whose_rows import lease, numbers, topology
from tests.support.case import CASES, load


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
    assert result.says("the rows are written, but not verified")
    journal = lab.journal()
    assert result.says(f"fix --resume {journal}", f"undo {journal}")
    assert kept(lab.items()) != kept(before)
    lab.wire.faults.clear()
    resumed = lab.resume()
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
    assert result.says("the rows are put back, but not verified", "someone else wrote",
                       "reshardctl undo")  # fmt: skip


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
    assert result.says("the rows are written", "/dev/full", "No space left", f"undo {journal}")
    assert '"verified"' in journal.read_text()
    result = lab.undo(*FULL)
    assert result.code == 5, result.err
    assert result.says("the rows are put back", "/dev/full", f"undo --show {journal}")
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
    assert "the rows are written" in done.stderr, done.stderr
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
    if half != "undo by the plan":
        shown = lab.cli("undo", "--show", older.stem, "--format", "text").out
        said = [line.split() for line in shown.splitlines() if line.startswith("  reshardctl")]
        assert [words[1:3] for words in said] == [["undo", younger.stem]]
    for words in tried:
        refused = lab.cli(*words)
        assert refused.code == 4 and refused.says(f"reshardctl undo {younger.stem}"), refused.err
        assert lab.items() == fixed
    assert lab.cli("undo", younger.stem, *agreed).code == 0
    assert lab.cli(*undo).code == 0
    assert kept(lab.items()) == kept(before)


@pytest.mark.parametrize("way", ["resume", "undo", "undo when verified"])
def test_which_fix_came_later_is_told_by_the_rows_not_by_a_clock_that_was_set_back(
    lab, monkeypatch, way
):
    """Its journal has the earlier time of the two (found by chaos: seed 5018)."""
    assert lab.fix().code == 0
    first, last = lab.journal(), [name for _, name in lab.wire.calls].count("Scan") - 1
    key = sorted(keys_of(read(FileLog(first)).header.steps))[0]
    lab.alter(key, checkpoint={"S": "LATEST"}, leaseCounter={"N": "40"})
    damaged = lab.items()
    clock = SimpleNamespace(time=lambda: lab.time() - 7200, sleep=lab.sleep, monotonic=lab.time)
    monkeypatch.setattr(connect, "time", clock)
    agreed = ("--yes", "--assume-stopped", "--accept", "reread=all")
    if way != "undo when verified":
        lab.wire.fail("Scan", "ExpiredTokenException", after=last)
    assert lab.fix("--accept", "reread=all").code == (0 if way == "undo when verified" else 5)
    lab.wire.faults.clear()
    (second,) = set(lab.journals()) - {first}
    assert second.stem < first.stem, "by its name it is the earlier one"
    refused = lab.cli("undo", first.stem, "--yes", "--assume-stopped")
    assert refused.code == 4 and refused.says(f"reshardctl undo {second.stem}"), refused.err
    on = ("fix", "--resume", second.stem) if way == "resume" else ("undo", second.stem)
    done = lab.cli(*on, *(agreed if way == "resume" else agreed[:2]))
    assert done.code == 0, done.err
    if way != "resume":
        assert kept(lab.items()) == kept(damaged)


TELLING = ("inspect --format concise", "inspect --format json", "status --format json",
           "fix --dry-run --format concise", "fix --dry-run --format json")  # fmt: skip
CLOSED = "was interrupted, and another process has written a row of it since"
FOR_PEOPLE = ("inspect", "status", "fix --dry-run")


def interrupted(lab_of, half: str) -> Lab:
    """After the first of several steps of a fix, or of its undo."""
    lab = several_steps(lab_of)
    if half == "undo":
        assert lab.fix("--created", lab.created).code == 0
    lab.wire.fail("TransactWriteItems", "AccessDeniedException", after=1)
    assert (lab.undo() if half == "undo" else lab.fix("--created", lab.created)).code == 5
    lab.wire.faults.clear()
    return lab


def told(lab: Lab, words: str) -> str:
    verb, *more = words.split()
    return " ".join(lab.cli(verb, *lab.where, *more).out.replace("\\\n", " ").split())


@pytest.mark.parametrize("half", ["fix", "undo"])
def test_what_reads_the_rows_tells_of_what_was_interrupted(lab_of, half):
    """Nobody remembers at night what a colleague's terminal has begun."""
    lab = interrupted(lab_of, half)
    name = lab.journal().stem
    back = f"reshardctl undo {name}"
    on = f"reshardctl fix --resume {name} finishes it, and {back} takes it back"
    note = f"was interrupted: {on if half == 'fix' else f'{back} finishes it'}"
    for words in TELLING:
        assert note in told(lab, words), words
    for words in FOR_PEOPLE:
        verb, *dry = words.split()
        shown = lab.cli(verb, *lab.where, *dry, "--format", "text")
        assert shown.commands("undo") == [["undo", name]], "whole, to be copied"
        finishing = [argv for argv in shown.commands("fix") if "--resume" in argv]
        assert finishing == ([["fix", "--resume", name]] if half == "fix" else [])
    more = ("--resume",) if half == "fix" else ()
    lab.fake.clock.advance(60)
    agreed = ("--yes", "--assume-stopped", *(("--created", lab.created) if more else ()))
    assert lab.cli(half, *more, name, *agreed).code == 0
    assert not any("was interrupted" in told(lab, words) for words in TELLING)


@pytest.mark.parametrize("half", ["fix", "undo"])
def test_a_dry_run_puts_what_was_interrupted_before_the_new_fix(lab_of, half):
    lab = interrupted(lab_of, half)
    shown = lab.dry("--format", "text").out.replace("\\\n", " ")
    commands = [shlex.split(line, comments=True) for line in shown.splitlines()
                if line.startswith("  reshardctl")]  # fmt: skip
    name = lab.journal().stem
    before = [["fix", "--resume", name]] if half == "fix" else []
    assert [words[1:] for words in commands[:-1]] == [*before, ["undo", name]]
    assert commands[-1][:3] == ["reshardctl", "fix", lab.locator]
    assert shown.rstrip().endswith("# a new fix in its place")


def test_a_later_fix_has_taken_the_place_of_an_interrupted_one(lab_of):
    """It is planned on the rows as they are; the other can be finished no more."""
    lab = interrupted(lab_of, "fix")
    assert "was interrupted" in told(lab, "inspect")
    lab.fake.clock.advance(60)
    assert lab.fix("--created", lab.created).code == 0
    assert "was interrupted" not in told(lab, "inspect")


@pytest.mark.parametrize("change", ["another table", "another stream", "unreadable", "moved on"])
def test_what_is_not_of_these_rows_is_not_told(lab_of, change):
    lab = interrupted(lab_of, "fix")
    path = lab.journal()
    records = read(FileLog(path))
    header = records.header
    if change == "unreadable":
        path.write_bytes(b"nothing\n")
    elif change == "moved on":
        for key in keys_of(header.steps):
            if key in lab.items():
                lab.alter(key, checkpoint={"S": "LATEST"})
            else:
                lab.plant({"leaseKey": {"S": key}, "checkpoint": {"S": "LATEST"}})
    else:
        path.unlink()
        other = (
            {"identity": {**header.identity, "arn": f"{header.identity['arn']}-2"}}
            if change == "another table" else
            {"stream": {**header.stream, "arn": f"{header.stream['arn']}-2"}}
        )
        with Journal.create(FileLog(path), structs.replace(header, **other)) as journal:
            journal.intend(enumerate(header.steps))
    assert "was interrupted" not in told(lab, "inspect")


def test_a_folder_of_reshardctl_toml_is_looked_at_and_a_running_fix_named(lab_of, tmp_path):
    lab = several_steps(lab_of)
    config = tmp_path / "r.toml"
    config.write_text(
        f'[streams.{lab.stream}]\nregion = "us-east-1"\n\n[consumers.app]\n'
        f'stream = "{lab.stream}"\nlocator = "{lab.locator}"\njournal = "{tmp_path}/kept"\n'
    )
    words = ("app", "--config", config)
    lab.wire.fail("TransactWriteItems", "AccessDeniedException", after=1)
    half = lab.cli("fix", *words, "--yes", "--assume-stopped", "--created", lab.created)
    assert half.code == 5, half.err
    lab.wire.faults.clear()
    (path,) = (tmp_path / "kept").glob("*.jsonl")
    assert f"fix --resume {path}" in lab.cli("inspect", *words).out
    with Journal.open(FileLog(path))[0]:
        running = f"another reshardctl is writing these positions now: journal {path}"
        assert running in lab.cli("inspect", *words).out
        refused = lab.cli("fix", *words, "--yes", "--assume-stopped", "--created", lab.created)
        assert refused.code == 4 and refused.says(running, "nothing was written")


def test_what_is_left_of_an_undo_is_shown_and_its_result_says_what_it_put_back(lab_of):
    lab = interrupted(lab_of, "undo")
    rows, content, writes = lab.items(), lab.journal().read_bytes(), lab.wire.writes
    shown = lab.cli("undo", lab.journal(), "--dry-run", "--format", "text")
    assert shown.code == 1, shown.err
    left = [shard for shard in (2, 3, 4, 5) if f"shardId-00000000000{shard}" in lab.items()]
    assert len(left) == 2
    table = [line.split()[:4] for line in shown.out.splitlines() if line.startswith("-")]
    assert table == [["-", str(shard), "TRIM_HORIZON", "–"] for shard in left]
    assert "Undo: 2 rows to delete." in shown.out
    assert (lab.items(), lab.journal().read_bytes(), lab.wire.writes) == (rows, content, writes)
    done = lab.cli("undo", lab.journal(), "--yes", "--assume-stopped", "--format", "text")
    assert done.code == 0, done.err
    table = [line.split()[:4] for line in done.out.splitlines() if line.startswith("-")]
    assert table == 2 * [["-", str(shard), "TRIM_HORIZON", "–"] for shard in left]
    assert "Undone. 2 rows deleted, and read again." in done.out


def test_rows_that_an_undo_cannot_finish_are_said_by_its_dry_run(lab_of):
    lab = interrupted(lab_of, "undo")
    (key, *_) = [key for key, row in lab.items().items() if row["leaseCounter"] == {"N": "0"}]
    lab.alter(key, checkpoint={"S": "LATEST"})
    for more in (["--dry-run"], ["--yes", "--assume-stopped"]):
        refused = lab.cli("undo", lab.journal(), *more)
        assert refused.code == 5 and refused.says(f"row {key} is neither as before"), refused
    assert f"{CLOSED} reshardctl" not in told(lab, "inspect --format text")
    assert CLOSED in told(lab, "inspect --format text")


def test_an_undo_of_rows_that_are_as_before_has_nothing_to_do(lab):
    """A second undo at the same time, or a backup, has put them back: no way back by hand is told,
    for it would write what the fix wrote."""
    before = lab.items()
    assert lab.fix().code == 0
    lab.restore(before)
    refused = lab.undo()
    assert refused.code == 2 and refused.says("every row is as before the fix"), refused.err
    assert "by hand" not in refused.err and lab.items() == before


def test_rows_alike_are_one_line_of_an_undo(lab_of):
    """As in a plan; a refusal names the first few."""
    lab = lab_of("a-both", TRIM_HORIZON, items=[])
    now = int(lab.fake.clock.now())
    lab.fake.add_stream(stream_of(topology("wide", now - 6 * 3600, 20, now)))
    lab.plant(*(lease(i, "TRIM_HORIZON") for i in range(20)))
    lab.stream = "wide"
    fixed = lab.fix("--policy", "latest-at-start", "--created", lab.created)
    assert fixed.code in (0, 1), fixed.err
    shown = lab.cli("undo", lab.journal(), "--dry-run", "--format", "text")
    lines = [line for line in shown.out.splitlines() if line.startswith("~")]
    assert len(lines) == 1 and lines[0].split()[0] == "~20", shown.out
    every = lab.cli("undo", lab.journal(), "--dry-run", "--format", "text", "-v")
    assert len([line for line in every.out.splitlines() if line.startswith("~")]) == 20
    for key in lab.items():
        lab.alter(key, checkpoint={"S": str(numbers(lab, "wide")[int(key[-2:])])})
    refused = lab.undo()
    assert refused.code == 4
    assert refused.says("shardId-000000000004 and 15 more: checkpoint"), refused.err


def test_a_later_fix_that_left_other_rows_is_named_by_a_resume(lab_of):
    """What was begun cannot go on over its rows, and the later fix has to be undone first."""
    lab = interrupted(lab_of, "fix")
    older = lab.journal()
    before = read(FileLog(older))
    lab.fake.clock.advance(60)
    key = next(w.key for n, s in enumerate(before.fix.current) if n not in before.fix.applied
               for w in s.writes)  # fmt: skip
    accepted = ("--accept", "skip=all,reread=all,disorder")
    done = lab.fix("--created", lab.created, "--policy", "latest", *accepted)
    assert done.code == 0, done.err
    (later,) = set(lab.journals()) - {older}
    assert key in keys_of(read(FileLog(later)).header.steps)
    fixed = lab.items()
    refused = lab.cli("fix", "--resume", older.stem, "--yes", "--assume-stopped")
    assert refused.code == 4 and refused.says(f"reshardctl undo {later.stem}"), refused.err
    assert lab.items() == fixed


def one_of_four(lab_of) -> tuple[Lab, dict[str, Item], list[str]]:
    """A fix of four rows that was stopped after the first, the rows before it, and its order."""
    lab = lab_of("a-both", TRIM_HORIZON, items=[])
    now = int(lab.fake.clock.now())
    lab.fake.add_stream(stream_of(topology("wide", now - 6 * 3600, 4, now)))
    lab.plant(*(lease(i, "TRIM_HORIZON") for i in range(4)))
    lab.stream = "wide"
    first = numbers(lab, "wide")
    before = lab.items()
    for operation in WRITES:
        lab.wire.fail(operation, "AccessDeniedException", after=1, times=99)
    sets = [word for i in range(4) for word in ("--set", f"{i}={first[i]}")]
    half = lab.fix(*sets, "--created", lab.created, "--accept", "skip=all")
    assert half.code == 5 and half.says("1 of 4 steps are in place"), half
    lab.wire.faults.clear()
    steps = read(FileLog(lab.journal())).header.steps
    return lab, before, [key for step in steps for key in keys_of([step])]


def save(lab: Lab, key: str) -> Item:
    """A number that the application stores in a row: the row as it leaves it."""
    number = numbers(lab, "wide")[int(key[-2:])]
    lab.alter(key, checkpoint={"S": str(number + 1)})
    return lab.items()[key]


def test_rows_that_the_fix_had_not_reached_keep_no_undo(lab_of):
    """Steps are written one after another, so the application's save overwrote nothing of the fix.

    `--resume` would overwrite it, and names what can still be done.
    """
    lab, before, (*_, last) = one_of_four(lab_of)
    saved = save(lab, last)
    went = lab.cli("fix", "--resume", lab.journal(), "--yes", "--assume-stopped")
    assert went.code == 5 and went.says(last, "another process wrote")
    assert f"make a new plan: reshardctl fix '{lab.locator}' --stream arn:" in went.err
    assert f"# or back: reshardctl undo {lab.journal()}" in went.err
    assert "fix --resume" not in went.err
    back = lab.undo()
    assert back.code == 0, back
    assert kept(lab.items()) == kept({**before, last: saved})


@pytest.mark.parametrize("reached", [True, False])
def test_no_way_is_named_that_a_save_of_the_application_has_closed(lab_of, reached):
    """Over it no rest of a fix is written; and no undo, if the fix has written that row."""
    lab, _, (first, *_, last) = one_of_four(lab_of)
    save(lab, first if reached else last)
    name = lab.journal().stem
    for words in FOR_PEOPLE:
        verb, *dry = words.split()
        shown = lab.cli(verb, *lab.where, *dry, "--format", "text")
        assert CLOSED in " ".join(shown.out.split()), shown.out
        assert not any("--resume" in argv for argv in shown.commands("fix"))
        assert shown.commands("undo") == ([] if reached else [["undo", name]])
    agreed = ("--yes", "--assume-stopped")
    refused = lab.cli("fix", "--resume", name, *agreed, "--created", lab.created)
    assert refused.code == 5 and refused.says("another process wrote"), refused
    assert lab.cli("undo", name, *agreed).code == (4 if reached else 0)
