"""One soak: a stream that moves, a query that is killed and started again, and what came of it."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reshardctl.testing import FakeKinesis, serve
from tests.proof.libraries.spark.soak import judging, sinks
from tests.proof.libraries.spark.soak.judging import Delivery, Truth
from tests.proof.libraries.spark.soak.life import Life
from tests.proof.libraries.spark.soak.moving import STREAM, Ends, Moving
from tests.proof.libraries.spark.soak.scenes import Ending, Scene

PATIENCE_SECONDS = 300.0
"""How long a query may take to do what is waited for; then the soak fails."""
MOVES = 12, 25
MOVES_WHILE_DOWN = 0, 6
PAUSE, SLOW = 0.12, 0.5
"""Seconds between two moves, at most; and between two records that are put only to go on."""


@dataclass(frozen=True, slots=True)
class Soaked:
    """What a soak did and found; `complaints` is empty when the promise was kept."""

    scene: Scene
    complaints: list[str]
    counts: Counter[str]
    checkpoint: Path
    fake: FakeKinesis

    def __str__(self) -> str:
        counted = " ".join(f"{name}={count}" for name, count in sorted(self.counts.items()))
        return f"{self.scene}\n  {counted}" + "".join(f"\n  ! {each}" for each in self.complaints)


class Soak:
    """Drives one scene; everything that it leaves is in `folder`."""

    def __init__(self, scene: Scene, folder: Path) -> None:
        self.scene = scene
        self.checkpoint = folder / "checkpoint"
        self._sink = folder / "sink"
        self._sink.mkdir(parents=True)
        self._log = folder / "spark.log"
        self.moving = Moving.new(scene.seed, calm=not scene.source.optional)
        self._committed: dict[int, int] = {}
        self._counts: Counter[str] = Counter()
        self._life: Life | None = None
        self._die: dict[str, Any] = {}
        self._url = ""

    def run(self) -> Soaked:
        """Every life, then one in peace until all is read; AssertionError when Spark hangs."""
        began = time.monotonic()
        if self.scene.latest:
            self.moving.due, self.moving.past = False, True
        with serve(self.moving.fake) as server:
            self._url = server.url
            try:
                for ending in self.scene.endings:
                    self._live(ending)
                self._drain()
            finally:
                if self._life is not None:
                    self._life.close()
        self._counts["seconds"] = round(time.monotonic() - began)
        return self._judged()

    def _live(self, ending: Ending) -> None:
        """One life: the stream moves while the query is down, then while it runs, until it ends."""
        dice = self.moving.dice
        for _ in range(dice.randint(*MOVES_WHILE_DOWN)):
            self._move()
            time.sleep(dice.uniform(0, PAUSE))
        self._start(ending)
        moves = dice.randint(*MOVES)
        until = time.monotonic() + PATIENCE_SECONDS
        while moves > 0 or not self._may_end(ending):
            assert time.monotonic() < until, f"{ending} did not come about; see {self._log}"
            moves -= 1
            if moves >= 0:
                self._move()
                time.sleep(dice.uniform(0, PAUSE))
            else:
                # A batch more is waited for: one record makes it.
                self.moving.put("k0")
                time.sleep(SLOW)
            if self._gone(ending):
                break
        self._end(ending)

    def _may_end(self, ending: Ending) -> bool:
        """Whether what the ending needs is there; those of the sink come by themselves."""
        if ending.how in ("kill", "fail"):
            return False
        return ending.how != "torn" or self._torn()

    def _torn(self) -> bool:
        """Wait, briefly, for a batch that is planned and not committed."""
        until = time.monotonic() + 1
        while time.monotonic() < until:
            if self._torn_now():
                return True
            time.sleep(0.001)
        return False

    def _gone(self, ending: Ending) -> bool:
        """Heed what the process says: start over what is over, note a death that was ordered."""
        assert self._life is not None
        for said in self._life.said():
            if said["is"] == "over":
                self._order()
            elif said["is"] == "died":
                told = ending.how == "fail" and "told to fail" in said["why"]
                assert told, f"the query died: {said['why']}"
                return True
            elif said["is"] == "gone":
                assert ending.how == "kill", f"the process ended; see {self._log}"
                return True
        return False

    def _end(self, ending: Ending) -> None:
        assert self._life is not None
        torn = self._torn_now()
        if ending.how == "stop":
            self._life.order("stop")
            self._life.hears("stopped")
        elif ending.how != "fail":
            self._life.kill()
            self._life = None
            self._counts["kills"] += 1
            self._counts["kills with a batch open"] += torn
        self._counts[f"ended by {ending.how} {ending.where}".strip()] += 1

    def _start(self, ending: Ending) -> None:
        """Start the query, in a process of its own where there is none."""
        if self._life is None:
            source = self.scene.source
            more = dict(source.variables)
            self._life = Life(self.scene.release, source.register, self._log, more)
            began = time.monotonic()
            self._life.hears("ready")
            self._counts["seconds of starting Spark"] += round(time.monotonic() - began)
        self._die = {}
        if ending.how in ("kill", "fail"):
            batch = newest(self.checkpoint / "offsets") + ending.batches
            self._die = {"how": ending.how, "where": ending.where, "batch": batch}
        self._order()
        self._life.hears("started")

    def _order(self) -> None:
        assert self._life is not None
        self.moving.past = False
        number = len(self._committed)
        self._committed[number] = newest(self.checkpoint / "commits")
        self._counts["starts"] += 1
        source = self.scene.source
        options = {source.endpoint: self._url, "streamName": STREAM, **dict(source.more)}
        self._life.order(
            "start", number=number, format=source.format, columns=source.columns, die=self._die,
            options={**options, **self.scene.options}, sink=self.scene.sink,
            folder=str(self._sink), checkpoint=str(self.checkpoint), trigger=self.scene.trigger,
        )  # fmt: skip

    def _move(self) -> None:
        if not self.moving.due and newest(self.checkpoint / "offsets") >= 0:
            self.moving.due = True
        self.moving.move(lambda: committed_ends(self.checkpoint))

    def _drain(self) -> None:
        """A life without disturbances that goes on until all is delivered that is due."""
        self.moving.fake.faults.clear()
        peace = Ending("stop")
        self._start(peace)
        began = time.monotonic()
        until = time.monotonic() + PATIENCE_SECONDS
        while self._owed() and time.monotonic() < until:
            self._gone(peace)
            time.sleep(0.2)
        assert self._life is not None
        self._life.order("stop")
        self._life.hears("stopped")
        self._counts["seconds of draining"] = round(time.monotonic() - began)

    def _owed(self) -> bool:
        seen = {row.place for each in self._delivered() for row in each.rows}
        due = {place for place, put in self.moving.puts.items() if put.due}
        return not due <= seen or self._torn_now()

    def _torn_now(self) -> bool:
        return newest(self.checkpoint / "offsets") > newest(self.checkpoint / "commits")

    def _delivered(self) -> list[Delivery]:
        read = sinks.committed if self.scene.sink == "file" else sinks.attempts
        return read(self._sink)

    def _judged(self) -> Soaked:
        truth = Truth(self.moving.puts, self.moving.parents(), self._committed)
        delivered = self._delivered()
        attempts = Counter(each.batch for each in delivered)
        self._counts["batches"] = len(attempts)
        self._counts["batches again"] = sum(attempts.values()) - len(attempts)
        self._counts["shards"] = len(truth.parents)
        counts = self._counts + self.moving.counts
        found = judging.complaints(truth, delivered)
        return Soaked(self.scene, found, counts, self.checkpoint, self.moving.fake)


def newest(folder: Path) -> int:
    """The greatest batch that has a file here; -1 for none."""
    names = (path.name for path in folder.iterdir()) if folder.exists() else ()
    return max((int(name) for name in names if name.isdigit()), default=-1)


def committed_ends(checkpoint: Path) -> Ends | None:
    """The shards of the newest committed batch's offset; None when there is none."""
    batch = newest(checkpoint / "commits")
    if batch < 0:
        return None
    lines = (checkpoint / "offsets" / str(batch)).read_text().split("\n")
    found: dict[str, Any] = json.loads(lines[2])
    shards: Ends = found["shards"]
    return shards
