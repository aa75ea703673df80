"""Positions in the words of the Kinesis API: a kind, a sequence number, a sub-sequence number.

The kinds are the iterator types of GetShardIterator, and KCL's SHARD_END. A kind, a number, a
sub-number and a time mean one cut, and every cut is spelled by them without loss.
"""

from __future__ import annotations

from dataclasses import replace

from reshardctl.model import DONE, START, TIP, Cut, Rank, at_number, at_time
from reshardctl.model.cuts import PARTS

AFTER = "AFTER_SEQUENCE_NUMBER"
AT = "AT_SEQUENCE_NUMBER"
TRIM_HORIZON = "TRIM_HORIZON"
LATEST = "LATEST"
AT_TIMESTAMP = "AT_TIMESTAMP"
SHARD_END = "SHARD_END"
KINDS = (AFTER, AT, TRIM_HORIZON, LATEST, AT_TIMESTAMP, SHARD_END)
_OF_RANK = {Rank.START: TRIM_HORIZON, Rank.TIP: LATEST, Rank.DONE: SHARD_END}


def kind_of(cut: Cut) -> str:
    """The kind that a cut is spelled with."""
    if cut.rank is not Rank.INSIDE:
        return _OF_RANK[cut.rank]
    if cut.by_time:
        return AT_TIMESTAMP
    return AT if cut.sub < 0 else AFTER


def number_of(cut: Cut) -> str | None:
    """The sequence number of a cut; of a shard's end that of its last record, if it is stored."""
    if cut.rank is Rank.DONE:
        return cut.text if cut.text.isdecimal() else None
    inside = cut.rank is Rank.INSIDE and not cut.by_time
    return (cut.text or str(cut.number)) if inside else None


def sub_number_of(cut: Cut) -> int | None:
    """How many user records of an aggregated record are processed (AT), or its last one (AFTER)."""
    if cut.rank is not Rank.INSIDE or cut.by_time:
        return None
    return cut.sub + PARTS if cut.sub < 0 else cut.sub


def cut_of(kind: str, number: str | None, sub_number: int, time: float | None) -> Cut:
    """The cut that one of `KINDS` means. A kind that needs a number is given one."""
    match kind:
        case "TRIM_HORIZON":
            return START
        case "LATEST":
            return TIP
        case "SHARD_END":
            return DONE if number is None else replace(DONE, text=number)
        case "AT_TIMESTAMP":
            return at_time(time)
        case _:
            assert number is not None, "the reader has checked it"
            return at_number(number, sub_number - PARTS if kind == AT else sub_number)
