"""What a kill leaves of a store and of its journals, kept and put back byte for byte."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from reshardctl.stores.files.swapping import ours

_RANDOM = re.compile(r"[0-9a-f-]{36}")


@dataclass(frozen=True, slots=True)
class Kept:
    """Folders, each with everything in it."""

    folders: tuple[Path, ...]
    copies: Path

    @classmethod
    def of(cls, folders: tuple[Path, ...], copies: Path) -> Kept:
        """A copy of each, modes and times too. copies: a folder that this makes anew."""
        shutil.rmtree(copies, ignore_errors=True)
        copies.mkdir(parents=True)
        for number, folder in enumerate(folders):
            if folder.is_dir():
                shutil.copytree(folder, copies / str(number))
        return cls(folders, copies)

    def put_back(self) -> None:
        """As they were. A folder itself stays: a store may be known by its inode."""
        for number, folder in enumerate(self.folders):
            kept = self.copies / str(number)
            if not kept.is_dir():
                shutil.rmtree(folder, ignore_errors=True)
                continue
            folder.mkdir(exist_ok=True)
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            shutil.copytree(kept, folder, dirs_exist_ok=True)


def contents(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below, hidden ones too, with its mode; temporary ones under one name."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            path = Path(folder) / name
            key = path.relative_to(root).as_posix()
            found[_RANDOM.sub("*", key) if ours(name) else key] = (
                path.read_bytes(), path.stat().st_mode,
            )
    return found


def temporary(files: dict[str, tuple[bytes, int]]) -> set[str]:
    """Names of temporary files."""
    return {key for key in files if "*" in key}
