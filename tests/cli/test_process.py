"""Signals, pipes and terminals: the command as the operator's shell runs it."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time as clock
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace

import pytest

from reshardctl.cli import app
from reshardctl.testing.faults import Proceed
from tests.cli.lab import TRIM_HORIZON, Lab, Result, bare
from tests.cli.process import (
    SIGNALS,
    Gate,
    heeding_signals,
    on_terminal,
    start,
    surroundings,
)
from tests.cli.test_bad_input import kept, twofold
from tests.support.case import CASES, load

pytestmark = pytest.mark.slow

long = pytest.mark.long
every_signal = pytest.mark.parametrize("number", [
    pytest.param(number, marks=() if number == signal.SIGTERM else long) for number in SIGNALS
], ids=lambda number: number.name)  # fmt: skip
"""They are taken alike: one of them is enough for every turn."""
by_sigterm = pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=long), signal.SIGTERM], ids=["SIGINT", "SIGTERM"]
)


@pytest.fixture
def lab(lab_of) -> Lab:
    """Two families to mend in two steps, on a stream made half an hour ago."""
    case = twofold(load(CASES / "kcl" / "a-both.toml"))
    stream = {**case.stream, "created": int(clock.time()) - case.stream["now"]}
    return lab_of(replace(case, stream=stream), TRIM_HORIZON)


def fix_words(lab: Lab) -> list[str]:
    return ["fix", *lab.where, "--yes", "--created", lab.created]


def gate_listing(lab: Lab, after: int = 0) -> Gate:
    gate = Gate()

    def hold(request, proceed: Proceed):
        gate()
        return proceed(request)

    lab.fake.faults.add("ListShards", hold, after=after)
    return gate


FIX, CANCELLED = ("fix", "--assume-stopped"), "cancelled; this command wrote nothing\n"
MOMENTS: dict[str, tuple[tuple[str, ...], int, int, str]] = {
    # the command, listings of the stream before the signal, exit code, what is said
    "before the first write": (FIX, 0, 130, CANCELLED),
    "while it reads": (("explain", "0"), 0, 130, CANCELLED),
    "during the watch": (("fix", "--watch", "1h"), 0, 130, "cancelled"),
    "while it proves its plan again": (FIX, 1, 130, "nothing was written"),
    "while it looks whether it held": (FIX, 2, 0, ""),
}
AT_EVERY_TURN = {
    "before the first write": signal.SIGHUP, "during the watch": signal.SIGINT,
    "while it proves its plan again": signal.SIGTERM,
    "while it looks whether it held": signal.SIGINT,
}


@pytest.mark.parametrize(("moment", "number"), [
    pytest.param(
        moment, number, id=f"{moment}-{number.name}",
        marks=() if AT_EVERY_TURN.get(moment) == number else long,
    ) for moment in MOMENTS for number in SIGNALS
])  # fmt: skip
def test_a_signal(lab, moment, number):
    """Before the first write no row and no journal is left; behind the last it changes nothing."""
    (verb, *more), after, code, said = MOMENTS[moment]
    lab.alter("shardId-000000000000", leaseOwner={"S": "w1"})
    before = lab.items()
    gate = gate_listing(lab, after)
    words = fix_words(lab) if verb == "fix" else [verb, *lab.where]
    running = start(lab, *words, *more)
    gate.meet()
    if "--watch" in more:
        gate.opened.set()
    running.signal(number)
    gate.opened.set()
    result = running.end()
    assert result.code == code and said in result.err, result.err
    if code == 0:
        assert '"verified"' in lab.journal().read_text()
        return
    assert lab.items() == before and lab.journals() == []
    assert result.err == CANCELLED or said != CANCELLED
    assert verb == "fix" or result.out == ""


STOPPED_BETWEEN = """
import os, signal, sys
from reshardctl.stores.dynamodb import store
real, done = store.write, []
def write(*args, **more):
    landed = real(*args, **more)
    done.append(landed)
    if len(done) == 1:
        os.kill(os.getpid(), {number})
        if {number} == signal.SIGKILL:
            signal.pause()
    return landed
