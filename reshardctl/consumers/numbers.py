"""What a stored sequence number says of its shard, judged against the lineage.

For libraries that ask Kinesis AFTER a stored number. What Kinesis answers to numbers that are no
record's of the shard: InvalidArgumentException (runs of kinsumer and kinesis-consumer, Nov 2026).
"""

from __future__ import annotations

from enum import Enum

from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, decode, index_of, is_number

CREATION_SLACK = 60
"""Seconds: a root's first number was seen to carry its stream's creation time less three."""


class Fits(Enum):
    """How a text fits a shard as a place behind one of its records."""

    BEFORE_ALL = "before-all"
    """The shard's StartingSequenceNumber, which no record has: before the first one."""
    INSIDE = "inside"
    AT_END = "at-end"
    """The shard's EndingSequenceNumber, which no record has."""
    FOREIGN = "foreign"
    """A number that no record of this shard has."""
    NONSENSE = "nonsense"


def fits(lineage: Lineage, shard: ShardId, text: str) -> Fits:
    """Classify a text. A number of an unlisted shard is taken at its word."""
    if not is_number(text):
        return Fits.NONSENSE
    number, decoded = int(text), decode(text)
    if decoded is not None and decoded.shard != index_of(shard):
        return Fits.FOREIGN
    if shard not in lineage:
        return Fits.INSIDE
    one = lineage[shard]
    if number <= int(one.start):
        return Fits.BEFORE_ALL if number == int(one.start) else Fits.FOREIGN
    if one.end is not None and number >= int(one.end):
        return Fits.AT_END if number == int(one.end) else Fits.FOREIGN
    return Fits.INSIDE


def earlier_incarnation(lineage: Lineage, text: str) -> bool:
    """Whether the number was written before this stream was created."""
    decoded = decode(text)
    return decoded is not None and decoded.time < lineage.stream.created - CREATION_SLACK


def of_another_stream(lineage: Lineage, text: str) -> bool:
    """Whether the number is younger than this stream and fits none of its shards.

    A number of another shard of the same stream fits that shard's range; one of a shard that is
    no longer listed cannot be checked and gets the benefit of the doubt.
    """
    decoded = decode(text)
    if decoded is None or earlier_incarnation(lineage, text):
        return False
    home = ShardId(f"shardId-{decoded.shard:012d}")
    if home not in lineage:
        return decoded.shard > lineage.newest_index()
    return fits(lineage, home, text) is Fits.FOREIGN


def unborn(lineage: Lineage, shard: ShardId) -> bool:
    """Whether a shard of this id is still to come: ids grow, and this one is beyond the last."""
    index = index_of(shard)
    return index is not None and shard not in lineage and index > lineage.newest_index()
