"""Takes a snapshot: reads a stream and one consumer's rows together.

A saved snapshot takes the place of the stream and the store: everything can be judged, nothing
written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.at_once import Started
from reshardctl.consumers.locator import Locator
from reshardctl.consumers.registry import consumer_of
from reshardctl.consumers.sequence_numbers import (
    BIRTH_LEAD,
    CLOCKS_APART,
    Origin,
    born_later,
    origin,
    sample,
    to_verify,
)
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import CannotTell, ReshardError, UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Count,
    Cut,
    Image,
    Interval,
    PositionAtTime,
    Probe,
    ShardId,
    Step,
    decode,
)
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.base import Store

NUMBERS_ASKED = 5
"""Most sequence numbers of which a reading command asks Kinesis whether they are this stream's,
unless some are and some are not."""
STALE = 1.0
"""Seconds: as long as the first pause between two listings of a stream that is being resharded."""
STREAMS_ASKED = 20
"""Most other streams of the account that are asked whether such a number is theirs."""


class Stream(Protocol):
    """The calls that a snapshot makes to Kinesis."""

    def lineage(self, stream: str) -> Lineage:
        """A consistent listing, or an error."""

    @property
    def records(self) -> Records | None:
        """The calls that read records; `None` where a snapshot stands in its place."""

    def probe(self, stream: str, shard: ShardId, since: Cut) -> Probe:
        """A bounded read."""

    def takes(
        self, stream: str, numbers: Iterable[int], iterator: str
    ) -> Mapping[int, bool | None]:
        """Whether Kinesis takes each sequence number, `None` if it cannot be told."""

    def streams(self) -> Mapping[str, float] | None:
        """The account's streams: ARN → creation time; `None` if they cannot be told."""


class Records(Protocol):
    """The calls to Kinesis that a snapshot in its place does not have."""

    def probes(
        self, stream: str, places: Iterable[tuple[ShardId, Cut]], *, limit_records: int = ...
    ) -> Mapping[ShardId, Probe]:
        """Bounded reads from each cut."""

    def counts(self, stream: str, intervals: Iterable[Interval]) -> Mapping[Interval, Count]:
        """The number of records in each interval."""

    def places(
        self, stream: str, opened: Mapping[ShardId, float | None], time: float
    ) -> Mapping[ShardId, PositionAtTime | None]:
        """Each shard's position at a time (Unix seconds); `None` if it was not reached."""


class Overlaid(Struct, frozen=True):
    """A stream with a listing of its own: one for several consumers, or of a pinned creation time.

    beneath: what everything else is asked of.
    """

    beneath: Stream
    lineage: Callable[[str], Lineage]

    @property
    def records(self) -> Records | None:
        """The calls that read records, as beneath."""
        return self.beneath.records

    def probe(self, stream: str, shard: ShardId, since: Cut) -> Probe:
        """A bounded read."""
        return self.beneath.probe(stream, shard, since)

    def takes(
        self, stream: str, numbers: Iterable[int], iterator: str
    ) -> Mapping[int, bool | None]:
        """Whether Kinesis takes each sequence number."""
        return self.beneath.takes(stream, numbers, iterator)

    def streams(self) -> Mapping[str, float] | None:
        """The account's streams."""
        return self.beneath.streams()


class Ports(Struct, frozen=True):
    """What a use case reads from, writes to and waits by, for one consumer.

    clock: Unix seconds. sleep: waits that many seconds. interrupted: whether the user asked to
    stop.
    """

    kinesis: Stream
    store: Store
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    interrupted: Callable[[], bool] = lambda: False


def take(
    kinesis: Stream, medium: Store, stream: str, locator: Locator, clock: Callable[[], float]
) -> Snapshot:
    """Reads the stream and the store at the same time.

    Where the listing ended STALE seconds or more after the rows were asked for, and the stream may
    have been resharded meanwhile, the rows are read again: they belong to the shards as they were.
    If both fail, the failure of the stream is raised.
    """
    listing = Started(lambda: (kinesis.lineage(stream), clock()))
    try:
        store = medium.identity()
        listing.check()
        began, images = clock(), medium.read()
    except ReshardError:
        listing.result()
        raise
    lineage, listed = listing.result()
    if listed - began >= STALE and _resharded_since(lineage, began - CLOCKS_APART):
        images = medium.read()
    made_at = medium.made_at() if hasattr(medium, "made_at") else None
    snapshot = Snapshot(locator, lineage, tuple(images), store, clock(), made_at=made_at)
    return verified_by_sample(snapshot, kinesis)


