"""RSH506, see `pages/RSH506.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.auditing.facts import InSink
from reshardctl.diagnosis.rules.base import Found, Severity, rule
from reshardctl.diagnosis.rules.sinks import Sink, behind
from reshardctl.model import Cut, ShardId, time_of
from reshardctl.model.times import duration


@rule("RSH506", "position-behind-sink")
def position_behind_sink(sink: Sink) -> Iterator[Found]:
    """One warning over all shards; silent without a consumer."""
    ahead: list[tuple[ShardId, Cut, InSink]] = []
    for shard in sink.lineage if sink.processed is not None else ():
        span = (sink.processed or {}).get(shard)
        inside = sink.facts.shards.get(shard)
        if span is not None and inside is not None and behind(span.hi, inside.last):
            ahead.append((shard, span.hi, inside))
    if ahead:
        yield Found(
            Severity.WARNING, tuple(shard for shard, _, _ in ahead),
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
