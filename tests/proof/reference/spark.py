"""An executable model of a Structured Streaming query on a Kinesis connector, and of its restart.

Spark's side is MicroBatchExecution (apache/spark, branches 3.3 to 4.1: populateStartOffsets,
constructNextBatch, runBatch): which batch comes next, the comparison of offsets by their text, and
the logs. The sources' sides are in spark_qubole.py, spark_awslabs.py and spark_lineage.py. All
was written from their sources, knows nothing of the package but its FakeKinesis, and parses
directories for itself; tests/proof/reference/test_spark_runs.py holds it against what the real ones
did.

Left out: enhanced fan-out, aggregated records, watermarks, state stores, async progress.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from reshardctl.testing import FakeKinesis
from tests.proof.reference.spark_awslabs import Awslabs
from tests.proof.reference.spark_files import (
    COMMIT,
    CONF,
    DiedError,
    Logged,
    MetadataLog,
    logged,
    put,
    stamped,
)
from tests.proof.reference.spark_lineage import Lineage
from tests.proof.reference.spark_log import FolderLog, Log
from tests.proof.reference.spark_qubole import Batch, CrashedError, Qubole
from tests.proof.reference.spark_release import KNOWN, Options
from tests.proof.reference.spark_stream import Source

QUERY_ID = '{"id":"69880f2a-f006-496b-9513-9120bf42d838"}'
LINEAGE = "kinesis-lineage"
PACE = 2.0  # seconds between triggers: longer than describeShardInterval's default
QUIET = 4
MOST_TRIGGERS = 400


class Connector(Protocol):
    """A source as Spark drives it; offsets are their texts."""

    def recover(self, start: str | None, end: str) -> None:
        """Told, not run, when the newest batch is committed (V1 sources)."""

    def latest(self, start: str | None, /) -> str:
        """The offset of the next batch."""

    def run(self, start: str | None, end: str, tasks: int | None = None) -> Batch:
        """Read a batch."""

    def committed(self) -> None:
        """The batch before the one just planned is done with."""


@dataclass(slots=True)
class Sink:
    """Where batches go. ``log`` is a file sink's ``_spark_metadata``: the batches that it holds."""

    batches: list[tuple[int, Batch]] = field(default_factory=list)
    log: list[int] | None = None

    def add(self, batch: int, rows: Batch) -> None:
        """A file sink takes no batch twice, and cannot be read when one is missing."""
        if self.log is not None:
            if self.log and batch <= self.log[-1]:
                return
            if batch != (self.log[-1] + 1 if self.log else 0):
                raise DiedError(f"_spark_metadata/{batch - 1} doesn't exist")
            self.log.append(batch)
        self.batches.append((batch, rows))


