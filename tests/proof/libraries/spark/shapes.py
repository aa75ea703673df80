"""Checkpoints that a connector wrote (tests/golden/spark), planted again beside their stream."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from reshardctl.testing import FakeKinesis, load_topology, serve

GOLDEN = Path(__file__).parents[3] / "golden" / "spark"
AHEAD_SECONDS = 5
"""The stream's clock is ahead of ours: Kinesis refuses a start position in the future."""
CENTURY_HOURS = 100 * 365 * 24


@dataclass(frozen=True, slots=True)
class Planted:
    """A checkpoint and its stream at ``address``; ``initial`` is the query's startingPosition."""

    checkpoint: Path
    address: str
    fake: FakeKinesis
    stream: str
    initial: str


@dataclass(frozen=True)
class Shape:
    """One recorded state of one connector: `<folder>/<name>` and `<name>.json` beside it."""

    folder: str
    name: str

    @cached_property
    def scene(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((GOLDEN / self.folder / f"{self.name}.json").read_text())
        return found

    @property
    def initial(self) -> str:
        """The query's startingPosition."""
        word: str = self.scene["options"]["startingPosition"]
        return word

    @property
    def repair(self) -> dict[str, list[str]]:
        """START positions by shard id that were proven on the connector."""
        shards = self.scene["repair"]["shards"]
        return {f"shardId-{int(number):012d}": place for number, place in shards.items()}

    def plant(self, folder: Path) -> Path:
        """A copy of the checkpoint as it stood before the restart."""
        return Path(shutil.copytree(GOLDEN / self.folder / self.name, folder))

    @contextmanager
    def planted(self, folder: Path, trim: float | None = None) -> Iterator[Planted]:
        """The copy in ``folder`` and the stream, which goes on from this moment.

        Nothing more expires: what had is said by the recorded trim, or by another (seconds after
        the stream's creation).
        """
        table = {name: word for name, word in self.scene["streams"][0].items() if word is not None}
        if trim is not None:
            table["trim"] = trim
        age = time.time() + AHEAD_SECONDS - table["created"]
        table |= {"retention_hours": CENTURY_HOURS, "now": age}
        fake = load_topology(table, ticking=True)
        checkpoint = self.plant(folder)
        with serve(fake) as server:
            yield Planted(checkpoint, server.url, fake, table["name"], self.initial)

    def __str__(self) -> str:
        return self.name
