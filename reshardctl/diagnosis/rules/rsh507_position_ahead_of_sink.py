"""A stored position is ahead of the sink.

What it is
----------
The consumer has acknowledged records that the sink does not have. An error if the stream shows such
a record, a warning if only the numbers show it: the position is the number of a record, and the
sink's last row of that shard comes before it.

Why it matters
--------------
They are not read again: the next start begins after them. Within the stream's retention they can
still be read by hand, or by a start further back.

How it happens
--------------
The position is stored before the records are, or by a separate timer; a batch failed and was
acknowledged anyway; files of the sink were deleted; the position was moved forward.

What the fix writes
-------------------
Nothing. What is missing, and the positions that the sink proves (reshardctl rebuild):

    reshardctl audit SINK --stream NAME --consumer CONSUMER

When the fix is not offered
---------------------------
Always. A job that filters records has positions ahead of its sink, and loses nothing.

Example
-------
    sink       0   49…02  49…18
    position   0   49…50          everything up to it counts as stored

Seen in the wild
----------------
No public report known that compares the two. awslabs/amazon-kinesis-client#339 shows the loss.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity
from reshardctl.diagnosis.rules.sinks import Sink, covers
from reshardctl.model import Cut, Rank, ShardId

CODE, NAME = "RSH507", "position-ahead-of-sink"
HELPS = "for the positions that the sink proves: reshardctl rebuild"


def match(sink: Sink) -> Iterator[Finding]:
    """What the stream shows, then what only the numbers show."""
    if sink.processed is None:
        return
    shards = [shard for shard in sink.lineage if shard in sink.processed]
    shown = [s for s in shards if _acknowledged(sink, s, sink.processed[s].lo)]
    if shown:
        yield Finding(
            CODE, NAME, Severity.ERROR, tuple(shown),
            "records of the stream were acknowledged and are not in the sink",
            "the next start begins after them", helps=HELPS,
        )
    perhaps = [s for s in shards if s not in shown and _ahead(sink, s, sink.processed[s].lo)]
    if perhaps:
        yield Finding(
            CODE, NAME, Severity.WARNING, tuple(perhaps),
            "the stored position is ahead of the sink",
            "what lies between was acknowledged and perhaps never stored",
            helps="whether a record lies between: audit without --alone",
        )


def _acknowledged(sink: Sink, shard: ShardId, lo: Cut) -> bool:
    compared = sink.facts.compared.get(shard)
    first = None if compared is None else compared.first_missing
    return first is not None and covers(lo, first)


def _ahead(sink: Sink, shard: ShardId, lo: Cut) -> bool:
    """Whether a number is ahead of the sink; end marks and starts by time always are."""
    if lo.rank is not Rank.INSIDE or lo.by_time:
        return False
    inside = sink.facts.shards.get(shard)
    if inside is not None and int(inside.last.number) >= lo.number:
        return False
    return not _refuted(sink, shard, lo)


def _refuted(sink: Sink, shard: ShardId, lo: Cut) -> bool:
    """Whether the stream was read from the sink's last row to the position, without a record."""
    compared = sink.facts.compared.get(shard)
    if compared is None or compared.short:
        return False
    inside = sink.facts.shards.get(shard)
    since = compared.since
    begins = compared.whole or (
        inside is not None and since is not None and int(since.number) <= int(inside.last.number)
    )
    until = compared.until
    reaches = compared.tip or compared.ended or (
        until is not None and int(until.number) >= lo.number
    )
    return begins and reaches