class Query:
    """One run of a query on a checkpoint directory; ``key`` names the Kinesis source in it."""

    def __init__(
        self,
        root: Path,
        connector: Connector,
        key: str = "0",
        sink: Sink | None = None,
        now: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.root, self.now = root, now
        self.offsets = MetadataLog(root / "offsets")
        self.commits = MetadataLog(root / "commits")
        self.connector, self.key = connector, key
        self.sink = sink or Sink()
        self.batch = 0
        self.planned = False
        self.newest = Logged("v1", CONF, {key: None})
        self.done: str | None = None
        self.watermark = True

    def start(self) -> None:
        """Find the batch to go on with (populateStartOffsets)."""
        ids = self.offsets.ids()
        if not ids:
            put(self.root / "metadata", QUERY_ID)
            return
        self.batch, self.planned = ids[-1], True
        self.newest = self._logged(self.batch)
        if self.key not in self.newest.lines:
            raise DiedError(f"the checkpoint has no source {self.key}")
        self.done = self._logged(self.batch - 1).lines[self.key] if self.batch else None
        self.watermark = bool(self.newest.metadata)
        if (committed := self.commits.ids()) and committed[-1] == self.batch:
            if (end := self.newest.lines[self.key]) is not None:
                self.connector.recover(self.done, end)
            self.done = end
            self.batch, self.planned = self.batch + 1, False

    def trigger(self, tasks: int | None = None, *, commits: bool = True) -> Batch | None:
        """One trigger; None when it found nothing new.

        ``tasks`` ends the batch with CrashedError after so many shards; without ``commits`` the
        batch is read and handed over, and the driver dies before the commit log is written.
        """
        if not self.planned and not self._plan():
            return None
        end = self.newest.lines[self.key]
        rows: Batch = {}
        if end is not None and end != self.done:
            rows = self.connector.run(self.done, end, tasks)
        self.sink.add(self.batch, rows)
        if not self.watermark:
            raise DiedError("NullPointerException: no WatermarkTracker")
        if not commits:
            raise CrashedError
        self.commits.add(self.batch, COMMIT)
        self.done, self.planned = end, False
        self.batch += 1
        return rows

    def _plan(self) -> bool:
        """Ask for the next offset, and log it when its text is another (constructNextBatch)."""
        found = self.connector.latest(self.newest.lines[self.key])
        if found == self.done:
            return False
        metadata = stamped(self.newest.metadata, self.now())
        self.newest = replace(self.newest, metadata=metadata).with_line(self.key, found)
        self.offsets.add(self.batch, self.newest.text())
        if self.batch:
            self._logged(self.batch - 1)
            self.connector.committed()
        self.planned = True
        return True

    def purge(self, retain: int) -> None:
        """Drop what minBatchesToRetain does not keep."""
        if retain < self.batch:
            self.offsets.purge(self.batch - retain)
            self.commits.purge(self.batch - retain)

    def _logged(self, batch: int) -> Logged:
        text = self.offsets.get(batch)
        if text is None:
            raise DiedError(f"batch {batch} doesn't exist")
        return logged(text)


@dataclass(frozen=True, slots=True)
class Run:
    """What a start did: the batches that had rows, in order, and why it died if it did."""

    batches: list[tuple[int, Batch]]
    died: str | None

    @property
    def delivered(self) -> dict[str, list[str]]:
        """Payloads by shard id, in the order of delivery."""
        found: dict[str, list[str]] = {}
        for _, rows in self.batches:
            for shard, payloads in rows.items():
                found.setdefault(shard, []).extend(payloads)
        return {shard: payloads for shard, payloads in found.items() if payloads}

    @property
    def sizes(self) -> list[int]:
        """Rows of each batch."""
        return [sum(map(len, rows.values())) for _, rows in self.batches]


def connector_of(
    fake: FakeKinesis, stream: str, root: Path, release: str, options: Options, key: str = "0",
    log: Log | None = None,
) -> Connector:  # fmt: skip
    """A connector of a release on this checkpoint."""
    source = Source(fake.client(), stream)
    if release == LINEAGE:
        return Lineage(source, options, fake.clock.now)
    found = KNOWN[release]
    log = log or FolderLog(root / "sources" / key, found.family)
    made = Qubole if found.family == "qubole" else Awslabs
    return made(source, log, found, options, fake.clock.now)


def run(
    fake: FakeKinesis,
    stream: str,
    root: Path,
    release: str,
    options: Options,
    *,
    key: str = "0",
    triggers: int | None = None,
    live: Callable[[], None] | None = None,
    sink: Sink | None = None,
    log: Log | None = None,
) -> Run:
    """Start the query on the directory and let it run until nothing more comes.

    ``triggers`` bounds it (1 is Trigger.Once). ``live`` is called once, when nothing comes any
    more; then the query goes on. The directory changes as it would; the fake's clock moves.
    """
    sink = sink or Sink()
    connector = connector_of(fake, stream, root, release, options, key, log)
    query = Query(root, connector, key, sink, fake.clock.now)
    # kinesis-lineage admits a generation a batch, also where there is nothing to read.
    listed = fake.client().list_shards(StreamName=stream)["Shards"] if release == LINEAGE else ()
    patience = QUIET + len(listed)
    died = None
    try:
        query.start()
        _settle(fake, query, triggers, options.retain, patience)
        if live is not None:
            live()
            _settle(fake, query, triggers, options.retain, patience)
    except DiedError as error:
        died = str(error)
    return Run([(batch, rows) for batch, rows in sink.batches if any(rows.values())], died)


def _settle(
    fake: FakeKinesis, query: Query, triggers: int | None, retain: int, patience: int
) -> None:
    quiet = 0
    for _ in range(triggers or MOST_TRIGGERS):
        fake.clock.advance(PACE)
        rows = query.trigger()
        query.purge(retain)
        quiet = 0 if rows and any(rows.values()) else quiet + 1
        if quiet == patience:
            return
    if triggers is None:
        raise AssertionError("the query does not come to rest")
