"""A Go library's program, and one run in it: what it reported, and when it has nothing more to."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Mapping

from reshardctl.testing import FakeKinesis
from tests.interop.go.built import TARGET, program
from tests.interop.kcl.log import ENDS, Event, Log
from tests.interop.kcl.process import LineProcess

START_SECONDS = 60.0
QUIET_SECONDS = 4.0
PATIENCE_SECONDS = 90.0
HUSH_SECONDS = 12.0
"""A library that polls nothing is taken to be done after this."""
ROUNDS = {"kinsumer": ("ListShards", 5), "kinesis-consumer": ("GetRecords", 12)}
"""The call that a library repeats for as long as it runs, and how many without a record or a new
iterator show that nothing more will come: kinsumer's leader compares the shards in each round."""


class Library:
    """One process; `start` and `stop` may be called from many threads."""

    def __init__(self, consumer: str) -> None:
        self._logs: dict[str, Log] = {"": Log()}
        self._lock = threading.Lock()
        self._serial = itertools.count(1)
        errors = TARGET / f"{program(consumer).name}.log"
        self._process = LineProcess([str(program(consumer))], errors, self._hear)
        if not self._logs[""].wait(lambda log: bool(log.of("READY")), START_SECONDS):
            self.close()
            raise RuntimeError(f"{program(consumer)} did not start; see {errors}")

    def start(self, settings: Mapping[str, str]) -> tuple[str, Log]:
        """Start an application: the name of the run, and what it reports."""
        with self._lock:
            run = str(next(self._serial))
            log = self._logs[run] = Log()
        self._process.say(json.dumps({"run": run, "do": "start", "settings": dict(settings)}))
        return run, log

    def stop(self, run: str) -> None:
        self._process.say(json.dumps({"run": run, "do": "stop"}))

    def close(self) -> None:
        self._process.close()

    def _hear(self, line: str) -> None:
        members = json.loads(line)
        run, kind = members.pop("run"), members.pop("event")
        with self._lock:
            log = self._logs[run]
        log.add(Event(kind, time.time(), members))


class Watch:
    """Whether a run still moves: it delivers, or asks for an iterator."""

    def __init__(self, consumer: str, log: Log, fake: FakeKinesis) -> None:
        self._call, self._rounds = ROUNDS[consumer]
        self._log, self._fake = log, fake

    def settled(self) -> bool:
        """Wait until nothing has come for so many rounds of the library and so many seconds; False
        if it still moved after the patience. A library that has ended is settled."""
        ends = time.monotonic() + PATIENCE_SECONDS
        moved, since, rounds = self._moves(), time.monotonic(), self._seen()
        while time.monotonic() < ends:
            if any(event.kind in ENDS for event in self._log.events()):
                return True
            if self._moves() != moved:
                moved, since, rounds = self._moves(), time.monotonic(), self._seen()
            quiet = time.monotonic() - since
            polled = self._seen() - rounds >= self._rounds
            if moved[0] and (quiet >= HUSH_SECONDS or (polled and quiet >= QUIET_SECONDS)):
                return True
            time.sleep(0.1)
        return False

    def _moves(self) -> tuple[int, int, int]:
        return (
            len(self._log.of("BEGUN")), len(self._log.of("RECORD")),
            self._counted()["GetShardIterator"],
        )

    def _seen(self) -> int:
        return self._counted()[self._call]

    def _counted(self) -> Counter[str]:
        return Counter(call.action for call in tuple(self._fake.calls))
