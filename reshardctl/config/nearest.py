"""Finds the configuration file. Imports nothing heavy: shells ask for it at each Tab."""

from __future__ import annotations

from pathlib import Path

DEFAULT = Path("reshardctl.toml")


def nearest(start: Path = Path()) -> Path | None:
    """The file in a folder, or else in the nearest folder above it; `None` if there is none.

    The search ends after a folder that holds `.git`, after the home folder, and at the root. The
    path begins with `start`, so that it is as short as a person would type it.
    """
    try:
        home, here = Path("~").expanduser(), start.resolve()
    except (OSError, RuntimeError):
        return start / DEFAULT if _is_there(start / DEFAULT) else None
    for steps, folder in enumerate((here, *here.parents)):
        if _is_there(folder / DEFAULT):
            return start.joinpath(*[".."] * steps, DEFAULT)
        if _is_there(folder / ".git") or folder == home:
            return None
    return None


def _is_there(path: Path) -> bool:
    """Whether there is anything of this name; not where this may not be looked at."""
    try:
        return path.exists()
    except OSError:
        return False
