"""Kill a piece of work at a chosen system call, by strace: nothing cleans up after it.

The work runs in a fork of this process, so that every import is done; strace is attached before it
begins. `when=N` of strace counts the calls of one name in one process.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

CALLS = (
    "rename", "renameat", "renameat2", "unlink", "unlinkat", "link", "linkat", "fsync",
    "fdatasync", "ftruncate", "mkdir", "rmdir", "openat",
)  # fmt: skip
"""What changes names, or what is said to be on disk. Of openat only what opens for writing."""
_MARK = "getpriority"
"""A call that nothing else makes: its line in the log tells that strace is there."""
_LIMIT = 60.0
_LINE = re.compile(r"(?:\d+ +)?(\w+)\((.*)")
_WRITING = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TMPFILE")

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Point:
    """Just before the `when`th call of this name, counted from 1. on: its arguments, to be shown.
    """

    call: str
    when: int
    on: str = ""

    def __str__(self) -> str:
        return f"{self.call} {self.when}"


def points(work: Work, scratch: Path) -> list[Point]:
    """Where the work can be killed, in order: run once to its end."""
    log = scratch / "strace.log"
    code = _run(work, log, [])
    assert code == 0, f"the work itself failed: {code}"
    return list(_points(log.read_text(errors="replace").splitlines()))


def _points(lines: list[str]) -> Iterator[Point]:
    seen: Counter[str] = Counter()
    for line in lines:
        match = _LINE.match(line)
        if match is None or match[1] not in CALLS:
            continue
        seen[match[1]] += 1
        if match[1] != "openat" or _WRITING.search(line):
            yield Point(match[1], seen[match[1]], match[2][:160])


def killed(work: Work, point: Point, scratch: Path) -> None:
    """Run the work up to that call, where it dies."""
    inject = ["-e", f"inject={point.call}:signal=SIGKILL:when={point.when}"]
    code = _run(work, scratch / "strace.log", inject)
    assert code == -signal.SIGKILL, f"it never came to {point} ({point.on}): ended {code}"


def _run(work: Work, log: Path, more: list[str]) -> int:
    log.write_text("")
    pid = os.fork()
    if pid == 0:  # pragma: no cover - the child
        _child(work, log)
    trace = f"trace={','.join((*CALLS, _MARK))}"
    tracer = subprocess.Popen(
        ["strace", "-f", "-qq", "-y", "-s", "200", "-o", log, "-e", trace, *more, "-p", str(pid)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        _, status = os.waitpid(pid, 0)
        tracer.wait(_LIMIT)
    finally:
        tracer.kill()
        tracer.communicate()
    return os.waitstatus_to_exitcode(status)


def _child(work: Work, log: Path) -> None:  # pragma: no cover - the child
    code = 70
    try:
        until = time.monotonic() + _LIMIT
        while not log.stat().st_size:  # stat is no call that is counted
            os.getpriority(os.PRIO_PROCESS, 0)
            if time.monotonic() > until:
                os._exit(71)
            time.sleep(0.002)
        work()
        code = 0
    finally:
        os._exit(code)
