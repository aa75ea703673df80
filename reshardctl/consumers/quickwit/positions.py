"""What a stored position says of its shard, judged against the lineage.

Nothing in Quickwit marks a shard as finished: `~` crashes the Kinesis source, another library's
word (SHARD_END) stalls the shard and proves nothing, and a closed shard stays at its last record
for good. The only position that works as an end is the shard's EndingSequenceNumber, after which
Kinesis refuses to begin (runs on 0.8.2 and 0.9.0, Nov 2026).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from reshardctl.consumers import sequence_numbers
from reshardctl.consumers.sequence_numbers import NumberKind, classify, furthest
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    Basis,
    ShardId,
    Span,
    at_number,
    decode,
    exactly,
    is_number,
    shard_id,
)

_MENDABLE = re.compile(r"\s*0*([1-9][0-9]{0,128})\s*\Z", re.ASCII)


class PositionKind(Enum):
    """What a stored position means."""

    START = "start"
    """No entry, an empty one, or the shard's StartingSequenceNumber."""
    NUMBER = "number"
    END = "end"
    """Refused, and rightly so: the shard's end."""
    END_MARK = "end-mark"
    """`~…`: the source crashes."""
    FOREIGN = "foreign"
    """A number that no record of this shard has: refused."""
    AHEAD = "ahead"
    """Inside the shard's range, but from the future: no record has it. Read after, if not refused.
    """
    NONSENSE = "nonsense"
    """No number: refused."""


@dataclass(frozen=True, slots=True)
class ReadPosition:
    """One shard's position.

    span: what it proves; a number with superfluous zeros or blanks proves what it means.
    """

    kind: PositionKind
    span: Span

    @property
    def refused(self) -> bool:
        """Whether Kinesis gives no iterator for it, so that the shard's own consumer fails."""
        return self.kind in (PositionKind.END, PositionKind.FOREIGN, PositionKind.NONSENSE)


def position_of(lineage: Lineage, shard: ShardId, text: str | None) -> ReadPosition:
    """The position of a listed shard. text: as stored, `None` without an entry.

    It is asked for several times, so the last answer is kept.
    """
    kept = lineage.answers("Quickwit's positions")
    known = kept.get(shard)
    if known is None or known[0] != text:
        known = kept[shard] = (text, _position_of(lineage, shard, text))
    position: ReadPosition = known[1]
    return position


def _position_of(lineage: Lineage, shard: ShardId, text: str | None) -> ReadPosition:
    if not text:
        why = "nothing of it was ever published"
        return ReadPosition(PositionKind.START, exactly(START, Basis.STORED, why))
    if text.startswith("~"):
        return ReadPosition(PositionKind.END_MARK, _of_end_mark(lineage, shard, text[1:]))
    if not is_number(text):
        return _of_words(lineage, shard, text)
    return _of_number(lineage, shard, text)


def _unknown(lineage: Lineage, shard: ShardId, why: str) -> Span:
    return Span(START, furthest(lineage, shard), Basis.INFERRED, why)


def _of_number(lineage: Lineage, shard: ShardId, text: str) -> ReadPosition:
    kind = classify(lineage, shard, text)
    if kind is NumberKind.AFTER_END and decode(lineage[shard].end or "") is None:
        kind = NumberKind.AT_END  # an emulator's ends are no numbers
    elif kind in (NumberKind.INSIDE, NumberKind.AHEAD) and _is_an_end(text):
        kind = NumberKind.OTHER_SHARD
    match kind:
        case NumberKind.START:
            return ReadPosition(PositionKind.START, exactly(START))
        case NumberKind.INSIDE:
            return ReadPosition(PositionKind.NUMBER, exactly(at_number(text)))
        case NumberKind.AHEAD:
            why = "its number lies in the future, and is of no record"
            return ReadPosition(
                PositionKind.AHEAD, Span(START, at_number(text), Basis.INFERRED, why)
            )
        case NumberKind.AT_END:
            return ReadPosition(PositionKind.END, exactly(DONE))
        case _:
            why = "its number is none of this shard"
            return ReadPosition(PositionKind.FOREIGN, _unknown(lineage, shard, why))


def _is_an_end(text: str) -> bool:
    decoded = decode(text)
    return decoded is not None and decoded.is_end


def _of_end_mark(lineage: Lineage, shard: ShardId, offset: str) -> Span:
    """What `~` with an offset proves; a bare one means that no record was ever written."""
    inner = _position_of(lineage, shard, offset) if offset else None
    if inner is not None and inner.kind in (
        PositionKind.NUMBER,
        PositionKind.END,
        PositionKind.START,
    ):
        return inner.span
    return _unknown(lineage, shard, "its end mark names no record")


def _of_words(lineage: Lineage, shard: ShardId, text: str) -> ReadPosition:
    if text == "TRIM_HORIZON":
        return ReadPosition(PositionKind.NONSENSE, exactly(START))
    if (match := _MENDABLE.match(text)) is not None:
        meant = _of_number(lineage, shard, match[1])
        return ReadPosition(PositionKind.NONSENSE, meant.span)
    unknown = _unknown(lineage, shard, "its position is no number")
    return ReadPosition(PositionKind.NONSENSE, unknown)


def is_own(lineage: Lineage, shard: ShardId, text: str) -> bool:
    """Whether a number is of this shard."""
    own = (PositionKind.START, PositionKind.NUMBER, PositionKind.END)
    return position_of(lineage, shard, text).kind in own


def of_another_stream(lineage: Lineage, text: str) -> bool:
    """Whether a number is younger than this stream and of none of its shards.

    A number after a shard's end, but of the epoch of that end, is the same shard's.
    """
    decoded = decode(text)
    if decoded is None or not sequence_numbers.of_another_stream(lineage, text):
        return False
    home = shard_id(decoded.shard)
    if home not in lineage or int(text) < int(lineage[home].start):
        return True
    end = decode(lineage[home].end or "")
    return end is not None and end.epoch != decoded.epoch
