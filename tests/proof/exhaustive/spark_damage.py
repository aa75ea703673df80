"""What befalls checkpoints besides queries: hands, crashing file systems, half a restore."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from json import dumps, loads
from pathlib import Path
from random import Random

from tests.proof.reference.spark_files import COMMIT, numbered, put, remove
from tests.proof.reference.spark_log import FOLDERS

FORGETTING = frozenset({"uncommit", "unplan", "roll_back", "unlog_one", "empty_one"})
"""Damage after which nothing tells what the sink had of the newest batch, in one shard or all."""

COPYING = frozenset({"copy_one", "copy_earlier"})
"""Damage after which it is for the file system to say from which file a query goes on."""


class Damage:
    """One checkpoint, and ways to harm it. Each acts on its newest batch."""

    def __init__(self, root: Path, rng: Random) -> None:
        self._root, self._rng = root, rng
        self._newest = numbered(root / "offsets")[-1]

    def uncommit(self) -> None:
        """Its commit is removed."""
        remove(self._root / "commits" / str(self._newest))

    def unplan(self) -> None:
        """Its offset log is removed, and what came of it stays."""
        remove(self._root / "offsets" / str(self._newest))

    def roll_back(self) -> None:
        """It is removed, with its log or without."""
        self.unplan()
        self.uncommit()
        if not self._newest or self._rng.random() < 0.7:  # a first batch with all that it left
            self.unlog()

    def unlog(self) -> None:
        """The connector's log of it is removed."""
        for folder in self._logs():
            shutil.rmtree(folder)

    def unlog_one(self) -> None:
        """One shard's entry in that log is removed."""
        for folder in self._logs():
            if entries := self._entries(folder):
                remove(self._rng.choice(entries))

    def empty_one(self) -> None:
        """One shard's entry in that log is empty."""
        for folder in self._logs():
            if entries := self._entries(folder):
                put(self._rng.choice(entries), "")

    def stray(self) -> None:
        """A stranger lies in that log."""
        for folder in self._logs():
            put(folder / "README", "hello")

    def copy_one(self) -> None:
        """A copy of one shard's entry lies beside it, as an editor or a careful hand leaves one."""
        for folder in self._logs():
            if entries := self._entries(folder):
                self._copy(self._rng.choice(entries), folder)

    def copy_earlier(self) -> None:
        """What one shard's entry said a batch before lies beside it."""
        for folder in self._logs():
            before = folder.parent / str(self._newest - 1)
            earlier = self._entries(before) if before.is_dir() else []
            if entries := [path for path in earlier if (folder / path.name).exists()]:
                self._copy(self._rng.choice(entries), folder)

    def _copy(self, path: Path, folder: Path) -> None:
        name = self._rng.choice((f"{path.name}.bak", f"{path.name}~", "20261127"))
        put(folder / name, path.read_text(encoding="utf-8"))

    def copy_dated(self) -> None:
        """A copy of its offset log is named by a date, or by a number beyond all batches."""
        name = self._rng.choice(("20261127", "1795737600", "99999999999999999"))
        text = (self._root / "offsets" / str(self._newest)).read_text(encoding="utf-8")
        put(self._root / "offsets" / name, text)

    def copy_aside(self) -> None:
        """A copy of its offset log is named as no batch is."""
        name = f"{self._newest}{self._rng.choice(('.bak', '~', '.2026-11-27'))}"
        text = (self._root / "offsets" / str(self._newest)).read_text(encoding="utf-8")
        put(self._root / "offsets" / name, text)

    def empty_log(self) -> None:
        """Its offset log is empty."""
        put(self._root / "offsets" / str(self._newest), "")

    def reformat(self) -> None:
        """Its offset log went through a formatter of JSON."""
        path = self._root / "offsets" / str(self._newest)
        version, *values = path.read_text(encoding="utf-8").split("\n")
        pretty = (value if value == "-" else dumps(loads(value), indent=2) for value in values)
        put(path, "\n".join((version, *pretty)))

    def orphan(self) -> None:
        """The checksum of the next batch is left without its file."""
        path = self._root / "offsets" / str(self._newest + 1)
        put(path, "x")
        path.unlink()

    def no_checksums(self) -> None:
        """Every checksum is gone."""
        for path in list(self._root.rglob(".*.crc")):
            path.unlink()

    def cut_off(self) -> None:
        """Its offset log is cut off somewhere."""
        path = self._root / "offsets" / str(self._newest)
        text = path.read_text(encoding="utf-8")
        put(path, text[: self._rng.randrange(len(text))])

    def get_ahead(self) -> None:
        """The next batch is committed, and was never planned."""
        put(self._root / "commits" / str(self._newest + 1), COMMIT)

    def unplan_before(self) -> None:
        """The offset log before it is removed."""
        if self._newest:
            remove(self._root / "offsets" / str(self._newest - 1))

    def _logs(self) -> list[Path]:
        found = (self._root / f"sources/0/{name}/{self._newest}" for name in FOLDERS.values())
        return [folder for folder in found if folder.is_dir()]

    def _entries(self, folder: Path) -> list[Path]:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


WAYS: dict[str, Callable[[Damage], None]] = {
    name: way for name, way in vars(Damage).items() if not name.startswith("_")
}


DEADLY = frozenset({"copy_dated"})
"""Damage at which the JVM itself dies: Spark counts the ids up to a name, and its heap is full."""


def damage(root: Path, seed: int, without: frozenset[str] = frozenset()) -> str:
    """Harm a checkpoint in the way of this seed. Returns its name."""
    rng = Random(f"damage {seed}")
    name = rng.choice(sorted(WAYS.keys() - without))
    WAYS[name](Damage(root, rng))
    return name
