"""awslabs' connector (format ``aws-kinesis``, GetRecords): KinesisV2MicrobatchStream, DSv2."""

from __future__ import annotations

from collections.abc import Callable

from tests.proof.reference.spark_files import DiedError
from tests.proof.reference.spark_log import Log
from tests.proof.reference.spark_offset import Offset, Position, offset
from tests.proof.reference.spark_qubole import Batch, CrashedError
from tests.proof.reference.spark_release import Options, Release, followed, start_of
from tests.proof.reference.spark_stream import Page, Source

FAMILY = "awslabs"
PAGE = 10_000  # getRecords.numberOfRecordsPerFetch
BOUNDING = ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "SHARD_END")


class Awslabs:
    """One source of a running query; ``now`` is the clock in epoch seconds."""

    def __init__(
        self,
        source: Source,
        log: Log,
        release: Release,
        options: Options,
        now: Callable[[], float],
    ) -> None:
        self.source, self.log, self.release, self.options = source, log, release, options
        self.now = now
        self.fails = release.fails if options.fails is None else options.fails
        self.avoids = release.avoids if options.avoids is None else options.avoids
        self.tolerant = release.tolerates and not self.fails
        self.start = start_of(options.starting, int(now() * 1000))
        self.current: Offset | None = None
        self.described: float | None = None

    def recover(self, start: str | None, end: str) -> None:
        """A DSv2 source is not asked about a committed batch."""

    def latest(self, start: str | None) -> str:
        """LatestOffset: the ends of the batch of ``start``, and whatever shards are new."""
        before = offset(start, FAMILY) if start else Offset(-1, self.source.stream, {})
        entries = (self.log.get(before.batch) if before.batch >= 0 else None) or {}
        if before.batch >= 0 and not entries:
            raise DiedError(f"unable to fetch committed metadata of batch {before.batch}")
        previous = [entries.get(shard, position) for shard, position in before.places.items()]
        places = previous
        if before.batch < 0 or self.described is None or self._due(self.described):
            shards = self.source.shards()
            self.described = self.now()
            places = followed(shards, previous, self.start, self.fails, self.release.ends_closed)
        if self.current is None or before.batch < 0 or self._worth(previous, places):
            found = {position.shard: position for position in places if not position.ended}
            self.current = Offset(before.batch + 1, self.source.stream, found)
        return self.current.text(FAMILY, self.release.scala)

    def run(self, start: str | None, end: str, tasks: int | None = None) -> Batch:
        """PlanInputPartitions and the readers; after so many ``tasks`` it crashes."""
        batch = offset(end, FAMILY)
        if start is not None and offset(start, FAMILY).batch > batch.batch:
            raise DiedError("assertion failed: the batch before is later")
        entries = self.log.get(batch.batch) or {}
        places = [position for position in batch.places.values() if _runs(position, entries)]
        self.current = self.current or batch
        delivered: Batch = {}
        for position in sorted(places, key=lambda one: one.shard)[:tasks]:
            delivered[position.shard], ended = self._read(position, entries.get(position.shard))
            self.log.add(self.current.batch, ended)
        if tasks is not None:
            raise CrashedError
        return delivered

    def committed(self) -> None:
        """MicroBatchStream.commit; its maintenance keeps the newest batches of the log."""
        if held := self.log.ids():
            self.log.purge(held[-1] - self.options.retain + 1)

    def _due(self, described: float) -> bool:
        return described + self.options.interval < self.now()

    def _worth(self, previous: list[Position], places: list[Position]) -> bool:
        """Whether avoidEmptyBatches lets a batch be."""
        if not self.avoids or any(position.ended or not position.last for position in places):
            return True
        if {position.shard for position in previous} != {position.shard for position in places}:
            return True
        return any(map(self._has_records, places))

    def _has_records(self, position: Position) -> bool:
        try:
            iterator = self.source.iterator(
                position.shard, position.kind, position.value, tolerant=self.tolerant
            )
            if iterator is None:
                return False  # the client throws on a missing iterator, and that is ignored
            page = self.source.page(iterator, 1)
            while not page.records and page.behind > 0 and page.following is not None:
                page = self.source.page(page.following, 1)
        except DiedError:
            return False
        idle = self.release.idle_latest and position.kind == "AT_TIMESTAMP"
        return bool(page.records) or page.behind > 0 or idle

    def _read(self, position: Position, stop: Position | None) -> tuple[list[str], Position]:
        """One reader: what it delivers until ``stop``, and the entry that it leaves."""
        iterator = self._first(position)
        payloads: list[str] = []
        last = ""
        while iterator is not None:
            page = self.source.page(iterator, PAGE)
            for number, payload in page.records:
                payloads.append(payload)
                last = number
                if _reached(number, stop) or len(payloads) >= self.options.limit:
                    return payloads, Position(position.shard, "AFTER_SEQUENCE_NUMBER", last)
            iterator = page.following
            if iterator is not None and _idle(page):
                return payloads, self._left(position, last)
        return payloads, Position(position.shard, "SHARD_END")

    def _first(self, position: Position) -> str | None:
        again = (
            position.kind == "AFTER_SEQUENCE_NUMBER" and position.sub != -1 and not position.last
        )
        kind = "AT_SEQUENCE_NUMBER" if again else position.kind
        return self.source.iterator(position.shard, kind, position.value, tolerant=self.tolerant)

    def _left(self, position: Position, last: str) -> Position:
        """The entry of a shard that is still open (updateMetadata)."""
        if last:
            return Position(position.shard, "AFTER_SEQUENCE_NUMBER", last)
        if self.release.idle_latest and position.kind == "AT_SEQUENCE_NUMBER":
            return Position(
                position.shard, "AFTER_SEQUENCE_NUMBER", position.value, position.sub, position.last
            )
        if self.release.idle_latest and position.kind == "AT_TIMESTAMP":
            return Position(position.shard, "LATEST")
        return position


def _runs(position: Position, entries: dict[str, Position]) -> bool:
    """A batch with a log is one that crashed: only shards that had come to something run again."""
    if position.ended:
        return False
    return not entries or (position.shard in entries and entries[position.shard].kind in BOUNDING)


def _reached(number: str, stop: Position | None) -> bool:
    return stop is not None and stop.kind == "AFTER_SEQUENCE_NUMBER" and stop.value == number


def _idle(page: Page) -> bool:
    """Nothing came and nothing is to come: the reader's wait runs out."""
    return not page.records and page.behind == 0
