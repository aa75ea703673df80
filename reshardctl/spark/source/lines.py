"""A read between two frontiers: the stretches of shards in it.

Needs no PySpark. A frontier passes through some shards and has every other shard on one side. So
the option `startingLine` leaves out ancestors of the shards that it names, which are processed, and
reads all others from their start; `endingLine` reads ancestors of the shards that it names to their
end, and leaves all others out. A frontier may be one word for all shards: TRIM_HORIZON or
AT_TIMESTAMP … to start, TIP or AT_TIMESTAMP … to end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from reshardctl.errors import CannotTell, UsageError
from reshardctl.kinesis.fast import Begin, Unread, order
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, decode, index_of, is_number
from reshardctl.model.phrases import listed
from reshardctl.spark.source.options import (
    AT_TIMESTAMP,
    LATEST,
    SHARD_END,
    Start,
    Starting,
    parse_starting,
)


def is_ahead(number: str, begin: Begin) -> bool:
    """Whether a record with this number is read by who begins there."""
    return not isinstance(begin.value, str) or order(number) > order(begin.value)


class Stretch(Struct, frozen=True):
    """From `begin` up to `until` or the shard's end; unread: records that must not be gone.

    head, tail: the last user record of the first record that is left out, and the last one of the
    last record that is read; `None` where whole records are meant.
    """

    shard: str
    begin: Begin
    until: str | None
    to_end: bool = False
    unread: Unread | None = None
    head: int | None = None
    tail: int | None = None


TIP = "TIP"
_FORMS = (
    'write TIP, AT_TIMESTAMP 2026-09-22T09:14:00Z (or Unix seconds), or JSON: '
    '{"shardId-000000000000": "SHARD_END", "shardId-000000000001": "4966…", '
    '"shardId-000000000002": {"AT_TIMESTAMP": "2026-09-22T09:14:00Z"}}'
)

Ends = Mapping[ShardId, str | float | None]
"""Shard → number, SHARD_END, TIP, a time (Unix seconds), or `None` before its first record."""
Ending = Ends | float | None
"""The end of a batch; a time (Unix seconds) for all shards; `None` = TIP for all."""
Tips = Callable[[Mapping[ShardId, Begin]], Mapping[ShardId, str | None]]
"""The number of the newest record after each position; `None` if there is none."""


def starting_line(text: str) -> Starting:
    """Read the option; raises UsageError if it makes no sense."""
    try:
        starting = parse_starting(text)
    except UsageError as error:
        what = error.what.replace("startingPosition", "startingLine")
        raise UsageError(what, error.next) from None
    starts = [starting.everywhere, *starting.shards.values()]
    if any(start is not None and start.kind == LATEST for start in starts):
        raise UsageError("startingLine: nothing lies after LATEST", "write a number or a time")
    return starting


def ending_line(text: str) -> Ending:
    """Read the option; raises UsageError if it makes no sense."""
    if text.strip().upper() == TIP:
        return None
    if text.strip().upper().startswith(f"{AT_TIMESTAMP} "):
        return _time(text.strip()[len(AT_TIMESTAMP) :].strip(), "endingLine")
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict) or not value:
        raise UsageError(f"endingLine is {text[:80]!r}", _FORMS)
    return {ShardId(shard): _end(shard, end) for shard, end in value.items()}


def _time(text: str, what: str) -> float:
    try:
        start = parse_starting(f"{AT_TIMESTAMP} {text}").everywhere
    except UsageError as error:
        raise UsageError(error.what.replace("startingPosition", what), _FORMS) from None
    assert start is not None and isinstance(start.value, float)
    return start.value


def _end(shard: str, end: object) -> str | float:
    index = index_of(shard)
    if index is None:
        raise UsageError(f"endingLine: {shard!r} is no shard id", _FORMS)
    if isinstance(end, dict) and list(end) == [AT_TIMESTAMP]:
        return _time(str(end[AT_TIMESTAMP]), f"endingLine of {shard}")
    if isinstance(end, str) and end.upper() in (TIP, SHARD_END):
        return end.upper()
    if not isinstance(end, str) or not is_number(end):
        raise UsageError(f"endingLine of {shard} is {str(end)[:80]!r}", _FORMS)
    decoded = decode(end)
    if decoded is not None and decoded.shard != index:
        what = f"endingLine of {shard}: {end} is a number of shard {decoded.shard}"
        raise UsageError(what, _FORMS)
    return SHARD_END if decoded is not None and decoded.is_end else end


def stretches(lineage: Lineage, starting: Starting, ending: Ending, tips: Tips) -> list[Stretch]:
    """The stretches between, parents first; every end is a number or the end of a shard.

    ending: without times (`until.found`). tips: called for open shards that end at TIP. Raises
    UsageError or CannotTell if a frontier names a shard that is not listed.
    """
    assert not isinstance(ending, float), "a time is resolved to numbers first"
    named = {} if ending is None else ending
    _all_listed(lineage, starting.shards, named)
    processed = lineage.ancestors(*starting.shards) - starting.shards.keys()
    before = lineage.ancestors(*named) - named.keys()
    begins = {shard: _begin_of(shard, starting, processed) for shard in lineage}
    ends = {
        shard: _end_of(lineage, shard, TIP if ending is None else named.get(shard), before)
        for shard in lineage
    }
    asked = {s: begin for s, begin in begins.items() if begin is not None and ends[s] == TIP}
    ends |= tips(asked) if asked else {}
    between = []
    for shard, begin in begins.items():
        end = ends[shard]
        if begin is None or end is None:
            continue
        if end == SHARD_END:
            between.append(Stretch(shard, begin, None, to_end=True))
        elif is_ahead(end, begin):
            between.append(Stretch(shard, begin, end))
    return between


def spelled(lineage: Lineage, between: list[Stretch]) -> dict[str, str]:
    """The same stretches as options, independent of later records and shards."""
    starts: dict[str, Any] = dict.fromkeys(lineage, SHARD_END)
    ends = {}
    for stretch in between:
        kind, value = stretch.begin
        starts[stretch.shard] = kind if value is None else {kind: value}
        ends[stretch.shard] = SHARD_END if stretch.until is None else stretch.until
    if not ends:  # no option can name no shard; after SHARD_END lies nothing
        ends = dict.fromkeys(lineage.roots(), TIP)
    return {"startingLine": json.dumps(starts), "endingLine": json.dumps(ends)}


def _all_listed(
    lineage: Lineage, starts: Mapping[ShardId, Start], ends: Ends
) -> None:
    unread = {shard for shard, start in starts.items() if start.kind != SHARD_END} | set(ends)
    gone = sorted(shard for shard in unread if shard not in lineage)
    if gone:
        raise CannotTell(
            f"{listed(gone, 5)}: not listed (any more), so nothing can be read there",
            "leave them out of startingLine and endingLine, if their records may be missed",
        )
    early = sorted(s for s, end in ends.items() if end == SHARD_END and lineage.is_open(s))
    if early:
        raise UsageError(f"endingLine: {early[0]} is open, so it has no end yet", "write TIP")


def _end_of(
    lineage: Lineage, shard: ShardId, end: str | float | None, before: set[ShardId]
) -> str | None:
    assert not isinstance(end, float), "a time is resolved to numbers first"
    end = SHARD_END if shard in before else end
    return SHARD_END if end == TIP and not lineage.is_open(shard) else end


def _begin_of(shard: ShardId, starting: Starting, processed: set[ShardId]) -> Begin | None:
    start = starting.everywhere or starting.shards.get(shard)
    if start is None:
        return None if shard in processed else Begin("TRIM_HORIZON")
    if start.kind == SHARD_END:
        return None
    return Begin(start.kind, start.value)  # type: ignore[arg-type]
