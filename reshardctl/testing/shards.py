"""One shard of a fake stream and the records in it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from operator import attrgetter

from reshardctl.testing import sequence

_number = attrgetter("number")


def shard_id(number: int) -> str:
    """The name of the shard with this index."""
    return f"shardId-{number:012d}"


@dataclass(frozen=True, slots=True)
class Record:
    """One record. `number` is its sequence number, `arrival` epoch seconds."""

    number: int
    payload: bytes
    key: str
    arrival: float


@dataclass(slots=True)
class Shard:
    """A shard and its records, oldest first.

    `opened` and `closed` are epoch seconds; `born` and `ended` the stream's generations of the same
    moments: a listing "as of" a generation shows what had happened until then.
    """

    number: int
    low: int
    high: int
    """First and last hash key, both inclusive."""
    parents: tuple[int, ...]
    epoch: int
    """The epoch of the next record's number; see `move_epoch`."""
    opened: float
    born: int = 0
    closed: float | None = None
    ended: int | None = None
    withdrawn: bool = False
    """Neither listed nor readable any more, whatever its age."""
    records: list[Record] = field(default_factory=list)
    index: int = 0
    """Number of records ever put, trimmed ones included."""
    starting: int = 0
    ending: int | None = None
    epochs: tuple[int, ...] = ()
    """All epochs in its numbers, oldest first."""
    last: int = 0
    """The number of the newest record, or the start's."""
    reads: tuple[float, ...] = ()
    """Times of the last GetRecords calls, for the read limit."""

    def __post_init__(self) -> None:
        self.starting = int(sequence.start(self.number, self.epoch))
        self.last = self.starting
        self.epochs = (self.epoch,)

    @property
    def id(self) -> str:
        """The shard id, `shardId-000000000007`."""
        return shard_id(self.number)

    @property
    def tip(self) -> int:
        """The greatest number so far, the start's and the end's included."""
        return self.last if self.ending is None else self.ending

    def put(self, payload: bytes, key: str, now: float, arrival: float) -> Record:
        """Append a record that is written in the second of `now`."""
        self.index += 1
        second = max(int(now), self.epoch)
        number = sequence.SequenceNumber(self.epoch, self.index, second, self.number)
        record = Record(int(number), payload, key, arrival)
        self.records.append(record)
        self.last = record.number
        return record

    def close(self, now: float, generation: int) -> int:
        """End the shard; returns the second that its EndingSequenceNumber carries."""
        second = max(int(now), self.epoch)
        self.closed = now
        self.ended = generation
        self.ending = int(sequence.end(self.number, self.epoch, second))
        return second

    def move_epoch(self, second: int) -> None:
        """Give later numbers this epoch, as AWS does when a shard is moved.

        Seen in two public streams (PUT-Firehose-aEhWz 2022, a Japanese walk-through of 2017).
        """
        if second <= self.epoch:
            raise ValueError("an epoch only grows")
        self.epoch = second
        self.epochs += (second,)

    def trim(self, horizon: float) -> None:
        """Drop the oldest records that arrived before `horizon`."""
        gone = 0
        for record in self.records:
            if record.arrival >= horizon:
                break
            gone += 1
        if gone:
            del self.records[:gone]

    def since(self, number: int) -> int:
        """The index in `records` of the first record at or after `number`."""
        return bisect_left(self.records, number, key=_number)
