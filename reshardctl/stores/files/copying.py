"""Copies a folder with everything in it to a new name."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from reshardctl.errors import CannotTell, Refused, UsageError, command_line
from reshardctl.stores.durable import sync
from reshardctl.stores.files.renaming import place


def copied(source: Path, to: Path) -> None:
    """Copies a tree: content, modes and times of files, hidden ones too; folders as well.

    The new name appears when the copy is complete; an interrupted copy leaves a hidden folder
    beside it, `.NAME.*.copy`, and nothing else. UsageError if the name exists or lies in the tree
    itself, Refused for a link or anything else that is neither file nor folder, CannotTell if a
    file cannot be read or written.
    """
    source, parent = source.resolve(), to.parent.resolve()
    whole = parent / to.name
    if whole.exists() or whole.is_symlink():
        raise UsageError(f"{to} is there already", "name a folder that is not")
    if not parent.is_dir():
        raise UsageError(f"{to.parent} is no folder", command_line("mkdir", "-p", str(to.parent)))
    if whole.is_relative_to(source):
        raise UsageError(f"{to} lies in {source}", "name a folder beside it")
    try:
        _copied(source, whole)
    except OSError as error:
        raise CannotTell(
            f"copying {source} to {to}: {error.strerror or error}"
            + (f" ({error.filename})" if error.filename else ""),
            "mend that, or name a folder elsewhere with --to",
        ) from None


def _copied(source: Path, whole: Path) -> None:
    tree = list(_tree(source))
    half = Path(tempfile.mkdtemp(".copy", f".{whole.name}.", whole.parent))
    try:
        for path, is_folder in tree:
            there = half / path.relative_to(source)
            if is_folder:
                there.mkdir()
            else:
                shutil.copy2(path, there, follow_symlinks=False)
                sync(there)
        for path, is_folder in reversed(tree):
            if is_folder:
                shutil.copystat(path, half / path.relative_to(source))
                sync(half / path.relative_to(source))
        shutil.copystat(source, half)
        if not place(half, whole):
            raise CannotTell(
                f"{whole.parent}: this file system cannot rename without replacing",
                "name a folder of another file system with --to",
            )
        sync(whole.parent)
    except BaseException:
        shutil.rmtree(half, ignore_errors=True)
        raise


def _tree(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Everything below a folder, folders before their contents, and whether it is a folder."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path, mode = Path(entry.path), entry.stat(follow_symlinks=False).st_mode
        if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
            what = "a symbolic link" if stat.S_ISLNK(mode) else "neither a file nor a folder"
            raise Refused(
                f"{path} is {what}: a copy would not be the checkpoint that Spark reads",
                "put the file itself in its place, or repair without --to",
            )
        yield path, stat.S_ISDIR(mode)
        if stat.S_ISDIR(mode):
            yield from _tree(path)