def verified_by_sample(snapshot: Snapshot, kinesis: Stream) -> Snapshot:
    """The same snapshot with Kinesis's word on a few of its numbers.

    On all of them where some are this stream's and some another's. Rows must not be judged without.
    """
    texts = tuple(_stored_texts(snapshot))
    snapshot = verified(snapshot, kinesis, texts, NUMBERS_ASKED)
    origins = {origin(snapshot.lineage, text) for text in texts}
    shared = {Origin.OWN, Origin.ELSEWHERE} <= origins
    return verified(snapshot, kinesis, texts) if shared else snapshot


def _resharded_since(lineage: Lineage, since: float) -> bool:
    """Whether a shard may have opened since then, by the clock of Kinesis."""
    opened = map(lineage.opened_at, lineage)
    return any(time is None or time >= since for time in opened)


def verified(
    snapshot: Snapshot, kinesis: Stream, texts: Iterable[str], most: int | None = None
) -> Snapshot:
    """The same snapshot with Kinesis's word on numbers of which nothing else tells whose they are.

    Where some are another stream's, the streams of the account are looked at, too. Nothing is asked
    where the stream is a snapshot. most: how many numbers at most; `None` for all.
    """
    stored = tuple(texts)
    wanted = to_verify(snapshot.lineage, stored).keys() - snapshot.asked.keys()
    if numbers := sample(wanted, len(wanted) if most is None else most):
        arn, iterator = snapshot.lineage.stream.arn, snapshot.locator.spec.iterator
        if asked := kinesis.takes(arn, numbers, iterator):
            snapshot = replace(snapshot, asked={**snapshot.asked, **asked})
    if snapshot.born or not snapshot.others_known:
        return snapshot
    if not (foreign := _foreign(snapshot.lineage, stored)):
        return snapshot
    born = streams_of(snapshot.lineage, kinesis, foreign)
    if born is None:
        return replace(snapshot, others_known=False)
    if not born:
        return snapshot
    snapshot = replace(snapshot, born=born)
    return replace(snapshot, alike=alike(snapshot, kinesis, tuple(_stored_texts(snapshot))))


def streams_of(
    lineage: Lineage, kinesis: Stream, foreign: Mapping[int, int]
) -> Mapping[int, tuple[str, ...]] | None:
    """Epochs of numbers that are not this stream's → ARN of the account's stream that they are of.

    A stream's first numbers carry the time of its creation; of several that were created in the
    same second, they may be any one's. For later numbers Kinesis is asked about each stream: first
    those that were created in the same second as this one, whose first numbers look like this
    one's, then the youngest. `None` if the account's streams cannot be told. foreign: epoch → one
    of its numbers.
    """
    if not foreign:
        return {}
    every = kinesis.streams()
    if every is None:
        return None
    others = {arn: created for arn, created in every.items() if arn != lineage.stream.arn}
    created_in: dict[int, tuple[str, ...]] = {}
    for arn, created in sorted(others.items()):
        epoch = int(created) - BIRTH_LEAD
        created_in[epoch] = (*created_in.get(epoch, ()), arn)
    born = {epoch: created_in[epoch] for epoch in foreign if epoch in created_in}
    same_second = same_second_streams(lineage, kinesis)
    ordered = sorted(others, key=lambda arn: (arn not in same_second, -others[arn]))
    for arn in ordered[:STREAMS_ASKED]:
        left = [
            number for epoch, number in foreign.items()
            if epoch not in born and others[arn] - BIRTH_LEAD <= epoch
        ]
        answers = _asked_elsewhere(kinesis, arn, left[:NUMBERS_ASKED])
        born |= {epoch: (arn,) for epoch, number in foreign.items() if answers.get(number)}
    return born


def alike(snapshot: Snapshot, kinesis: Stream, texts: Sequence[str]) -> tuple[str, ...]:
    """The other streams whose numbers would look like those that are stored.

    None where a key names this stream, where a number is of a later shard of it and none is of such
    another stream, or where ListStreams is not allowed. texts: every stored position.
    """
    lineage, spec = snapshot.lineage, snapshot.locator.spec
    if any(spec.names_stream(row, lineage.stream) for row in snapshot.images):
        return ()
    same_second = same_second_streams(lineage, kinesis)
    if any(born_later(lineage, text) for text in texts):
        theirs = {arn for arns in snapshot.born.values() for arn in arns}
        return same_second if theirs & {*same_second} else ()
    return same_second


def same_second_streams(lineage: Lineage, kinesis: Stream) -> tuple[str, ...]:
    """ARNs of the account's other streams that were created in the same second as this one.

    Empty where ListStreams is not allowed.
    """
    own, every = lineage.stream, kinesis.streams() or {}
    return tuple(sorted(
        arn for arn, created in every.items()
        if arn != own.arn and int(created) == int(own.created)
    ))


def _asked_elsewhere(
    kinesis: Stream, arn: str, numbers: Sequence[int]
) -> Mapping[int, bool | None]:
    """What another stream says of these numbers, nothing where it cannot be asked."""
    try:
        return kinesis.takes(arn, numbers, "AFTER_SEQUENCE_NUMBER")
    except ReshardError:
        return {}


