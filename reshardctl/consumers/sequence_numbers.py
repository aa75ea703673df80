"""What a stored sequence number says about its shard, judged against the lineage.

For libraries that ask Kinesis AFTER a stored number. Kinesis answers a number that no record of the
shard has with InvalidArgumentException (runs of kinsumer and kinesis-consumer, Nov 2026), and a
text that does not match its pattern, leading zeros and blanks included, with ValidationException.

What the comparison of a row with the listing shows is told as the row's anomalies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from itertools import islice, zip_longest
from typing import NamedTuple

from reshardctl.lineage import Life, Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Anomaly,
    AnomalyKind,
    Cut,
    Decoded,
    Rank,
    ShardId,
    Span,
    at_number,
    decode,
    exactly,
    index_of,
    is_number,
    shard_id,
)

CREATION_SLACK = 60
"""Seconds before its creation in which a number may still be a stream's own: a root's first number
was seen to carry the creation time less three. An older number is an earlier stream's where it lies
before its shard's first, is of a shard that the stream never had, or is refused by Kinesis."""
BIRTH_LEAD = 3
"""Seconds by which the first numbers of a stream are older than its creation time: seven of seven
public samples."""
CLOCKS_APART = 900
"""Seconds by which the clocks of this machine and of AWS may differ: AWS refuses requests signed
more than five minutes ago or ahead."""


class NumberKind(Enum):
    """How a text relates to a shard, as the number after which Kinesis is asked to read.

    Each library maps these to what it does: `kcl/positions.py`, `kinsumer/positions.py`,
    `quickwit/positions.py` and `kinesis_consumer/behaviour.py`.
    """

    START = "start"
    """The shard's StartingSequenceNumber, which no record has: before the first record."""
    INSIDE = "inside"
    AHEAD = "ahead"
    """Inside the shard's range and in one of its epochs, but from the future: no record has it.
    Kinesis would read after it and return nothing; whether it refuses the number is not known."""
    AT_END = "at-end"
    """The shard's EndingSequenceNumber, which no record has."""
    BEFORE_START = "before-start"
    AFTER_END = "after-end"
    OTHER_STREAM = "other-stream"
    """Inside the shard's range, but Kinesis says that it did not come from this stream."""
    OTHER_SHARD = "other-shard"
    """Inside or outside the shard's range, but no record of the shard has it: a number of another
    shard, of another layout, or of an epoch to come."""
    NOT_A_NUMBER = "not-a-number"

    @property
    def foreign(self) -> bool:
        """Whether no record of this shard has the number, and Kinesis refuses it."""
        return self in _FOREIGN

    @property
    def own(self) -> bool:
        """Whether the number is one of the shard's records, or its start or end."""
        return self in _OWN


_FOREIGN = (
    NumberKind.BEFORE_START, NumberKind.AFTER_END, NumberKind.OTHER_SHARD, NumberKind.OTHER_STREAM,
)
_OWN = (NumberKind.START, NumberKind.INSIDE, NumberKind.AT_END)


def classify(lineage: Lineage, shard: ShardId, text: str) -> NumberKind:
    """Classify a text. A number of an unlisted shard counts as its own.

    The start is checked before the end: an emulator's end may lie before the start.
    """
    return lineage.memo.once(_classified, lineage, (shard, text))


class _Number(NamedTuple):
    """A stored number. origin: see `origin`. span: processed up to and including its record."""

    number: int
    decoded: Decoded | None
    origin: Origin | None
    span: Span


def _number(lineage: Lineage, text: str) -> _Number | None:
    """The number that a text is, `None` for what Kinesis does not take for one; decoded once."""
    return lineage.memo.once(_read, lineage, text)


def _read(lineage: Lineage, text: str) -> _Number | None:
    if not is_number(text):
        return None
    number = int(text)
    decoded = decode(number)
    whose = None if decoded is None else _origin(lineage, number, decoded)
    return _Number(number, decoded, whose, exactly(Cut(Rank.INSIDE, number, text=text)))


