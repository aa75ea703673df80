"""Qubole's connector (format ``kinesis``): KinesisSource and KinesisSourceRDD, a V1 source."""

from __future__ import annotations

from collections.abc import Callable

from tests.proof.reference.spark_files import DiedError
from tests.proof.reference.spark_log import Log
from tests.proof.reference.spark_offset import Offset, Position, offset
from tests.proof.reference.spark_release import Options, Release, followed, start_of
from tests.proof.reference.spark_stream import Source

FAMILY = "qubole"
PAGE = 10_000  # executor.maxRecordPerRead

Batch = dict[str, list[str]]
"""Payloads by shard id."""


class CrashedError(Exception):
    """The driver or the sink dies in the middle of a batch, because the test says so."""


class Qubole:
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
        self.start = start_of(options.starting, int(now() * 1000))
        self.current: Offset | None = None
        self.described: float | None = None

    def recover(self, start: str | None, end: str) -> None:
        """GetBatch of the last committed batch, which Spark calls at a restart and does not run."""
        self._batch(start, end)

    def latest(self, _start: str | None) -> str:
        """GetOffset: what comes next, from the connector's log; V1 is given no offset."""
        before = self.current.batch if self.current else -1
        previous = self._previous(before)
        places = previous
        if before < 0 or self.described is None or self._due(self.described):
            shards = self.source.shards()
            self.described = self.now()
            places = followed(shards, previous, self.start, self.fails, ends_closed=False)
        if not self.avoids or before < 0 or self._worth(places):
            found = {position.shard: position for position in places}
            self.current = Offset(before + 1, self.source.stream, found)
        assert self.current is not None
        return self.current.text(FAMILY, self.release.scala)

    def run(self, start: str | None, end: str, tasks: int | None = None) -> Batch:
        """Read every shard of the batch that has not ended; after so many ``tasks`` it crashes."""
        batch = self._batch(start, end)
        places = sorted((p for p in batch.places.values() if not p.ended), key=lambda p: p.shard)
        delivered: Batch = {}
        for position in places[:tasks]:
            delivered[position.shard], ended = self._read(position)
            self.log.add(batch.batch, ended)
        if tasks is not None:
            raise CrashedError
        return delivered

    def committed(self) -> None:
        """Source.commit, called when the next batch has been planned."""
        below = (self.current.batch if self.current else -1) - self.options.retain
        if below >= 0:
            self.log.purge(below)

    def _due(self, described: float) -> bool:
        return described + self.options.interval < self.now()

    def _batch(self, start: str | None, end: str) -> Offset:
        batch = offset(end, FAMILY)
        if start is not None and offset(start, FAMILY).batch > batch.batch:
            raise DiedError("assertion failed: the batch before is later")
        self.current = self.current or batch
        return batch

    def _previous(self, batch: int) -> list[Position]:
        if batch < 0:
            return []
        found = self.log.get(batch)
        if not found:
            raise DiedError(f"unable to fetch committed metadata of batch {batch}")
        return list(found.values())

    def _worth(self, places: list[Position]) -> bool:
        """Whether avoidEmptyBatches lets a batch be; its looks for new shards never find one."""
        return any(position.ended for position in places) or any(map(self._has_records, places))

    def _has_records(self, position: Position) -> bool:
        iterator = self.source.iterator(
            position.shard, position.kind, position.value, tolerant=False
        )
        assert iterator is not None
        page = self.source.page(iterator, 1)
        return bool(page.records) or page.behind > 0

    def _read(self, position: Position) -> tuple[list[str], Position]:
        """One task: what it delivers, and the entry that it leaves."""
        iterator = self.source.iterator(
            position.shard, position.kind, position.value, tolerant=not self.fails
        )
        payloads: list[str] = []
        last = ""
        while iterator is not None and len(payloads) <= self.options.limit:
            page = self.source.page(iterator, PAGE)
            payloads += [payload for _, payload in page.records]
            last = page.records[-1][0] if page.records else last
            iterator = page.following
            if iterator is None:
                return payloads, Position(position.shard, "SHARD_END")
            if page.behind == 0:
                break
        if last:
            return payloads, Position(position.shard, "AFTER_SEQUENCE_NUMBER", last)
        return payloads, position
