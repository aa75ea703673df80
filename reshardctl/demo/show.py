"""Runs the demo's commands, as an operator types them, and shows their output.

Each command has its expected exit code.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from threading import Timer

from msgspec import Struct

from reshardctl.console.output import PIPED_WIDTH, columns
from reshardctl.console.output import show as told
from reshardctl.demo.servers import JOURNAL, STREAM, TABLE, Endpoints, child_environment, seeded
from reshardctl.errors import CannotTell
from reshardctl.exit import Exit

PLAN = "orders.plan"
STOPPED = "--assume-stopped"
"""No consumer reads the demo's table, so it need not be watched for half a minute."""


class Command(Struct, frozen=True):
    """A question, the words after `reshardctl`, the exit code, and a word of the answer."""

    question: str
    words: tuple[str, ...]
    code: Exit
    says: str = ""

    @property
    def line(self) -> str:
        """The command as it is typed."""
        return shlex.join(("reshardctl", *self.words))


def commands() -> Iterator[Command]:
    """The commands in order."""
    inspect = ("inspect", f"kcl://{TABLE}", "--stream", STREAM, "--format", "text")
    yield Command("Is anything wrong?", inspect, Exit.FINDINGS, "RSH203")
    yield Command(
        "What would make it right? Nothing is written yet.",
        ("fix", f"kcl://{TABLE}", "--stream", STREAM, "--dry-run", "--out", PLAN,
         "--format", "text"),
        Exit.FINDINGS, PLAN,
    )  # fmt: skip
    yield Command(
        "Do exactly that. Nothing reads this table, so fix need not watch it first.",
        ("fix", "--plan", PLAN, STOPPED, "--yes", "--journal", JOURNAL, "--format", "text"),
        Exit.OK, shlex.join(("reshardctl", "undo", JOURNAL)),
    )  # fmt: skip
    yield Command("Is anything wrong now?", inspect, Exit.OK)
    yield Command(
        "And what would take it back?",
        ("undo", JOURNAL, "--dry-run", "--format", "text"), Exit.FINDINGS,
    )  # fmt: skip


SECONDS = 120.0
"""Seconds after which a command is assumed to hang."""

_STORY = (
    "A Kinesis stream, orders, and a KCL application's lease table, orders-reader, on two servers "
    "that this command has started on 127.0.0.1. KCL 3.5.1 itself wrote the rows: shard 0 was "
    "split into 2 and 3, then 2 into 4 and 5, and it has read 0 and 2 to their ends. The leases of "
    "4 and 5 were lost before a record of them was read, and while it was down, 1 and 3 were "
    "merged into 6."
)


def show(now: float) -> None:
    """Starts the servers as of `now` (Unix seconds), runs every command, and reports the outcome.

    Raises CannotTell at the first command that does not end as it should.
    """
    parent = dict(os.environ)
    with seeded(now) as endpoints, tempfile.TemporaryDirectory(prefix="reshardctl-demo-") as name:
        told([*wrap(_STORY, columns() or PIPED_WIDTH), ""])
        folder = Path(name)
        surroundings = _surroundings(parent, endpoints)
        for command in commands():
            print(f"# {command.question}\n$ {command.line}", flush=True)
            code, text = _run(command, folder, surroundings)
            print(f"# exit {code}\n", flush=True)
            _check(command, code, text)
    told([
        "The demo went as it should, and its servers are gone. To type all that yourself:",
        "  reshardctl demo --serve",
    ])


def _surroundings(parent: Mapping[str, str], endpoints: Endpoints) -> dict[str, str]:
    """The environment of the commands: they write to a pipe with a terminal behind it."""
    wanted = {
        "PYTHONIOENCODING": _encoding(),
        "PYTHONUNBUFFERED": "1",
    }
    if sys.stdout.isatty():
        wanted |= {"FORCE_COLOR": "1", "COLUMNS": str(get_terminal_size().columns)}
    return child_environment(parent, endpoints) | wanted


def _run(command: Command, folder: Path, surroundings: Mapping[str, str]) -> tuple[int, str]:
    """Runs a command, passes on its output, and returns its exit code and its output."""
    process = subprocess.Popen(  # noqa: S603 - our own words
        [sys.executable, "-m", "reshardctl", *command.words],
        cwd=folder, env=surroundings, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding=_encoding(),
        errors="replace",
    )  # fmt: skip
    assert process.stdout is not None
    limit = Timer(SECONDS, process.kill)
    limit.start()
    lines = []
    try:
        for line in process.stdout:
            lines.append(line)
            print(line, end="", flush=True)
        return process.wait(), "".join(lines)
    finally:
        limit.cancel()
        process.kill()
        process.wait()
        process.stdout.close()


def _check(command: Command, code: int, text: str) -> None:
    if code != command.code:
        raise CannotTell(
            f"the demo went wrong: {command.line} ended with {code}, not with {command.code:d}"
        )
    if command.says not in text:
        raise CannotTell(f"the demo went wrong: {command.line} does not speak of {command.says}")


def _encoding() -> str:
    return sys.stdout.encoding or "utf-8"
