"""What is judged: a stream and one consumer's rows, read at one time, and what was seen before.

A watch gives the rows before and after, an earlier report or snapshot the positions that a store
has deleted since. KCL deletes finished leases, and starts children beside a parent whose lease is
missing. Afterwards both tables look the same; an earlier one distinguishes them.

Whose a stored number is, `consumers/sequence_numbers.py` decides; the words for it are here, with
the other stream's name where the account has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum

from msgspec import Struct, field
from msgspec.structs import force_setattr

from reshardctl.consumers.base import Contradiction, ShardOwner
from reshardctl.consumers.locator import Locator
from reshardctl.consumers.sequence_numbers import Origin, born_later
from reshardctl.errors import ReshardError, WrongStream
from reshardctl.lineage import Foreseen, Lineage
from reshardctl.model import (
    START,
    Count,
    Cut,
    Image,
    Interval,
    Probe,
    ShardId,
    at_number,
    decode,
    is_number,
    short,
)
from reshardctl.model.phrases import listed


class Movement(Struct, frozen=True):
    """What changed in one shard's row during the watch.

    owner: its owner at the end, "" for nobody. renewed: whether its owner gave a sign of life, or
    another took it. moved: whether its position changed.
    """

    owner: str
    renewed: bool
    moved: bool
    finished: bool = False


class Watched(Struct, frozen=True):
    """A watch.

    since, until: Unix seconds of the two readings. excluded: what no change over that time rules
    out, as text. shards: every shard's row that existed at the end. elsewhere: whether any other
    row gave a sign of life, such as a worker's, a lock, or another stream's. positions: Unix second
    in the position of each shard at the first reading, where it has one.
    """

    since: float
    until: float
    excluded: str
    shards: Mapping[ShardId, Movement]
    elsewhere: bool = False
    positions: Mapping[ShardId, float] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Length of the watch."""
        return self.until - self.since

    @property
    def runs(self) -> bool:
        """Whether anything of it gave a sign of life."""
        return self.elsewhere or any(shard.renewed for shard in self.shards.values())


def watched(
    before: Mapping[ShardId, ShardOwner],
    after: Mapping[ShardId, ShardOwner],
    since: float,
    until: float,
    excluded: str,
    elsewhere: bool = False,
) -> Watched:
    """Compares two readings; a row that is new was created by a running worker."""
    return Watched(since, until, excluded, {
        shard: _movement(before.get(shard), hold) for shard, hold in after.items()
    }, elsewhere)


def _movement(before: ShardOwner | None, after: ShardOwner) -> Movement:
    if before is None:
        return Movement(after.owner, True, True, after.finished)
    sign = (before.owner, before.sign) != (after.owner, after.sign) and bool(after.owner)
    moved = before.position != after.position
    return Movement(after.owner, sign or moved, moved, after.finished)


class Snapshot(Struct, frozen=True):
    """A stream with one consumer's rows.

    now: Unix seconds at which it was taken. store: the medium's identity. foreseen: the assumed
    reshards (preflight), `None` if the lineage is as listed. watched: what changed during a watch,
    `None` without one. first_records: reads of the first record after a position, for metrics; no
    finding rests on them. asked: sequence number → whether Kinesis takes it in the shard that it
    names; `None` where it may not be asked. born: epoch of numbers that are not this stream's → ARN
    of the stream of this account that they are of, or may be of. made_at: Unix seconds before which
    no row of the store was written, `None` if that is not known. others_known: whether the
    account's other streams could be looked at for these numbers, where there are any. alike: ARNs
    of the account's streams that were created in the same second, where no row tells which of them
    it is of; filled where a number is another stream's, and before a plan is written.
    """

    locator: Locator
    lineage: Lineage
    images: tuple[Image, ...]
    store: Mapping[str, str]
    now: float
    probes: Mapping[ShardId, Probe] = field(default_factory=dict)
    counts: Mapping[Interval, Count] = field(default_factory=dict)
    foreseen: Foreseen | None = None
    watched: Watched | None = None
    first_records: Mapping[ShardId, Probe] = field(default_factory=dict)
    asked: Mapping[int, bool | None] = field(default_factory=dict)
    born: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    made_at: float | None = None
    others_known: bool = True
    alike: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Tells the listing its time and Kinesis's answers.

        So no younger number counts as the stream's own, and none that Kinesis refuses.
        """
        taken = {number: told for number, told in self.asked.items() if told is not None}
        force_setattr(self, "lineage", self.lineage.as_of(self.now, taken, self.born))

    @property
    def verified(self) -> bool:
        """Whether Kinesis answered whose each number is that it was asked about."""
        return None not in self.asked.values()

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments that name the consumer and its stream to a command."""
        return (self.locator.text, "--stream", self.lineage.stream.name)