def up_to(lineage: Lineage, text: str) -> Span:
    """The span of a shard that is processed up to the record with this number, and no further.

    The same object each time, so that what was measured of a shard holds while its row stays.
    """
    known = _number(lineage, text)
    assert known is not None, f"no number: {text!r}"
    return known.span


def _classified(lineage: Lineage, place: tuple[ShardId, str]) -> NumberKind:
    shard, text = place
    known = _number(lineage, text)
    if known is None:
        return NumberKind.NOT_A_NUMBER
    number, decoded, whose, _ = known
    life = lineage.life(shard)
    if life is None:
        if decoded is not None and decoded.shard != index_of(shard):
            return NumberKind.OTHER_SHARD
        return _inside(lineage, decoded)
    if _of_no_record(lineage, shard, decoded):
        return NumberKind.OTHER_SHARD
    start, end = life.first, life.last
    if start is not None and number <= start:
        return NumberKind.START if number == start else NumberKind.BEFORE_START
    if end is not None and number >= end:
        return NumberKind.AT_END if number == end else NumberKind.AFTER_END
    if whose is Origin.ELSEWHERE:
        return NumberKind.OTHER_STREAM
    return _inside(lineage, decoded)


def of_no_record(lineage: Lineage, shard: ShardId, number: int) -> bool:
    """Whether no record of the listed shard can have it, see `NumberKind.OTHER_SHARD`."""
    return _of_no_record(lineage, shard, decode(number))


def _of_no_record(lineage: Lineage, shard: ShardId, decoded: Decoded | None) -> bool:
    if decoded is None:
        return lineage.opened_at(shard) is not None  # its start has the layout of a number
    return decoded.shard != index_of(shard) or to_come(lineage, decoded.epoch)


def _inside(lineage: Lineage, decoded: Decoded | None) -> NumberKind:
    """A number of the shard, unless it carries a time at which nothing can have been written."""
    ahead = decoded is not None and to_come(lineage, decoded.time)
    return NumberKind.AHEAD if ahead else NumberKind.INSIDE


def to_come(lineage: Lineage, time: float) -> bool:
    """Whether a time (Unix seconds) lies ahead.

    Never, if the clock contradicts the stream's creation time.
    """
    stream = lineage.stream
    return stream.created <= stream.as_of < time - CLOCKS_APART


def earlier_incarnation(lineage: Lineage, text: str) -> bool:
    """Whether the number was written before this stream was created.

    Of the last minute before that, where something else shows that it is not this stream's.
    """
    known = _number(lineage, text)
    if known is None or known.decoded is None:
        return False
    older = known.decoded.time < lineage.stream.created - CREATION_SLACK
    return older or known.origin is Origin.EARLIER


def written_at(lineage: Lineage, text: str) -> int | None:
    """The Unix second in a stored number, `None` for what does not have the layout of one."""
    known = _number(lineage, text)
    return None if known is None or known.decoded is None else known.decoded.time


def is_an_end(lineage: Lineage, text: str) -> bool:
    """Whether the number is the EndingSequenceNumber of some shard."""
    known = _number(lineage, text)
    return known is not None and known.decoded is not None and known.decoded.is_end


class Origin(Enum):
    """Whose a sequence number is, by its shard's life, its epoch, and what Kinesis says of it.

    "Lies between the first and the last number" proves nothing: a younger stream's numbers do, too.
    Epochs move during a shard's life (two public samples), so one that the listing does not know
    proves nothing either, and Kinesis has to be asked.
    """

    OWN = "own"
    """It carries the epoch in which its shard began or ended, or Kinesis takes it."""
    EARLIER = "earlier"
    """It is older than the stream: of an earlier stream of this name, or of another one that is not
    known. That may have been deleted a moment before, see `CREATION_SLACK`."""
    ELSEWHERE = "elsewhere"
    """Another stream's: it is younger than this one and fits none of its shards, or Kinesis refuses
    it, or another stream of the account has given out numbers with its epoch."""
    UNPROVEN = "unproven"
    """It fits its shard, and nothing proves more."""