def _stored_texts(snapshot: Snapshot) -> Iterable[str]:
    """The positions as the consumer reads them.

    None where it does not take the store for its own: an error as soon as the rows are judged.
    """
    consumer = consumer_of(snapshot.locator)
    try:
        checkpoint = consumer.parse(snapshot.images, snapshot.lineage.stream)
    except ReshardError:
        return ()
    return consumer.texts(checkpoint).values()


def _foreign(lineage: Lineage, texts: Iterable[str]) -> dict[int, int]:
    """The epochs of the numbers that are not this stream's, each with one of them."""
    foreign = (Origin.EARLIER, Origin.ELSEWHERE)
    decoded = ((decode(text), text) for text in texts if origin(lineage, text) in foreign)
    return {fields.epoch: int(text) for fields, text in decoded if fields is not None}


def probed(
    snapshot: Snapshot, kinesis: Stream, places: Iterable[tuple[ShardId, Cut]]
) -> Snapshot:
    """The same snapshot with bounded reads from these cuts."""
    arn = snapshot.lineage.stream.arn
    probes = {
        shard: kinesis.probe(arn, shard, since) for shard, since in places
    } if kinesis.records is None else kinesis.records.probes(arn, places)
    return replace(snapshot, probes={**snapshot.probes, **probes})


def first_records(
    snapshot: Snapshot, kinesis: Stream, places: Iterable[tuple[ShardId, Cut]]
) -> Snapshot:
    """The same snapshot with the first record after each of these cuts, for metrics.

    Nothing is read where the stream is a snapshot.
    """
    if kinesis.records is None:
        return snapshot
    read = kinesis.records.probes(snapshot.lineage.stream.arn, places, limit_records=1)
    return replace(snapshot, first_records={**snapshot.first_records, **read})


def counted(snapshot: Snapshot, kinesis: Stream, intervals: Iterable[Interval]) -> Snapshot:
    """The same snapshot with the records of these intervals counted.

    UsageError if the stream is a snapshot.
    """
    if kinesis.records is None:
        raise UsageError(
            "--count has to read records, which neither a snapshot nor files hold",
            "name the consumer and --stream instead",
        )
    counts = kinesis.records.counts(snapshot.lineage.stream.arn, intervals)
    return replace(snapshot, counts={**snapshot.counts, **counts})


class FrozenStream:
    """Kinesis as it was. Only what was probed then can be answered now."""

    records = None

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def lineage(self, stream: str) -> Lineage:
        """The listing. UsageError if another stream is asked for."""
        kept = self._snapshot.lineage.stream
        if stream not in ("", kept.name, kept.arn):
            raise UsageError(
                f"what is given is of stream {kept.name}, not of {stream}", "leave --stream out"
            )
        return self._snapshot.lineage

    def probe(self, stream: str, shard: ShardId, since: Cut) -> Probe:  # noqa: ARG002
        """The probe that was made from this cut. CannotTell if none was."""
        probe = self._snapshot.probes.get(shard)
        if probe is None or probe.since != since:
            raise CannotTell(
                f"the snapshot has no record of {shard} from there on",
                "take one with --probe, or judge it without",
            )
        return probe

    def takes(
        self, stream: str, numbers: Iterable[int], iterator: str  # noqa: ARG002
    ) -> dict[int, bool | None]:
        """What Kinesis said of those of these numbers that it was asked about."""
        asked = self._snapshot.asked
        return {number: asked[number] for number in numbers if number in asked}

    def streams(self) -> None:
        """Others cannot be told: a snapshot holds one stream."""


class ListedStream(FrozenStream):
    """A stream of which the listing alone is known: whose a number is cannot be asked."""

    def takes(
        self, stream: str, numbers: Iterable[int], iterator: str  # noqa: ARG002
    ) -> dict[int, bool | None]:
        """Of no number it can be told."""
        return dict.fromkeys(numbers)


class FrozenStore:
    """The rows as they were."""

    max_writes = 0

    def __init__(self, snapshot: Snapshot) -> None:
        self._rows = {image.key: image for image in snapshot.images}
        self._store = snapshot.store

    def identity(self) -> Mapping[str, str]:
        """The identity of the store that the snapshot was taken of."""
        return self._store

    def read(self) -> list[Image]:
        """Every row."""
        return [self._rows[key] for key in sorted(self._rows)]

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows."""
        return {key: self._rows.get(key) for key in keys}

    def write(self, step: Step, token: str) -> WriteResult:
        """Always raises UsageError."""
        raise UsageError(
            f"a snapshot cannot be written to ({step.title}, {token})",
            "name the store itself: reshardctl fix CONSUMER --stream STREAM",
        )
