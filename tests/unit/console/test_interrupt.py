"""Signals that come once rows are written: the outcome is said, and the exit code is its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.covering import in_turn
from tests.support.terminal import written_to

END = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
from reshardctl.cli.terminal import Terminal
from reshardctl.console.failures import guarded
from reshardctl.errors import HalfDone

def fix():
    with Terminal() as terminal:
        terminal.writing()
        os.kill(os.getpid(), {number})
        if {failed}:
            raise HalfDone("one of two", "resume it")
    os.kill(os.getpid(), {number})

sys.exit(guarded(fix, lambda _error: os.kill(os.getpid(), {number})))
"""


@pytest.mark.parametrize(("number", "outcome"), in_turn(
    ["signal.SIGINT", "signal.SIGTERM", "signal.SIGHUP"],
    [(True, 5, "half done: one of two\n  resume it\n"), (False, 0, "")], every=2,
))  # fmt: skip
def test_a_second_one_hides_no_outcome(number, outcome):
    failed, code, said = outcome
    source = END.format(number=number, failed=failed)
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (code, said)


def test_a_terminal_is_told_once_that_the_signal_was_seen():
    source = END.format(number="signal.SIGINT", failed=False)
    ours, theirs = os.openpty()
    done = subprocess.Popen([sys.executable, "-c", source], stderr=theirs)
    assert done.wait(60) == 0
    said = written_to(ours, theirs)
    assert said.count("stopping as soon as the write in hand is answered") == 1


def test_one_that_came_within_an_exec_does_not_end_the_process_by_a_signal(tmp_path):
    """As dataclasses make their methods, at the import of most modules."""
    (tmp_path / "ended.py").write_text("""
import sys
from reshardctl.console.interrupt import ignore_signals

try:
    exec("raise KeyboardInterrupt")
except KeyboardInterrupt:
    pass
ignore_signals()
sys.exit(130)
""")
    done = subprocess.run([sys.executable, "-m", "ended"], cwd=tmp_path, timeout=60, check=False)
    assert done.returncode == 130