Whose = tuple[str, frozenset[tuple[str, str]]]
"""A stream's ARN and a store's identity."""
ENDED, FIRST = "SHARD_END", "TRIM_HORIZON"


def whose(snapshot: Snapshot) -> Whose:
    """Identity of the rows, whatever name they have in the report."""
    return snapshot.lineage.stream.arn, frozenset(snapshot.store.items())


class Trace(Enum):
    """What happened to a shard whose row is gone."""

    FINISHED = "its row was at its end"
    LOST = "its row was missing before its children were begun"
    STOOD = "its row stood somewhere in it"
    UNKNOWN = "nothing that tells"


class Earlier(Struct, frozen=True):
    """An earlier reading. taken: Unix seconds; positions: as the store spelled them, by shard."""

    taken: float
    positions: Mapping[ShardId, str]

    def trace(self, lineage: Lineage, shard: ShardId) -> Trace:
        """What it shows of a closed shard that has no row now."""
        raw, closed = self.positions.get(shard), lineage.closed_at(shard)
        was_closed = closed is not None and closed <= self.taken
        if raw is None:
            lost = was_closed and self._was_lost(lineage, shard)
            return Trace.LOST if lost else Trace.UNKNOWN
        if raw == ENDED:
            return Trace.FINISHED if was_closed else Trace.UNKNOWN
        return Trace.UNKNOWN if self.stood(shard) is None else Trace.STOOD

    def stood(self, shard: ShardId) -> Cut | None:
        """Its row's cut, if known; up to there the shard was read."""
        raw = self.positions.get(shard, "")
        if raw == FIRST:
            return START
        number, _, sub = raw.partition("/")
        known = is_number(number) and (not sub or sub.isdecimal())
        return at_number(number, int(sub or 0)) if known else None

    def _was_lost(self, lineage: Lineage, shard: ShardId) -> bool:
        """Whether it had no row and was to get none, and no descendant had begun.

        An unfinished ancestor would have created its row. An empty table proves nothing.
        """
        waits = any(
            self.positions[above] != ENDED
            for above in lineage.ancestors(shard) if above in self.positions
        )
        begun = any(map(self._begun, lineage.descendants(shard)))
        return bool(self.positions) and not waits and not begun

    def _begun(self, shard: ShardId) -> bool:
        return self.positions.get(shard, FIRST) != FIRST


FOLDERS = {"files": "", "s3files": "s3://"}
"""Medium whose rows are files of one folder → what comes before the folder's name."""


def without_position(snapshot: Snapshot) -> str:
    """That a store holds no position, with the address of the server that was read."""
    address = snapshot.store.get("arn", "")
    where = f" at {address}" if "://" in address else ""  # of a server: no ARN
    return f"{snapshot.locator.text}{where} was read, and holds no position"


@contextmanager
def located(locator: Locator) -> Iterator[None]:
    """Errors of the body begin with the folder that the locator names, if it names one."""
    try:
        yield
    except ReshardError as error:
        if locator.medium in FOLDERS:
            error.what = f"{FOLDERS[locator.medium]}{locator.target}: {error.what}"
        raise


NAMED = 5
"""Streams that an error names before it counts the rest."""


AMBIGUOUS = (
    "the store holds no sequence number, so nothing shows that its positions belong to this stream "
    "and not to an earlier one of its name or to another stream"
)


