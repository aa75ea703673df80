"""Tests write into folders of their own only: below the system's folder for temporary files, and
where pytest, its plugins and the builds of real libraries keep what they make.

Python tells of every file that it opens, makes, moves or removes (sys.addaudithook; the events are
in the documentation of each function). What child processes write is not seen: they are given a
HOME of the tests, and .ci/run looks whether the checkout is as it was.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
KEPT = ("__pycache__", ".pytest_cache", ".hypothesis", "target", "node_modules")
"""Folders of a checkout that git ignores."""
RECORD_STARTS, WRITE_TRANSCRIPTS = "RESHARDCTL_RECORD_STARTS", "RESHARDCTL_WRITE_TRANSCRIPTS"
ASKED = {RECORD_STARTS: "tests/proof/libraries/recorded", WRITE_TRANSCRIPTS: "docs"}
"""Folders of the checkout that a run is asked to write into, by the variable that asks for it."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGED = {
    "os.chmod": ((0, 2),), "os.chown": ((0, 3),), "os.link": ((1, 3),), "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),), "os.rename": ((0, 2), (1, 3)), "os.rmdir": ((0, 1),),
    "os.symlink": ((1, 2),), "os.truncate": ((0, None),), "os.utime": ((0, 3),),
}  # fmt: skip
"""Events: which of their arguments are paths that are changed, and which the descriptors of the
folders that these are relative to (-1 for none)."""


def roots() -> tuple[str, ...]:
    """Where writing is allowed, whoever does it."""
    asked = [str(CHECKOUT / folder) for name, folder in ASKED.items() if os.environ.get(name)]
    places = [tempfile.gettempdir(), "/dev", "/proc", sysconfig.get_paths()["purelib"], *asked]
    return tuple({os.path.realpath(place) for place in places} | {*places})


def in_memory() -> str | None:
    """A folder for files that no disk has to see, where the machine has one."""
    return "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108, PTH112


def changed(event: str, arguments: tuple[Any, ...]) -> list[str]:
    """The paths that an audit event is about to change; none for a file that is only read."""
    if event == "open":
        path, _mode, flags = arguments
        return [_text(path)] if isinstance(flags, int) and flags & _WRITING else []
    return [
        _text(arguments[path], -1 if folder is None else arguments[folder])
        for path, folder in _CHANGED.get(event, ())
    ]


def _text(path: object, folder: int = -1) -> str:
    """Descriptors are open already, and open files have been asked about."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return ""
    name = os.fsdecode(path)
    if folder == -1:
        return name
    return os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name)  # noqa: PTH115, PTH118


def is_own(path: str, allowed: tuple[str, ...]) -> bool:
    """Whether a test may write there."""
    if not path:
        return True
    # Of strings: every file that a test opens is asked about, and a Path takes twice as long.
    folder, name = os.path.split(path.rstrip("/") or "/")
    if not folder.startswith("/"):
        folder = os.path.join(os.getcwd(), folder)  # noqa: PTH109, PTH118
    folder = _real(folder)
    whole = os.path.join(folder, name)  # noqa: PTH118
    if f"{whole}/".startswith(_below(allowed)):
        return True
    if not os.path.isdir(folder):  # noqa: PTH112
        return True  # nothing can be written there
    return whole.startswith(f"{CHECKOUT}/") and not {*whole.split("/")}.isdisjoint(KEPT)


_real = lru_cache(maxsize=4096)(os.path.realpath)
"""Each file of a folder is asked about: a folder that becomes a link meanwhile is not noticed."""


@cache
def _below(allowed: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{root}/" for root in allowed)


class Watch:
    """Notes what is written elsewhere, from `start` on: an audit hook cannot be removed."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._allowed = roots()

    def start(self, *more: str) -> None:
        """more: further folders where writing is allowed."""
        self._allowed += tuple(os.path.realpath(one) for one in more)
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" and event not in _CHANGED:
            return
        self.found += [
            f"{event} {path}"
            for path in changed(event, arguments)
            if not is_own(path, self._allowed)
        ]
