"""The soak without Spark: its calls in its order, on a clock that moves as told, in milliseconds.

What Spark asks, and when, is tests/unit/spark/source/drive.py's; how the stream moves and what has
to hold are the soak's own. So thousands of seeds can be judged, each the same at every turn.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from random import Random
from uuid import UUID

from reshardctl.model.times import instant
from tests.proof.libraries.spark.soak import judging
from tests.proof.libraries.spark.soak.judging import Delivery, Row, Truth
from tests.proof.libraries.spark.soak.moving import Ends, Moving
from tests.unit.spark.source.drive import Crash, Query

STEPS = 40, 160
WAITS = (0.01, 0.3, 1.0, 3.0, 12.0, 400.0)
BATCHES = 200
"""More than any drain takes beyond one for each record."""
LATEST = {"startingPosition": "LATEST"}
DOES = ("move", "trigger", "wait", "crash", "unwritten", "stop", "now")
WEIGHTS = (40, 25, 30, 6, 3, 3, 2)


class Dry:
    """One seed."""

    def __init__(self, seed: int, start: float = 1_700_000_000.0) -> None:
        """`start`: the Unix time at which the stream is created, or so."""
        self._dice = Random(seed)
        self.moving = Moving.still(seed, start)
        self.options = self._options()
        self.query = Query(self.moving.fake, self._dice.random() < 0.5, self.options)
        self._committed: list[int] = []
        """The newest committed batch as each attempt began."""
        self._endless: list[str] = []

    @property
    def starting(self) -> str:
        """Where it starts, as a locator says it."""
        if self.moving.since is not None:
            return f"AT_TIMESTAMP:{instant(self.moving.since)}"
        return self.options.get("startingPosition", "TRIM_HORIZON")

    def complaints(self) -> list[str]:
        """Play it through; every way in which the promise was broken."""
        self.play()
        self.finish()
        return [*self._endless, *judging.complaints(self._truth(), self._deliveries())]

    def play(self) -> None:
        """The stream moves, the query runs and dies."""
        latest = self.options.get("startingPosition") == "LATEST"
        self.moving.due, self.moving.past = not latest, latest
        for _ in range(self._dice.randint(*STEPS)):
            self._do(self._dice.choices(DOES, WEIGHTS)[0])
            self.moving.due = self.moving.due or bool(self.query.offsets)
        self.moving.fake.faults.clear()

    def finish(self) -> None:
        """The query is left alone until it has read everything."""
        for _ in range(3):
            self.moving.fake.clock.advance(20)
            self._do("drain")

    def write(self, checkpoint: Path) -> None:
        """The checkpoint as Spark lays it out, offset log v1."""
        for folder in ("offsets", "commits"):
            (checkpoint / folder).mkdir(parents=True)
        (checkpoint / "metadata").write_text(json.dumps({"id": str(UUID(int=1))}))
        own = {"batchWatermarkMs": 0, "batchTimestampMs": 0, "conf": {}}
        for number, offset in enumerate(self.query.offsets):
            text = f"v1\n{json.dumps(own)}\n{offset}"
            (checkpoint / "offsets" / str(number)).write_text(text)
        for number in range(self.query.commits):
            text = 'v1\n{"nextBatchWatermarkMs":0}'
            (checkpoint / "commits" / str(number)).write_text(text)

    def _options(self) -> dict[str, str]:
        most = self._dice.choice(("", "", "1", "7", "60"))
        start = LATEST if self._dice.random() < 0.25 else {}
        if not start and self._dice.random() < 0.25:
            self.moving.since = self.moving.fake.clock.now() // 1 + self._dice.choice((-30, 0, 20))
            start = {"startingPosition": f"AT_TIMESTAMP {self.moving.since}"}
        return {**start, **({"maxRecordsPerTrigger": most} if most else {})}

    def _do(self, what: str) -> None:
        before = self.query.commits - 1
        self.moving.past = self.moving.past and what in ("move", "wait")
        getattr(self, f"_{what}")()
        self._committed += [before] * (len(self.query.attempts) - len(self._committed))

    def _drain(self) -> None:
        try:
            self.query.drain(BATCHES + len(self.moving.puts))
        except AssertionError as endless:
            self._endless.append(str(endless))

    def _move(self) -> None:
        self.moving.move(self._ends)

    def _ends(self) -> Ends | None:
        return self.query._offset(self.query.commits - 1)["shards"] if self.query.commits else None

    def _wait(self) -> None:
        self.moving.fake.clock.advance(self._dice.choice(WAITS))

    def _trigger(self) -> None:
        self.query.trigger()

    def _crash(self) -> None:
        """The sink dies with the rows of a batch."""
        with suppress(Crash):
            self.query.trigger(crash=True)

    def _unwritten(self) -> None:
        """Killed between the plan of a batch and the writing of its offset."""
        if self.query.planner is None:
            self.query.start()
        if not self.query._replay and (not self.query.old or not self.query.offsets):
            start = self.query.newest if self.query.offsets else self.query.plans.initial()
            self.query.plans.latest(start, self.query.plans.options.most)
        self.query.stop()

    def _stop(self) -> None:
        self.query.stop()

    def _now(self) -> None:
        """A run of AvailableNow."""
        self.query.available_now(self.query.plans.options.most if self.query.planner else None)

    def _truth(self) -> Truth:
        return Truth(self.moving.puts, self.moving.parents(), dict(enumerate(self._committed)))

    def _deliveries(self) -> list[Delivery]:
        return [
            Delivery(batch, at, tuple(_row(each.shard, each.number, each.data) for each in rows))
            for at, (batch, rows) in enumerate(self.query.attempts)
        ]


def _row(shard: str, number: str, data: str) -> Row:
    key, turn = data.split("|")
    return Row(shard, int(number), key, int(turn))
