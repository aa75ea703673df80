"""What befalls checkpoints besides queries: hands, crashing file systems, half a restore."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.reference.spark_files import COMMIT, numbered, put, remove
from tests.reference.spark_log import FOLDERS

FORGETTING = frozenset({"uncommit", "unplan", "roll_back", "unlog_one", "empty_one"})
"""Damage after which nothing tells what the sink had of the newest batch, in one shard or all."""


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


def damage(root: Path, seed: int) -> str:
    """Harm a checkpoint in the way of this seed. Returns its name."""
    rng = Random(f"damage {seed}")
    name = rng.choice(sorted(WAYS))
    WAYS[name](Damage(root, rng))
    return name
