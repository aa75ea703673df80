"""Puts the real library into situations, several at a time, and keeps what came of each."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.proof.libraries.kcl.dynamodb import DynamoDb
from tests.proof.libraries.kcl.library import Library
from tests.proof.libraries.kcl.log import Log
from tests.proof.libraries.kcl.pace import PACES
from tests.proof.libraries.kcl.processes import Processes
from tests.proof.libraries.kcl.recording import (
    contradictions,
    digest_of_runner,
    digest_of_start,
    outcome_of_record,
    record_of,
)
from tests.proof.libraries.kcl.running import Running
from tests.proof.libraries.kcl.stream import ServedStream
from tests.proof.libraries.kcl.verdict import Outcome, came, outcome_of, started
from tests.proof.libraries.starts.deciding import recorded_or_run
from tests.proof.libraries.starts.records import RECORDED, Records
from tests.support.case import Case, Delivery
from tests.support.case_stream import shard_name
from tests.support.case_tables import SIDE_KEYS

WORKER = "w1"
AT_ONCE = 16

LIVE_SECONDS = 2.0
READS = 3
READ_ON_SECONDS = 30.0
AWAITED_SECONDS = 60.0
PATIENCE_SECONDS = 120.0
ATTEMPTS = 3
WITH_SIDE_TABLES = frozenset({"3.1.3"})
LOSES_ENDS = frozenset({"2.2.11"})
"""Before 2.6.1 a shard's end that comes while the worker still finishes its initialization, as an
empty one's may, is lost: no ShutdownTask runs, and its children wait for ever
(awslabs/amazon-kinesis-client#1319; ShardConsumer.initializeComplete of 2.2.11)."""
LOCK_SECONDS = 120.0
"""How long a killed worker's leader lock holds (leaseDuration of its row, KCL 3.5.1)."""


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the real library: on this table, at this release, with this position."""

    case: Case
    release: str
    initial: str
    items: list[dict[str, Any]]
    mend: Callable[[str, str, ServedStream], None] | None = None
    """Given the address of DynamoDB, the table and the stream, repairs the table beforehand."""
    meanwhile: Callable[[Running], None] | None = None
    """Called once the library has been started; library.py says how to use it."""
    beside: tuple[Case, ...] = ()
    """Other streams of a multi-stream application, to be served and read too."""
    longer: int = 1
    """How many times as long as usual a lease holds, and nothing may move before it counts as
    still."""
    awaits: Delivery = field(default_factory=dict)
    """What is expected of it: a busy machine gets a minute more to deliver this, before the wait
    for whatever else may come."""

    @property
    def patience(self) -> float:
        """The seconds after which a run that still moves is given up."""
        return PATIENCE_SECONDS * self.longer + (LOCK_SECONDS if self.locked else 0)

    @property
    def streams(self) -> tuple[str, ...]:
        """The identifiers of a multi-stream application's streams; none in a single-stream one."""
        return tuple(each.identifier for each in (self.case, *self.beside) if each.identifier)

    @property
    def locked(self) -> bool:
        leader = {"S": "Leader"}
        side = self.case.side.get("CoordinatorState", ())
        return any(item.get("leaseKey", item.get("key")) == leader for item in [*self.items, *side])


class Laboratory:
    """One DynamoDB and a process for each release; ``run`` may be called from many threads.

    ``recorded``: the folder of the recorded starts.
    """

    def __init__(self, recorded: Path = RECORDED) -> None:
        self._recorded_in = recorded
        self.dynamodb = DynamoDb()
        self._processes = Processes()
        self._records: dict[str, Records] = {}
        self._held: dict[int, tuple[Outcome, Callable[[], None]]] = {}
        """By identity of the outcome, which is kept so that no other gets it."""
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._outcomes: dict[str, Future[Outcome]] = {}
        self._serial = itertools.count()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._processes.close()
        self.dynamodb.close()

    def records(self, release: str) -> Records:
        """The recorded starts of this release."""
        with self._lock:
            if release not in self._records:
                self._records[release] = Records(f"kcl-{release}", self._recorded_in)
            return self._records[release]

    def confirm(self, outcome: Outcome) -> None:
        """A test has passed with this outcome: it may be recorded.

        Not before: a run that a busy machine kept from its records comes to rest as any other.
        """
        if id(outcome) in self._held:
            self._held.pop(id(outcome))[1]()

    def begin(self, starts: Mapping[str, Start]) -> None:
        """Start working through these in the background, those that take longest first."""
        for name, start in sorted(starts.items(), key=lambda each: not each[1].locked):
            self._outcomes[name] = self._pool.submit(self.run, start)

    def outcome(self, name: str) -> Outcome:
        """What came of a start that was begun; what run() raised is raised here."""
        return self._outcomes[name].result()

    def run(self, start: Start) -> Outcome:
        """Start the library on a fresh table; again, and on another, when it lost a lease.

        A lone worker has nobody to lose a lease to: where it does, this machine kept it from
        renewing in time, and the repeated records say nothing about the table. With each attempt
        its leases hold longer; the last one counts whatever happened. A start with a record is not
        run (`starts`). The same holds where the library lost the end of a shard (LOSES_ENDS).
        """
        for attempt in range(1, ATTEMPTS):
            outcome = self._once(replace(start, longer=start.longer * attempt))
            if not outcome.robbed and not _without_end(start, outcome):
                return outcome
        return self._once(replace(start, longer=start.longer * ATTEMPTS))

    def _once(self, start: Start) -> Outcome:
        table = f"{start.case.name}-{next(self._serial)}"
        with ServedStream(start.case, *start.beside) as stream:
            if start.items:
                self.dynamodb.seed(table, start.items, indexed=start.release.startswith("3."))
            self._seed_side_tables(table, start)
            if start.mend is not None:
                start.mend(self.dynamodb.address, table, stream)
            if start.meanwhile is not None:
                return self._observe(table, stream, start)
            return self._recorded(table, stream, start)

    def _recorded(self, table: str, stream: ServedStream, start: Start) -> Outcome:
        records, digest = self.records(start.release), self._digest(table, start)

        def hold(outcome: Outcome, record: dict[str, Any]) -> None:
            self._held[id(outcome)] = (outcome, lambda: records.add(digest, record))

        return recorded_or_run(
            records,
            digest,
            lambda: self._observe(table, stream, start),
            read=outcome_of_record,
            keep=lambda outcome: self._record(table, start, outcome),
            hold=hold,
            differences=contradictions,
        )

    def _record(self, table: str, start: Start, outcome: Outcome) -> dict[str, Any] | None:
        if outcome.robbed or not outcome.settled:
            return None
        cases = (start.case, *start.beside)
        payloads = {n: p for case in cases for held in case.records.values() for n, p, _ in held}
        leases = self.dynamodb.items_if_any(table)
        record = record_of(f"{start.case.name}/{start.initial}", outcome, leases, payloads)
        return {**record, "runner": digest_of_runner(start.release)}

    def _digest(self, table: str, start: Start) -> str:
        streams = [
            {"stream": case.stream, "live": [list(case.live.shards), case.live.n], "now": case.now}
            for case in (start.case, *start.beside)
        ]
        options = {"initial": start.initial, "streams": ",".join(start.streams)}
        return digest_of_start(start.release, options, self._tables(table, start), streams)

    def _tables(self, table: str, start: Start) -> dict[str, list[dict[str, Any]]]:
        """What the library's tables hold at this moment, by the name that they have for it."""
        names = {"leases": table}
        if start.release in WITH_SIDE_TABLES or start.case.side:
            names |= {name: f"{table}-{name}" for name in SIDE_KEYS}
        return {name: self.dynamodb.items_if_any(each) for name, each in names.items()}

    def _seed_side_tables(self, table: str, start: Start) -> None:
        """The library makes those that it misses, and takes its time."""
        if start.case.side or start.release in WITH_SIDE_TABLES:
            for name, key in SIDE_KEYS.items():
                items = start.case.side.get(name, ())
                self.dynamodb.seed_side_table(f"{table}-{name}", key, items)

    def _observe(self, table: str, stream: ServedStream, start: Start) -> Outcome:
        """Start the library in the process of its release."""
        with self._processes.lent(start.release) as library:
            return self._observed(library, table, stream, start)

    def _observed(
        self, library: Library, table: str, stream: ServedStream, start: Start
    ) -> Outcome:
        """Start the library, until nothing moves, then after the live records; then stop."""
        began, pace = time.monotonic(), PACES[start.release].for_streams(len(start.streams))
        pace = pace.longer(start.longer)
        counters = self._counters(table) if start.meanwhile and start.items else {}
        log = library.start(table, {
            **self._settings(table, stream, start), "failover": str(pace.intervals["failover"])
        })  # fmt: skip
        running = Running(self.dynamodb, table, stream, log, pace, start.patience, counters)
        try:
            if start.meanwhile is not None:
                start.meanwhile(running)
            settled = log.wait(lambda log: log.still(pace.audits, pace.seconds), start.patience)
            log.wait(lambda log: started(log, start.awaits), AWAITED_SECONDS)
            put, audits = time.time(), min(1, pace.audits)
            stream.put_live()
            log.wait(read_on(stream), READ_ON_SECONDS)
            log.wait(lambda log: came(log, start.awaits), AWAITED_SECONDS)
            settled &= log.wait(
                lambda log: log.still(audits, LIVE_SECONDS * start.longer, since=put),
                start.patience,
            )
            return outcome_of(log, settled=settled, seconds=time.monotonic() - began)
        finally:
            self._stop(library, table)

    @contextmanager
    def second(self, running: Running, start: Start, table: str) -> Iterator[Log]:
        """Another application, on the stream of one that runs, until the end of the context."""
        with self._processes.lent(start.release) as library:
            settings = self._settings(table, running.stream, start)
            failover = str(running.pace.intervals["failover"])
            try:
                yield library.start(table, {**settings, "failover": failover})
            finally:
                self._stop(library, table)

    def _counters(self, table: str) -> dict[str, str]:
        items = self.dynamodb.items(table)
        counters = {item["leaseKey"]["S"]: item.get("leaseCounter", {}).get("N") for item in items}
        return {key: counter for key, counter in counters.items() if counter}

    def _settings(self, table: str, stream: ServedStream, start: Start) -> dict[str, str]:
        settings = {
            "kinesis": stream.address,
            "dynamodb": self.dynamodb.address,
            "stream": stream.name,
            "table": table,
            "worker": WORKER,
            "initial": _position(start.initial, start.case),
        }
        return settings | ({"streams": ",".join(start.streams)} if start.streams else {})

    @staticmethod
    def _stop(library: Library, run: str) -> None:
        """Leave no application polling a stream that is about to close."""
        library.stop(run)
        library.log(run).wait(lambda log: log.ended(), 30)


def _without_end(start: Start, outcome: Outcome) -> bool:
    """Whether the run began a closed shard and never ended it, by the library's own race."""
    if outcome.recorded or outcome.died or start.release not in LOSES_ENDS:
        return False
    closed = {shard_name(s["id"]) for s in start.case.stream["shards"] if "close" in s}
    begun, ended = (
        {event.members["shard"] for event in outcome.log.of(kind)} for kind in ("INIT", "SHARD_END")
    )
    return not (begun & closed) <= ended


def read_on(stream: ServedStream) -> Callable[[Log], bool]:
    """Whether each shard that was read until now has been read some times more, or all is over.

    A busy machine can keep a worker from its next read for longer than it takes to seem still.
    """
    calls = len(stream.fake.calls)
    before = stream.reads()

    def read_on(log: Log) -> bool:
        now = stream.reads(since=calls)
        return log.ended() or all(now[shard] >= READS for shard in before)

    return read_on


def _position(initial: str, case: Case) -> str:
    """The case's word for the application's initial position, as the runner takes it."""
    kind, _, offset = initial.partition(":+")
    if kind != "AT_TIMESTAMP":
        return initial
    return f"AT_TIMESTAMP:{(case.stream['created'] + int(offset)) * 1000}"
