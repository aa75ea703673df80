"""A query without Spark: its checkpoint, its calls in Spark's order, its sink row by row.

The order of calls on both generations of PySpark is that of call traces of a reader on PySpark
4.0.1, 4.1.4 and 4.3.0, November 2026. Offsets travel as JSON, as they do between PySpark and JVM.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from reshardctl.kinesis import Kinesis
from reshardctl.kinesis.fast import FastReader, Reach, TimeAhead
from reshardctl.spark.source.lines import Stretch
from reshardctl.spark.source.options import stream_options
from reshardctl.spark.source.planning import Planner
from reshardctl.testing.fake import FakeKinesis
from tests.support.fake_time import sleep_of

NAME = "orders"


class Crash(Exception):
    """The sink died in the middle of a batch, or the process was killed."""


@dataclass(frozen=True)
class Row:
    shard: str
    number: str
    data: str


class InProcess(Reach, frozen=True):
    """Its client is the fake's own."""

    fake: FakeKinesis | None = None

    def client(self) -> Any:
        return self.fake.client()


@dataclass
class Query:
    """One streaming query over all its runs. old: whether PySpark is 4.0 or 4.1."""

    fake: FakeKinesis
    old: bool = False
    options: dict[str, str] = field(default_factory=dict)
    offsets: list[str] = field(default_factory=list)
    commits: int = 0
    delivered: list[list[Row]] = field(default_factory=list)
    """By batch: the rows of its committed run."""
    attempts: list[tuple[int, list[Row]]] = field(default_factory=list)
    """Every run of a batch, with its number, the whole of what was read of it."""
    planner: Planner | None = None
    _replay: bool = False

    def start(self) -> None:
        """A new process, as after a crash."""
        given = {"streamName": NAME, **self.options}
        reach = InProcess("us-east-1", fake=self.fake)
        reads = FastReader(reach, NAME, clock=self.fake.clock.now, sleep=sleep_of(self.fake))
        lists = Kinesis.of_client(
            self.fake.client(), clock=self.fake.clock.now, sleep=sleep_of(self.fake)
        )
        self.planner = Planner(stream_options(given), lists, reads, self.fake.clock.now)
        self._reads = reads
        self._replay = len(self.offsets) > self.commits
        if self.old and self.offsets:
            end = self._offset(len(self.offsets) - 1)
            assert self.planner.stretches(end, end) == []

    def stop(self) -> None:
        self.planner = None

    @property
    def plans(self) -> Planner:
        assert self.planner is not None
        return self.planner

    def trigger(self, *, crash: bool = False, limit: int | None = None) -> bool:
        """One trigger; whether it ran a batch. crash: die before the batch is committed."""
        if self.planner is None:
            self.start()
        if not self._replay and not self._construct(limit):
            return False
        number = len(self.offsets) - 1
        start = self._offset(number - 1) if number else self._carried(self.plans.initial())
        rows = list(self.read(self.plans.stretches(start, self._offset(number))))
        self.attempts.append((number, rows))
        if crash:
            self.stop()
            raise Crash
        self._replay = False
        self.commits = number + 1
        self.delivered.append(rows)
        return True

    def drain(self, most: int = 500) -> int:
        """Triggers until nothing is left to do; how many batches that took."""
        for done in range(most):
            if not self.trigger():
                return done
            self.fake.clock.advance(1)
        raise AssertionError("the query never falls idle")

    def available_now(self, limit: int | None = None, most: int = 500) -> int:
        """A run of Trigger.AvailableNow in a process of its own; the number of batches."""
        self.start()
        if not self.old:
            self.plans.pin()
        for done in range(most):
            if not self.trigger(limit=limit):
                self.stop()
                return done
        raise AssertionError("AvailableNow never ends")

    def read(self, stretches: list[Stretch]) -> Iterator[Row]:
        """What the executors would read; the last partition first, for no order is promised."""
        for one in reversed(stretches):
            try:
                pages = self._reads.after(
                    one.shard, one.begin, one.until, to_end=one.to_end, unread=one.unread
                )
                for page in pages:
                    for record in page.records:
                        yield Row(one.shard, record.sequence_number, record.data.decode())
            except TimeAhead:
                continue

    def rows(self) -> list[Row]:
        """All rows of committed batches."""
        return [row for rows in self.delivered for row in rows]

    def data(self) -> list[str]:
        return sorted(row.data for row in self.rows())

    @property
    def newest(self) -> dict[str, Any]:
        return self._offset(len(self.offsets) - 1)

    def _construct(self, limit: int | None) -> bool:
        most = limit or self.plans.options.most
        if self.old:
            end = self.plans.latest(None, most)
        else:
            before = self._offset(len(self.offsets) - 1) if self.offsets else self.plans.initial()
            end = self.plans.latest(self._carried(before), most)
        text = json.dumps(end)
        if text == (self.offsets[-1] if self.offsets else json.dumps(self.plans.initial())):
            return False
        self.offsets.append(text)
        return True

    def _offset(self, number: int) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.offsets[number])
        return found

    @staticmethod
    def _carried(value: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(json.dumps(value))
        return found
