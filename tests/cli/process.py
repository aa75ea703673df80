"""The command as a process of its own, against the same servers: for signals, pipes, terminals.

Its clock is the real one, so its stream is young: made as of now.
"""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from tests.cli.lab import Lab, Result, environment

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CTRL_C = "\x03"
LIMIT = 120.0
"""Seconds after which a process is taken to hang."""


@dataclass
class Running:
    """A process and what it is waited for."""

    process: subprocess.Popen

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self) -> Result:
        try:
            out, err = self.process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return Result(self.process.returncode, out, err)


def surroundings(lab: Lab, more: Mapping[str, str] | None = None) -> dict[str, str]:
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("AWS_", "PYTHON"))}
    return {**kept, **environment(lab.servers, lab.state), **(more or {})}


def heeding_signals() -> None:
    """In the child: a shell that runs the tests in the background has it ignore Ctrl-C."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def start(lab: Lab, *words: str | Path, **more: str) -> Running:
    """Begin a command; `more` are variables."""
    return Running(subprocess.Popen(
        [sys.executable, "-m", "reshardctl", *map(str, words)], env=surroundings(lab, more),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=heeding_signals,
    ))  # fmt: skip


class Gate:
    """Holds the server up at some call, until the test says go on."""

    def __init__(self) -> None:
        self.reached = Event()
        self.opened = Event()

    def __call__(self) -> None:
        self.reached.set()
        if not self.opened.wait(LIMIT):
            raise TimeoutError("nobody opened the gate")

    def meet(self) -> None:
        """Wait until the command has come so far."""
        assert self.reached.wait(LIMIT), "the command never came so far"


def on_terminal(
    lab: Lab, argv: Sequence[str | Path], answer: str = "", *, columns: int = 100,
    until: Callable[[str], bool] = lambda text: "yes:" in text, **more: str,
) -> tuple[int, str]:
    """Run it at a terminal; type `answer` once `until` holds of what is shown.

    A Ctrl-C is typed every second until it is heeded: one that comes between the prompt and the
    read of the answer is seen by CPython's input() only at the next key.
    """
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover - the child
        heeding_signals()
        env = surroundings(lab, {"COLUMNS": str(columns), "TERM": "xterm", **more})
        command = [sys.executable, "-m", "reshardctl", *map(str, argv)]
        os.execve(sys.executable, command, env)  # noqa: S606
    shown, ends, typed = b"", time.monotonic() + LIMIT, False
    try:
        while time.monotonic() < ends:
            if not select.select([terminal], [], [], 1.0)[0]:
                if typed and answer == CTRL_C:
                    os.write(terminal, answer.encode())
                continue
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
            if answer and not typed and until(shown.decode(errors="replace")):
                os.write(terminal, answer.encode())
                typed = True
        else:
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    finally:
        os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown.decode(errors="replace")

