"""What a stored position is, whichever library spelled it: its kind, its number and its time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reshardctl.model import Cause, Cut, Fate, Rank, Span, WillRead, is_number, time_of
from reshardctl.model.cuts import PARTS

UNREADABLE = frozenset({Cause.UNREADABLE, Cause.BAD_END_MARK})


class PositionKind(StrEnum):
    """Kinds of positions, by the words of `_cut` in the JSON documents where they have one."""

    NONE = "none"
    UNREADABLE = "unreadable"
    START = "start"
    TIME = "time"
    NUMBER = "number"
    TIP = "tip"
    DONE = "done"


_BY_RANK = {
    Rank.START: PositionKind.START, Rank.TIP: PositionKind.TIP, Rank.DONE: PositionKind.DONE,
}


@dataclass(frozen=True, slots=True)
class StoredPosition:
    """One shard's position.

    stored: as the store spells it, `None` where it holds none. number, sub: the last processed
    record, or the first unread one of a position AT a number; "" and 0 for other kinds. time: Unix
    seconds at which that record was written, or from which a start by time reads; `None` for other
    kinds and for a number that has no known time.
    """

    kind: PositionKind
    stored: str | None = None
    number: str = ""
    sub: int = 0
    time: float | None = None


def position_of(
    stored: str | None, text: str, span: Span | None, fate: Fate | None
) -> StoredPosition:
    """The position of a shard.

    text: the stored text without what the library shows beside or around a number. span: what is
    processed. fate: of the next start, which tells what a text means that is no number.
    """
    if stored is None:
        return StoredPosition(PositionKind.NONE)
    cut = _meant(span, fate)
    marked_done = cut is not None and cut.rank is Rank.DONE
    if is_number(text) and not marked_done:
        sub = _last_part(cut) if cut is not None and cut.number == int(text) else 0
        return StoredPosition(PositionKind.NUMBER, stored, text, sub, time_of(text))
    if fate is not None and fate.cause in UNREADABLE:
        return StoredPosition(PositionKind.UNREADABLE, stored)
    if cut is None or (cut.rank is Rank.INSIDE and not cut.by_time):
        return StoredPosition(PositionKind.UNREADABLE, stored)
    if cut.by_time:
        return StoredPosition(PositionKind.TIME, stored, time=cut.time)
    return StoredPosition(_BY_RANK[cut.rank], stored)


def _last_part(cut: Cut) -> int:
    """The last processed user record of an aggregated one, 0 for a record as a whole."""
    return max(cut.sub + PARTS - 1, 0) if cut.sub < 0 else cut.sub


def _meant(span: Span | None, fate: Fate | None) -> Cut | None:
    """The cut that the position stands for: what is certainly processed, or where a start reads."""
    if span is not None and span.exact and span.lo.rank is Rank.DONE:
        return span.lo
    if isinstance(fate, WillRead):
        return fate.at.lo
    return None if span is None else span.lo