OF_THIS_STREAM = frozenset({Origin.OWN, Origin.UNPROVEN})


def origin(lineage: Lineage, text: str) -> Origin | None:
    """Whose the number is; `None` for what no stream can have given out.

    That is a text without the layout of a Kinesis number, one with the very epoch of its shard that
    lies outside the shard's life, and one from the future that lies within it. A number is judged
    by the shard that it names, whichever row holds it.
    """
    known = _number(lineage, text)
    return None if known is None else known.origin


def _origin(lineage: Lineage, number: int, decoded: Decoded) -> Origin | None:
    if lineage.taken.get(number):
        return Origin.OWN
    life = lineage.life(shard_id(decoded.shard))
    outside = life is not None and _outside(life, number)
    if life is not None and decoded.epoch in life.epochs:
        return None if outside else Origin.OWN
    if life is None and decoded.epoch == int(lineage.stream.created) - BIRTH_LEAD:
        # an expired one of the stream's first shards
        return Origin.OWN if decoded.shard <= lineage.newest_index() else Origin.ELSEWHERE
    if decoded.epoch in lineage.foreign_epochs:
        return Origin.ELSEWHERE
    if decoded.time < lineage.stream.created - CREATION_SLACK:
        return Origin.ELSEWHERE if number in lineage.taken else Origin.EARLIER
    refused = number in lineage.taken
    beyond = life is None and decoded.shard > lineage.newest_index()
    if decoded.time < lineage.stream.created and (refused or beyond or _before(life, number)):
        return Origin.EARLIER
    if refused or beyond or outside:
        return Origin.ELSEWHERE
    return None if to_come(lineage, decoded.time) else Origin.UNPROVEN


def _outside(life: Life, number: int) -> bool:
    """Whether the number lies before or after the life of its shard."""
    return _before(life, number) or (life.last is not None and number > life.last)


def _before(life: Life | None, number: int) -> bool:
    return life is not None and life.first is not None and number < life.first


def born_later(lineage: Lineage, text: str) -> bool:
    """Whether the number is this stream's own, and of an epoch that began after its creation.

    The first shards of every stream that was created in the same second give out numbers alike.
    """
    known = _number(lineage, text)
    if known is None or known.decoded is None or known.decoded.epoch <= lineage.stream.created:
        return False
    return known.origin is Origin.OWN


def to_verify(lineage: Lineage, texts: Iterable[str]) -> dict[int, str]:
    """The numbers that only Kinesis can tell whose they are: number → text, each once.

    A number of a shard that is not listed any more is left out, for Kinesis cannot be asked.
    """
    found: dict[int, str] = {}
    for text in texts:
        known = _number(lineage, text)
        if known is None or known.decoded is None or known.number in lineage.taken:
            continue
        if known.origin is Origin.UNPROVEN and shard_id(known.decoded.shard) in lineage:
            found[known.number] = text
    return found


def sample(numbers: Iterable[int], most: int) -> list[int]:
    """At most so many of these numbers, from as many epochs as possible, common ones first.

    The numbers of another stream's table mostly carry one epoch: that stream's creation.
    """
    by_epoch: dict[int, list[int]] = {}
    for number in sorted(numbers):
        decoded = decode(number)
        assert decoded is not None, "`to_verify` names no other"
        by_epoch.setdefault(decoded.epoch, []).append(number)
    groups = sorted(by_epoch.values(), key=len, reverse=True)
    turns = zip_longest(*groups)
    return list(islice((n for turn in turns for n in turn if n is not None), most))


def of_another_stream(lineage: Lineage, text: str) -> bool:
    """Whether the number is another stream's, and not older than this one.

    That is known where it fits none of the shards, or Kinesis refuses it. One of an unlisted shard
    cannot be checked and counts as this stream's. One from the future, of an open shard, may be of
    no stream at all: it is a finding of its row.
    """
    known = _number(lineage, text)
    if known is None or known.decoded is None:
        return False
    life = lineage.life(shard_id(known.decoded.shard))
    outside = life is not None and _outside(life, known.number)
    return known.origin is Origin.ELSEWHERE or (known.origin is None and outside)


