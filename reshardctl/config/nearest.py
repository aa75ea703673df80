"""Finds the configuration file. Imports nothing heavy: shells ask for it at each Tab.

Relative paths in it start at its folder.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from reshardctl.model.files import on_this_machine

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


def distrusted(path: Path) -> str:
    """Why a file that was found, and not named, is not used; "" if it is.

    It says to which hosts passwords and signed calls go, so that only the caller and root may have
    written it: the rule of git (CVE-2022-24765) and ssh. What the file or its name links to counts.
    """
    try:
        real = path.resolve(strict=True)
        looked = dict.fromkeys((real, path.absolute().parent, real.parent))
        found = [each.stat() for each in looked]
    except (OSError, RuntimeError) as error:
        return f"it cannot be looked at ({getattr(error, 'strerror', None) or error})"
    if real.parent == Path(real.anchor) or path.absolute().parent == Path(path.absolute().anchor):
        return "it lies in the root of the file system"
    for status in found:
        what = "its folder" if stat.S_ISDIR(status.st_mode) else "it"
        if status.st_uid not in (os.geteuid(), 0):
            return f"{what} belongs to user {status.st_uid}, who is neither you nor root"
        if status.st_mode & stat.S_IWOTH:
            return f"{what} can be written by everybody"
        if status.st_mode & stat.S_IWGRP and not _of_one_user(status.st_gid):
            return f"{what} can be written by group {status.st_gid}"
    return ""


def _of_one_user(group: int) -> bool:
    """Whether a group is root's, or the caller's own: many systems give each user one."""
    import grp
    import pwd

    try:
        user, found = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return group == 0
    return group == 0 or (found.gr_name == user and set(found.gr_mem) <= {user})


def _is_there(path: Path) -> bool:
    """Whether there is anything of this name; not where this may not be looked at."""
    try:
        return path.exists()
    except OSError:
        return False


def from_folder_of(file: str, path: str) -> str:
    """A path of the file, as it is reached from the current directory.

    file: the configuration, as it is reached from there. What is absolute, empty or has a scheme
    (`s3://…`, `hdfs:/…`) stays as it is. A slash at the end, which makes a directory, is kept.
    """
    folder = Path(file).parent
    if not path or path.startswith(("/", "~")) or on_this_machine(path) != path or folder == Path():
        return path
    return str(folder / path) + ("/" if path.endswith("/") else "")
