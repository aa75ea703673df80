"""A stored position is behind the sink.

What it is
----------
The sink holds records that come after the consumer's position in the same shard. Positions are read
before the sink: for a running consumer, a part of the difference arose in between.

Why it matters
--------------
The records in between are read and stored again at the next start. A sink that accepts each record
once is not affected; any other has them twice then (RSH502).

How it happens
--------------
Every consumer stores records first and its position later, so a crash leaves a few seconds between
them. Hours between them mean that positions are not stored any more, that they were moved back, or
that the sink is another consumer's.

What the fix writes
-------------------
Nothing. What the next start will do, and the positions that the sink proves (reshardctl rebuild):

    reshardctl inspect CONSUMER --stream NAME

When the fix is not offered
---------------------------
Always. An old position is never wrong, only slow.

Example
-------
    sink       0   49…02  49…18  49…34
    position   0   49…18               1 record is read again

Seen in the wild
----------------
awslabs/amazon-kinesis-client#511 and #572 (old shards processed again).
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.auditing.facts import InSink
from reshardctl.diagnosis.rules.base import Finding, Severity
from reshardctl.diagnosis.rules.sinks import Sink, behind
from reshardctl.model import Cut, ShardId, time_of
from reshardctl.model.times import duration

CODE, NAME = "RSH506", "position-behind-sink"


def match(sink: Sink) -> Iterator[Finding]:
    """One warning over all shards; silent without a consumer."""
    ahead: list[tuple[ShardId, Cut, InSink]] = []
    for shard in sink.lineage if sink.processed is not None else ():
        span = (sink.processed or {}).get(shard)
        inside = sink.facts.shards.get(shard)
        if span is not None and inside is not None and behind(span.hi, inside.last):
            ahead.append((shard, span.hi, inside))
    if ahead:
        yield Finding(
            CODE, NAME, Severity.WARNING, tuple(shard for shard, _, _ in ahead),
            f"the sink is ahead of the stored position{_by(ahead)}",
            "what lies between is read and stored again at the next start",
            helps="nothing has to be done where the sink takes each record once",
        )


def _by(ahead: list[tuple[ShardId, Cut, InSink]]) -> str:
    """The largest difference, if the numbers show one."""
    gaps = [
        then - since for _, cut, inside in ahead
        if (then := time_of(inside.last.number)) is not None
        and (since := time_of(cut.number) if cut.number else time_of(inside.first.number))
        is not None
    ]
    return f", by {duration(max(gaps))} of stream time at most" if gaps and max(gaps) > 0 else ""