def of_wrong_stream(
    lineage: Lineage, texts: Mapping[ShardId, str],
    own: Callable[[Lineage, ShardId, str], bool] | None = None,
    elsewhere: Callable[[Lineage, str], bool] = of_another_stream,
) -> ShardId | None:
    """A row with a number of another stream, if no row has a number of this stream.

    Once Kinesis has refused a number, one that is not proven is no number of this stream.

    Only then does the store belong to another stream. Beside rows of this stream it is one wrong
    row, which must not hide the others.

    Args:
        lineage: The stream's shards.
        texts: The rows' numbers.
        own: Whether a number is of its shard, where a library knows better than `classify`.
        elsewhere: Whether a number is of a younger stream, likewise.
    """
    asked = False in lineage.taken.values()

    def is_own(shard: ShardId, text: str) -> bool:
        if asked and origin(lineage, text) is Origin.UNPROVEN:
            return False
        return own(lineage, shard, text) if own else classify(lineage, shard, text).own

    if any(is_own(shard, text) for shard, text in texts.items() if shard in lineage):
        return None
    return next((shard for shard, text in texts.items() if elsewhere(lineage, text)), None)


_WORDS = {"TRIM_HORIZON": START, "LATEST": TIP, "SHARD_END": DONE}


def spelled_cut(lineage: Lineage, shard: ShardId, text: str) -> Cut | None:
    """The cut that a text spells in the shard, `None` if it names no place of it."""
    if text in _WORDS:
        return _WORDS[text]
    match classify(lineage, shard, text):
        case NumberKind.START:
            return START
        case NumberKind.INSIDE:
            return at_number(text)
        case NumberKind.AT_END:
            return DONE
        case _:
            return None


def furthest(lineage: Lineage, shard: ShardId) -> Cut:
    """The highest cut that can have been processed in the shard by now."""
    return TIP if shard in lineage and lineage.is_open(shard) else DONE


def unborn(lineage: Lineage, shard: ShardId) -> bool:
    """Whether the shard is not created yet: ids grow, and this one is beyond the newest."""
    if shard in lineage:
        return False
    index = index_of(shard)
    return index is not None and index > lineage.newest_index()


ELSEWHERE = (
    "the stream has no such shard yet, and its number is not this stream's: another stream's row, "
    "left alone"
)


def against_listing(
    lineage: Lineage, shard: ShardId, key: str, raw: str, *, number: str | None = None,
    never_read: bool = False, older: str = "",
    unlisted: str = "the shard is not listed any more",
) -> Iterator[Anomaly]:
    """Yields anomalies of a row: a shard not created yet or no longer listed, a number too old.

    Args:
        lineage: The stream's shards.
        shard: The row's shard.
        key: The row's key.
        raw: Its position as stored.
        number: The sequence number in `raw`, where `raw` holds more than that.
        never_read: Whether a row of a shard not created yet holds no position: counts as unlisted.
        unlisted: Why a row of an unlisted shard is an anomaly.
        older: Why the row is of an earlier stream, where that is known by other means.
    """
    if unborn(lineage, shard) and not never_read:
        whose = origin(lineage, raw if number is None else number)
        elsewhere = whose in (Origin.EARLIER, Origin.ELSEWHERE)
        why = ELSEWHERE if elsewhere else "the stream has no such shard yet"
        yield Anomaly(AnomalyKind.UNBORN, key, raw, why, shard)
    elif shard not in lineage:
        yield Anomaly(AnomalyKind.GONE, key, raw, unlisted, shard)
    if older or earlier_incarnation(lineage, raw if number is None else number):
        why = older or "its number is older than the stream"
        yield Anomaly(AnomalyKind.EARLIER_INCARNATION, key, raw, why, shard)
