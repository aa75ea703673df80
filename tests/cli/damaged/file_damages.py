"""What befalls the files of a folder: their bytes, and what stands in their place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from tests.cli.damaged.text_damages import damaged_text

FileDamage = Callable[[Random, Path, Path], str]
"""(dice, the root, a file below it) → what was done."""


def other_bytes(dice: Random, _root: Path, path: Path) -> str:
    name, content = damaged_text(dice, path.read_bytes())
    path.write_bytes(content)
    return name


def lost(_dice: Random, _root: Path, path: Path) -> str:
    path.unlink()
    return "lost"


def folder_instead(_dice: Random, _root: Path, path: Path) -> str:
    path.unlink()
    path.mkdir()
    return "a folder instead"


def link_to_itself(_dice: Random, _root: Path, path: Path) -> str:
    path.unlink()
    path.symlink_to(path.name)
    return "a link to itself"


def link_to_nothing(_dice: Random, _root: Path, path: Path) -> str:
    path.unlink()
    path.symlink_to("nowhere")
    return "a link to nothing"


def link_to_its_folder(_dice: Random, root: Path, path: Path) -> str:
    path.unlink()
    path.symlink_to(root)
    return "a link to a folder above"


def pipe_instead(_dice: Random, _root: Path, path: Path) -> str:
    """Whoever opens it waits for a writer that never comes."""
    path.unlink()
    os.mkfifo(path)
    return "a pipe instead"


def another_file_instead(dice: Random, root: Path, path: Path) -> str:
    others = sorted(one for one in root.rglob("*") if one.is_file())
    path.write_bytes(dice.choice(others).read_bytes())
    return "another file's bytes"


def odd_name_beside(dice: Random, _root: Path, path: Path) -> str:
    """A file beside it with a name that an editor, a copy or a hand leaves."""
    name = dice.choice((
        path.name + "~", path.name + ".tmp", "." + path.name + ".crc", "-1", "00", "1e3", "9" * 30,
        "٣", "ü", "a\nb", " ", path.name + " ", "0x1", "1.compact", "1.delta", "+1", "1_0",
        os.fsdecode(b"\xff\xfe"), "9223372036854775808",
    ))  # fmt: skip
    other = path.with_name(name)
    if not other.exists():
        shutil.copyfile(path, other)
    return f"a file {name!r} beside it"


def odd_folder_beside(dice: Random, _root: Path, path: Path) -> str:
    name = dice.choice(("_spark_metadata", "1", "7", "tmp", "shard-source", path.name + ".d", "ü"))
    path.with_name(name).mkdir(exist_ok=True) if not path.with_name(name).exists() else None
    return f"a folder {name!r} beside it"


def folder_is_a_file(dice: Random, root: Path, path: Path) -> str:
    """One of the folders on the way to it is a file."""
    folders = [one for one in path.parents if root in one.parents]
    if not folders:
        return folder_instead(dice, root, path)
    folder = dice.choice(folders)
    shutil.rmtree(folder)
    folder.write_bytes(b"x")
    return f"{folder.relative_to(root)} is a file"


FILE_DAMAGES: Mapping[str, tuple[FileDamage, float]] = {
    "bytes": (other_bytes, 12),
    "lost": (lost, 1),
    "folder": (folder_instead, 1),
    "loop": (link_to_itself, 1),
    "nothing": (link_to_nothing, 0.5),
    "up": (link_to_its_folder, 0.5),
    "pipe": (pipe_instead, 0.7),
    "another": (another_file_instead, 1),
    "name": (odd_name_beside, 2),
    "folder beside": (odd_folder_beside, 0.7),
    "file for a folder": (folder_is_a_file, 0.7),
}
"""By name, and how often."""


def damage_a_file(dice: Random, root: Path) -> tuple[Path, str]:
    """Damages one file below a folder: which one, and how."""
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    path = dice.choice(files)
    (name,) = dice.choices(list(FILE_DAMAGES), [weight for _, weight in FILE_DAMAGES.values()])
    return path, FILE_DAMAGES[name][0](dice, root, path)