store.write = write
from reshardctl.cli import main
sys.argv[1:] = {words!r}
main()
"""


def stopped_between(lab: Lab, number: int, *argv: str):
    """A signal comes just as the first write has landed."""
    code = STOPPED_BETWEEN.format(number=int(number), words=[str(word) for word in argv])
    return subprocess.run(
        [sys.executable, "-c", code], env=surroundings(lab), capture_output=True, text=True,
        timeout=120, stdin=subprocess.DEVNULL, preexec_fn=heeding_signals,
    )  # fmt: skip


@pytest.mark.parametrize(("number", "way"), [
    (signal.SIGTERM, "undo"), (signal.SIGKILL, "resume"),
    pytest.param(signal.SIGINT, "resume", marks=long),
    pytest.param(signal.SIGHUP, "resume", marks=long),
    pytest.param(signal.SIGINT, "undo", marks=long),
    pytest.param(signal.SIGTERM, "resume", marks=long),
    pytest.param(signal.SIGKILL, "undo", marks=long),
])  # fmt: skip
def test_stopped_between_two_writes(lab, number, way):
    """The step in hand is finished, the journal and both ways out are named, and both work."""
    before = lab.items()
    done = stopped_between(lab, number, *fix_words(lab), "--assume-stopped")
    changed = {k for k, v in lab.items().items() if before.get(k) != v}
    assert changed, "the step in hand was finished"
    journal = lab.journal()
    if number == signal.SIGKILL:
        assert done.returncode == -signal.SIGKILL
    else:
        assert done.returncode == 5, done.stderr
        for words in ("1 of 2 steps are in place", f"fix --resume {journal}", f"undo {journal}"):
            assert words in done.stderr
    if way == "resume":
        resumed = lab.cli("fix", "--resume", journal, "--assume-stopped", "--yes")
        assert resumed.code == 0, resumed.err
        assert {k for k, v in lab.items().items() if before.get(k) != v} > changed
        again = lab.cli("fix", "--resume", journal, "--assume-stopped", "--yes")
        assert again.code == 2 and again.says("finished and verified")
    undone = lab.undo()
    assert undone.code == 0, undone.err
    assert kept(lab.items()) == kept(before)


@by_sigterm
def test_an_undo_that_was_stopped_goes_on(lab, number):
    before = lab.items()
    assert lab.cli(*fix_words(lab), "--assume-stopped").code == 0
    done = stopped_between(lab, number, "undo", str(lab.journal()), "--yes", "--assume-stopped")
    assert done.returncode == 5, done.stderr
    assert "--resume" not in done.stderr and f"undo {lab.journal()}" in done.stderr
    refused = lab.resume()
    assert refused.code == 2 and refused.says("undo was begun")
    assert lab.undo().code == 0
    assert kept(lab.items()) == kept(before)


@pytest.mark.parametrize("words", [
    ["inspect", "--format", "text"], pytest.param(["rule"], marks=long),
    pytest.param(["inspect", "--format", "json"], marks=long),
    pytest.param(["explain", "0"], marks=long),
], ids=" ".join)  # fmt: skip
def test_a_closed_pipe(lab, words):
    """`| head -0`: no traceback, and a status that is no success."""
    where = [] if words == ["rule"] else lab.where
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "reshardctl", words[0], *where, *words[1:]],
        env=surroundings(lab), stdout=write, stderr=subprocess.PIPE, text=True, timeout=120,
    )  # fmt: skip
    os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""


def no_utf_8(lab: Lab, words: list[str], encoding: str) -> Result:
    """A command of this process whose stdout has another encoding."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding=encoding), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = app.run([words[0], *lab.where, *words[1:]])
        out.flush()
    return Result(int(code), out.buffer.getvalue().decode(encoding), err.getvalue())


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("words", [["inspect", "--format", "text", "-v"], ["explain", "0"],
                                   ["fix", "--dry-run", "--format", "text"]],
                         ids=lambda w: w[0])  # fmt: skip
def test_no_utf_8(lab, words, encoding):
    result = no_utf_8(lab, words, encoding)
    assert result.code in (0, 1), result.err
    assert result.out and result.out.isascii() and result.err == ""


@pytest.mark.parametrize("encoding", ["ascii", pytest.param("latin-1", marks=long)])
def test_no_utf_8_from_the_start(lab, encoding):
    running = start(lab, "rule", "RSH203", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    result = running.end()
    assert result.code == 0, result.err
    assert result.out.isascii() and result.err == ""


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_a_narrow_terminal(lab, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    lab.terminal = True
    shown = lab.dry()
    assert shown.code == 1
    lines = [bare(line) for line in shown.out.splitlines()]
    commands = ("reshardctl fix", "aws kinesis", lab.table.name)  # never broken inside a word
    free = [line for line in lines if not any(command in line for command in commands)]
    assert max(map(len, free)) <= columns, max(free, key=len)
    assert columns > 60 or max(map(len, free)) > columns - 15, "it is no narrower than it has to be"


def test_colours_and_their_absence(lab, monkeypatch):
    assert "\x1b[" in on_terminal(lab, ["inspect", *lab.where])[1]
    piped = lab.typed("inspect", *lab.where)
    assert "\x1b" not in piped.out and "\x1b" not in piped.err
    forced = lab.typed("inspect", *lab.where, "--color", "always", "--format", "text")
    assert "\x1b[" in forced.out
    lab.terminal = True
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in lab.inspect().out
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            shown = lab.inspect()
            assert shown.out and "\x1b[" not in shown.out


@pytest.mark.parametrize(("answer", "code"), [
    ("yes\n", 0), ("\x03", 130), pytest.param("y\n", 4, marks=long),
    pytest.param("\n", 4, marks=long), pytest.param("\x04", 4, marks=long),
])  # fmt: skip
def test_asked_at_a_terminal(lab, answer, code):
    before = lab.items()
    argv = ["fix", *lab.where, "--created", lab.created, "--assume-stopped"]
    got, shown = on_terminal(lab, argv, answer)
    assert got == code, shown
    assert (lab.items() != before) == (code == 0)
    assert "Traceback" not in shown