def contradicted_words(
    lineage: Lineage, contradictions: Mapping[ShardId, Contradiction], rows: int
) -> str:
    """How many of the rows contradict the listing, by what, each with an example."""
    kinds, examples = Counter(contradictions.values()), dict[Contradiction, ShardId]()
    for shard, kind in contradictions.items():
        examples.setdefault(kind, shard)
    each = "; ".join(
        f"{kinds[kind]} {kind.value}, such as {short(examples[kind])}"
        for kind in Contradiction if kind in kinds
    )
    verb = "contradicts" if len(contradictions) == 1 else "contradict"
    return (
        f"{len(contradictions)} of {rows} row{'' if rows == 1 else 's'} {verb} the listing of "
        f"stream {lineage.stream.name} ({each})"
    )


def same_second_as(snapshot: Snapshot) -> str:
    """That nothing tells this stream's positions from those of the streams in `alike`, but what."""
    names = [f"stream {arn.rpartition('/')[2]}" for arn in snapshot.alike]
    return (
        f"stream {snapshot.lineage.stream.name} was created in the same second as "
        f"{listed(names, NAMED)}, and their sequence numbers are alike, so neither a stored number "
        "nor the creation time shows to which of them the positions belong: the application's "
        "configuration does"
    )


def of_alike_stream(
    snapshot: Snapshot, foreign: Mapping[ShardId, Foreign], texts: Mapping[ShardId, str]
) -> ShardId | None:
    """A row with a number of a stream in `alike`, if no row's number is of this stream alone.

    Such streams are told apart by the numbers of later shards only. texts: every stored position.
    """
    if not snapshot.alike or any(born_later(snapshot.lineage, text) for text in texts.values()):
        return None
    theirs = {s for s, whose in foreign.items() if {*whose.streams} & {*snapshot.alike}}
    return min(theirs, default=None)


def alike_words(snapshot: Snapshot, theirs: Foreign) -> str:
    """What is wrong with such a row. theirs: whose its number is."""
    return (
        f"its position is a number of {theirs.words}, which was created in the same second as "
        f"{snapshot.lineage.stream.name}, and no number shows that a row is of this one"
    )


class Foreign(Struct, frozen=True):
    """Whose a stored number is that is not this stream's.

    streams: the ARN of the stream of this account that it is of, none if that is not known; several
    if they were created in the same second.
    """

    origin: Origin
    streams: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Whose it is; follows "of"."""
        if self.streams:
            return f"stream {' or '.join(arn.rpartition('/')[2] for arn in self.streams)}"
        if self.origin is Origin.EARLIER:
            return "an earlier stream of this name or of another stream"
        return "another stream"


def foreign_streams(
    snapshot: Snapshot, origins: Mapping[ShardId, Origin | None], texts: Mapping[ShardId, str]
) -> Mapping[ShardId, Foreign]:
    """The shards whose stored number is not this stream's. origins, texts: of every shard."""
    return {
        shard: Foreign(whose, _streams(snapshot, texts[shard])) for shard, whose in origins.items()
        if whose in (Origin.EARLIER, Origin.ELSEWHERE)
    }


def _streams(snapshot: Snapshot, text: str) -> tuple[str, ...]:
    decoded = decode(text)
    return () if decoded is None else snapshot.born.get(decoded.epoch, ())


def made_since(snapshot: Snapshot) -> bool:
    """Whether the store is younger than the stream, so that no earlier stream's rows are in it."""
    made_at = snapshot.made_at
    return made_at is not None and made_at > snapshot.lineage.stream.created


def unverified(snapshot: Snapshot) -> Iterator[str]:
    """The notes on numbers of which Kinesis could not be asked whose they are."""
    if not snapshot.verified:
        yield (
            "not verified that the positions are of this stream: Kinesis could not be asked "
            "(kinesis:GetShardIterator)"
        )
    if not snapshot.others_known:
        yield (
            "some positions are not this stream's, and whether another living stream of this "
            "account uses them is not known (kinesis:ListStreams)"
        )


@contextmanager
def naming(foreign: Mapping[ShardId, Foreign]) -> Iterator[None]:
    """A WrongStream of the body names the streams to which the rows belong, where one is known."""
    try:
        yield
    except WrongStream as error:
        if streams := sorted({each.words for each in foreign.values() if each.streams}):
            error.what = f"{error.what}. Its numbers are of {listed(streams, NAMED)}"
        raise
