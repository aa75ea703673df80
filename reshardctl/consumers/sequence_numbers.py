"""What a stored sequence number says of its shard, judged against the lineage.

For libraries that ask Kinesis AFTER a stored number. What Kinesis answers to numbers that are no
record's of the shard: InvalidArgumentException (runs of kinsumer and kinesis-consumer, Nov 2026);
to what is no number by its pattern, leading zeros and blanks included: ValidationException.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from reshardctl.lineage import Lineage
from reshardctl.model import DONE, TIP, Cut, Shard, ShardId, decode, index_of, is_number

CREATION_SLACK = 60
"""Seconds: a root's first number was seen to carry its stream's creation time less three."""
CLOCKS_APART = 900
"""Seconds by which the clocks of this machine and of AWS may differ: AWS refuses a request that was
signed more than five minutes ago (or ahead)."""


class NumberKind(Enum):
    """What a text is to a shard, as the number that Kinesis is asked to go on behind.

    Each library maps these to what it does: `kcl/positions.py`, `kinsumer/positions.py`,
    `quickwit/positions.py`, and `kinesis_consumer/behaviour.py`.
    """

    START = "start"
    """The shard's StartingSequenceNumber, which no record has: before the first one."""
    INSIDE = "inside"
    AHEAD = "ahead"
    """Inside the shard's range, of one of its epochs, and from the future: of no record. Kinesis
    would go on behind it, where nothing is; whether it refuses it is not known."""
    AT_END = "at-end"
    """The shard's EndingSequenceNumber, which no record has."""
    BEFORE_START = "before-start"
    BEHIND_END = "behind-end"
    OTHER_SHARD = "other-shard"
    """Wherever in the shard's range it lies, no record of it has such a number: one of another
    shard, one that is not laid out as the shard's own, one of an epoch to come."""
    NOT_A_NUMBER = "not-a-number"

    @property
    def foreign(self) -> bool:
        """Whether it is a number that no record of this shard has, and that Kinesis refuses."""
        return self in _FOREIGN

    @property
    def own(self) -> bool:
        """Whether the number is of this shard: one of its records', or where it begins or ends."""
        return self in _OWN


_FOREIGN = (NumberKind.BEFORE_START, NumberKind.BEHIND_END, NumberKind.OTHER_SHARD)
_OWN = (NumberKind.START, NumberKind.INSIDE, NumberKind.AT_END)


def classify(lineage: Lineage, shard: ShardId, text: str) -> NumberKind:
    """Classify a text. A number of an unlisted shard is taken at its word.

    A shard's beginning is told first: the ends of an emulator may lie before it.
    """
    if not is_number(text):
        return NumberKind.NOT_A_NUMBER
    if shard not in lineage:
        decoded = decode(text)
        if decoded is not None and decoded.shard != index_of(shard):
            return NumberKind.OTHER_SHARD
        return NumberKind.AHEAD if from_the_future(lineage, text) else NumberKind.INSIDE
    number, listed = int(text), lineage[shard]
    if of_no_record(lineage, listed, text):
        return NumberKind.OTHER_SHARD
    if number <= int(listed.start):
        return NumberKind.START if number == int(listed.start) else NumberKind.BEFORE_START
    if listed.end is not None and number >= int(listed.end):
        return NumberKind.AT_END if number == int(listed.end) else NumberKind.BEHIND_END
    return NumberKind.AHEAD if from_the_future(lineage, text) else NumberKind.INSIDE


def of_no_record(lineage: Lineage, listed: Shard, text: str) -> bool:
    """Whether Kinesis gave no record of the shard such a number, see `NumberKind.OTHER_SHARD`."""
    decoded = decode(text)
    if decoded is None:
        return decode(listed.start) is not None
    return decoded.shard != index_of(listed.id) or _to_come(lineage, decoded.epoch)


def from_the_future(lineage: Lineage, text: str) -> bool:
    """Whether the number carries a time at which nothing can have been written yet."""
    decoded = decode(text)
    return decoded is not None and _to_come(lineage, decoded.time)


def _to_come(lineage: Lineage, time: float) -> bool:
    """Whether a time lies ahead. No clock is relied on that says so of the stream itself."""
    stream = lineage.stream
    return stream.created <= stream.as_of < time - CLOCKS_APART


def earlier_incarnation(lineage: Lineage, text: str) -> bool:
    """Whether the number was written before this stream was created."""
    decoded = decode(text)
    return decoded is not None and decoded.time < lineage.stream.created - CREATION_SLACK


def of_another_stream(lineage: Lineage, text: str) -> bool:
    """Whether the number is younger than this stream and fits none of its shards.

    A number of another shard of the same stream fits that shard's range; one of a shard that is
    no longer listed cannot be checked and gets the benefit of the doubt. One from the future, of an
    open shard, may be of no stream at all: it is a finding of its row.
    """
    decoded = decode(text)
    if decoded is None or earlier_incarnation(lineage, text):
        return False
    home = ShardId(f"shardId-{decoded.shard:012d}")
    if home not in lineage:
        return decoded.shard > lineage.newest_index()
    one = lineage[home]
    return int(text) < int(one.start) or (one.end is not None and int(text) > int(one.end))


def of_wrong_stream(
    lineage: Lineage, texts: Mapping[ShardId, str],
    own: Callable[[Lineage, ShardId, str], bool] | None = None,
    elsewhere: Callable[[Lineage, str], bool] = of_another_stream,
) -> ShardId | None:
    """A row whose number is of a younger stream, where no row's number is of this one: then the
    store is another stream's. Beside rows of this stream such a number is one wrong row, which
    must not hide the others.

    Args:
        lineage: The stream's shards.
        texts: The rows' numbers.
        own: Whether a number is of its shard, where a library knows better than `classify`.
        elsewhere: Whether a number is of a younger stream, likewise.
    """
    def is_own(shard: ShardId, text: str) -> bool:
        return own(lineage, shard, text) if own else classify(lineage, shard, text).own

    if any(is_own(shard, text) for shard, text in texts.items() if shard in lineage):
        return None
    return next((shard for shard, text in texts.items() if elsewhere(lineage, text)), None)


def furthest(lineage: Lineage, shard: ShardId) -> Cut:
    """The highest cut that anything can have processed in the shard by now."""
    return TIP if shard in lineage and lineage.is_open(shard) else DONE


def unborn(lineage: Lineage, shard: ShardId) -> bool:
    """Whether a shard of this id is still to come: ids grow, and this one is beyond the last."""
    index = index_of(shard)
    return index is not None and shard not in lineage and index > lineage.newest_index()


ELSEWHERE = (
    "the stream has no such shard yet, and its number is of one: another stream's row, left alone"
)


def of_a_shard_elsewhere(lineage: Lineage, shard: ShardId, text: str) -> bool:
    """Whether a shard that this stream never had holds a number of its own, younger than the
    stream: then another stream has it, whose row nobody but its own application may write."""
    decoded = decode(text)
    own = decoded is not None and decoded.shard == index_of(shard)
    return own and unborn(lineage, shard) and not earlier_incarnation(lineage, text)
