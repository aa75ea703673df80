"""Which plans and journals were made on this machine; others are asked about before any call.

Made here is a plan whose digest this machine's state folder has noted, a journal of such a
plan, and a journal in that folder; only if nobody else may write there.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from reshardctl.config.nearest import distrusted
from reshardctl.errors import UsageError
from reshardctl.journal import state_dir
from reshardctl.journal.log import Where
from reshardctl.stores.given_file import content

_PLANS = "plans-made-here"
"""The file of the digests, one a line."""


def usual_directory() -> Path:
    """The directory of this machine's journals."""
    try:
        home = Path.home()
    except RuntimeError:  # no HOME, and no entry in passwd: container runtimes name the root
        home = Path("/")
    return state_dir(os.environ, home)


def note_plan(digest: str) -> None:
    """Notes that a plan was made here; where that cannot be noted, it is asked about."""
    directory = usual_directory()
    path = directory / _PLANS
    if digest in _noted(path):
        return
    with suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
        try:
            os.write(descriptor, f"{digest}\n".encode())
        finally:
            os.close(descriptor)


def made_here(digest: str, where: Where | None = None) -> bool:
    """Whether this machine made a plan, or a journal of it. where: the journal."""
    directory = usual_directory()
    if isinstance(where, Path) and where.resolve().parent == directory.resolve():
        return not distrusted(where) or digest in _noted(directory / _PLANS)
    return digest in _noted(directory / _PLANS)


def _noted(path: Path) -> list[str]:
    if distrusted(path):
        return []
    try:
        return content(path, "").decode("ascii", "replace").split()
    except UsageError:
        return []
