"""What a stored position says of its shard, judged against the lineage.

Nothing in Quickwit marks a shard as finished: `~` panics the Kinesis source, and a closed shard
stays at its last record for good. The one place that works as an end is the shard's
EndingSequenceNumber, behind which Kinesis refuses to begin (runs on 0.8.2 and 0.9.0, Nov 2026).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from reshardctl.consumers.sequence_numbers import from_the_future, of_no_record
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Basis,
    Cut,
    Shard,
    ShardId,
    Span,
    at_number,
    decode,
    exactly,
    index_of,
)

_ACCEPTED = re.compile(r"(0|[1-9][0-9]{0,128})\Z", re.ASCII)
"""What GetShardIterator takes for a sequence number (API reference)."""
_MENDABLE = re.compile(r"\s*0*([1-9][0-9]{0,128})\s*\Z", re.ASCII)
CREATION_SLACK = 60
"""Seconds: a root's first number was seen to carry its stream's creation time less three."""


class Standing(Enum):
    """Where a position stands."""

    START = "start"
    """No entry, an empty one, or the shard's StartingSequenceNumber."""
    NUMBER = "number"
    END = "end"
    """Refused, and rightly so: the shard's end; another library's end mark."""
    END_MARK = "end-mark"
    """`~…`: the source panics."""
    FOREIGN = "foreign"
    """A number that no record of this shard has: refused."""
    AHEAD = "ahead"
    """Inside the shard's range, and from the future: of no record. Begun behind, if not refused."""
    NONSENSE = "nonsense"
    """No number: refused."""


@dataclass(frozen=True, slots=True)
class Place:
    """One shard's position. span: what it settles; a number that only needs its zeros or blanks
    taken off settles what it means."""

    standing: Standing
    span: Span

    @property
    def refused(self) -> bool:
        """Whether Kinesis gives no iterator for it, so that the shard's own consumer dies."""
        return self.standing in (Standing.END, Standing.FOREIGN, Standing.NONSENSE)


def place_of(lineage: Lineage, shard: ShardId, text: str | None) -> Place:
    """The place of a listed shard. text: as stored, `None` without an entry."""
    listed = lineage[shard]
    if not text:
        why = "nothing of it was ever published"
        return Place(Standing.START, exactly(START, Basis.STORED, why))
    if text.startswith("~"):
        return Place(Standing.END_MARK, _of_end_mark(lineage, listed, text[1:]))
    if not _ACCEPTED.match(text):
        return _of_words(lineage, listed, text)
    return _of_number(lineage, listed, text)


def furthest(listed: Shard) -> Cut:
    """How far a shard can have been read."""
    return TIP if listed.open else DONE


def _unknown(listed: Shard, why: str) -> Span:
    return Span(START, furthest(listed), Basis.INFERRED, why)


def _of_number(lineage: Lineage, listed: Shard, text: str) -> Place:
    number, decoded, end = int(text), decode(text), listed.end
    foreign = Place(Standing.FOREIGN, _unknown(listed, "its number is none of this shard"))
    if of_no_record(lineage, listed, text):
        return foreign
    if number == int(listed.start):
        return Place(Standing.START, exactly(START))
    if number < int(listed.start):
        return foreign
    if end is not None and number >= int(end):
        at_end = number == int(end) or decode(end) is None  # an emulator's ends are no numbers
        return Place(Standing.END, exactly(DONE)) if at_end else foreign
    if decoded is not None and decoded.is_end:
        return foreign
    if from_the_future(lineage, text):
        why = "its number lies in the future, and is of no record"
        return Place(Standing.AHEAD, Span(START, at_number(text), Basis.INFERRED, why))
    return Place(Standing.NUMBER, exactly(at_number(text)))


def _of_one_life(text: str, end: str) -> bool:
    """Whether a number at or behind a shard's end is of the same shard, not of a later stream's."""
    decoded, known = decode(text), decode(end)
    return decoded is None or known is None or decoded.epoch == known.epoch


def _of_end_mark(lineage: Lineage, listed: Shard, offset: str) -> Span:
    """`~` with an offset: read up to it. A bare one: Quickwit's word for "no record was ever
    written", which is no evidence that one was read."""
    inner = place_of(lineage, listed.id, offset) if offset else None
    if inner is not None and inner.standing in (Standing.NUMBER, Standing.END, Standing.START):
        return inner.span
    return _unknown(listed, "its end mark names no record")


def _of_words(lineage: Lineage, listed: Shard, text: str) -> Place:
    if text == "TRIM_HORIZON":
        return Place(Standing.NONSENSE, exactly(START))
    if text == "SHARD_END" and not listed.open:
        return Place(Standing.END, exactly(DONE))
    if (match := _MENDABLE.match(text)) is not None:
        meant = _of_number(lineage, listed, match[1])
        return Place(Standing.NONSENSE, meant.span)
    return Place(Standing.NONSENSE, _unknown(listed, "its position is no number"))


def earlier_incarnation(lineage: Lineage, text: str) -> bool:
    """Whether a number was written before this stream was created."""
    decoded = decode(text.removeprefix("~"))
    return decoded is not None and decoded.time < lineage.stream.created - CREATION_SLACK


def of_another_stream(lineage: Lineage, text: str) -> bool:
    """Whether a number is younger than this stream and of none of its shards' making.

    One of a shard that is no longer listed cannot be checked and gets the benefit of the doubt.
    """
    decoded = decode(text.removeprefix("~"))
    if decoded is None or earlier_incarnation(lineage, text):
        return False
    home = ShardId(f"shardId-{decoded.shard:012d}")
    if home not in lineage:
        return decoded.shard > lineage.newest_index()
    listed, number = lineage[home], text.removeprefix("~")
    beyond = listed.end is not None and int(number) > int(listed.end)
    return int(number) < int(listed.start) or (
        beyond and listed.end is not None and not _of_one_life(number, listed.end)
    )


def of_wrong_stream(lineage: Lineage, texts: Mapping[ShardId, str]) -> ShardId | None:
    """A place of a younger stream, where none is of this one. Beside places of this stream it is
    one wrong entry, which must not hide the others."""
    own = (Standing.START, Standing.NUMBER, Standing.END)
    for shard, text in texts.items():
        if shard in lineage and place_of(lineage, shard, text.removeprefix("~")).standing in own:
            return None
    return next((shard for shard, text in texts.items() if of_another_stream(lineage, text)), None)


def unborn(lineage: Lineage, shard: ShardId) -> bool:
    """Whether a shard of this id is still to come: ids grow, and this one is beyond the last."""
    index = index_of(shard)
    return index is not None and shard not in lineage and index > lineage.newest_index()
