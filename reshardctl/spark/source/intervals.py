"""The option `intervals`: a batch of exactly what a start skips, as `--skipped FILE` saved it.

Its records must not have expired: each stretch says so if they may have.
"""

from __future__ import annotations

from pathlib import Path

from reshardctl.errors import UsageError
from reshardctl.kinesis.fast import Begin, ShardGone, Unread
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, TIP, Interval, time_of
from reshardctl.model.phrases import listed
from reshardctl.snapshot.skipped import NEED, parsed, part_of
from reshardctl.spark.source.lines import Stretch
from reshardctl.stores.given_file import content

NAMED = 5
"""Shards that an error names before it says how many more there are."""


def intervals_in(text: str) -> str:
    """The document that the option holds or names. UsageError for a file that cannot be read."""
    if text.lstrip()[:1] == "{":
        return text
    try:
        return content(Path(text), NEED).decode()
    except UnicodeDecodeError:
        raise UsageError(f"intervals: {text} is no text in UTF-8", NEED) from None


def stretches_of(text: str, lineage: Lineage, *, unpack: bool, strict: bool) -> list[Stretch]:
    """A stretch for each interval.

    strict: raise DataLoss for shards that are gone; otherwise they are left out. UsageError for
    intervals of another stream or of an earlier one, and for an end that no number says.
    """
    saved = parsed(text, "intervals")
    saved.require_stream(lineage.stream)
    cuts = [cut for p in saved.intervals for cut in (p.records.since, p.records.until)]
    if not unpack and any(part_of(cut) is not None for cut in cuts):
        raise UsageError(
            "intervals: they may begin or end inside an aggregated record",
            "leave unpackAggregates out",
        )
    gone = sorted({p.records.shard for p in saved.intervals if p.records.shard not in lineage})
    if gone and strict:
        raise ShardGone(
            f"intervals: {listed(gone, NAMED)}: not listed any more, the records have expired",
            'to read what is left: .option("failOnDataLoss", "false")',
        )
    return [
        _stretch(part.records, lineage, strict=strict) for part in saved.intervals
        if part.records.shard in lineage
    ]


def _stretch(records: Interval, lineage: Lineage, *, strict: bool) -> Stretch:
    shard, since, until = records.shard, records.since, records.until
    if until == TIP or since.by_time or until.by_time:
        raise UsageError(
            f"intervals: where {shard} is read from is decided at the application's start, so no "
            "number says what is skipped", "write the positions with --policy latest instead",
        )
    if until == DONE and lineage.is_open(shard):
        raise UsageError(f"intervals: {shard} is open, so it has no end yet", NEED)
    head, tail = part_of(since), part_of(until)
    if since == START:
        begin, oldest = Begin("TRIM_HORIZON"), lineage.opened_at(shard)
    elif head is None:
        begin, oldest = Begin("AFTER_SEQUENCE_NUMBER", since.text), time_of(since.number)
    else:
        begin, oldest = Begin("AT_SEQUENCE_NUMBER", since.text), time_of(since.number)
    last = None if until == DONE else str(until.number - (tail == -1))
    unread = Unread(oldest, lineage.stream.retention) if strict else None
    return Stretch(shard, begin, last, until == DONE, unread, head, None if tail == -1 else tail)
